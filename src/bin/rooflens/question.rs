//! Arguments about hardware and what the physical model assumes.

use crate::args::size;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rooflens::bench::run::Run;
use rooflens::estimate::Method;
use rooflens::estimate::physical::{Assumptions, Modules};
use rooflens::hardware::{self, Accelerator};
use rooflens::job::Question;
use rooflens::layout::Layout;
use rooflens::model::number::Format;
use rooflens::model::scheme::Scheme;
use rooflens::step::Served;
use std::num::NonZeroU32;

#[derive(Debug, Args)]
pub(crate) struct QuestionArgs {
    /// What is counted: what vLLM counts, or what the hardware has to do.
    #[arg(long, value_name = "vllm|physical", default_value = "vllm", value_parser = method())]
    model: Method,
    #[command(flatten)]
    on: HardwareArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HardwareArgs {
    /// The accelerator, by its id, such as h200-sxm: what fits, and how long a step takes.
    #[arg(long, value_name = "ID", value_parser = accelerator)]
    hardware: Option<&'static Accelerator>,
    #[command(flatten)]
    assumed: AssumedArgs,
    /// The chance that a draft token of a verification is accepted.
    #[arg(long, value_name = "PART", value_parser = part)]
    acceptance: Option<f64>,
    /// Price of a GPU's hour, for the price of a million tokens.
    #[arg(long, value_name = "PRICE", value_parser = amount)]
    price: Option<f64>,
    /// What else is assumed, such as `layer_overhead_us=35`; a key that is not known lists those that are.
    #[arg(long = "assume", value_name = "KEY=VALUE", value_parser = assumption)]
    assume: Vec<(String, String)>,
}

/// What the physical model goes by, beside the accelerator.
#[derive(Debug, Args)]
pub(crate) struct AssumedArgs {
    /// GPUs of a node; the accelerator's usual number otherwise.
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = size)]
    gpus_per_node: Option<NonZeroU32>,
    /// The format of some weights instead of the checkpoint's: attention, dense, experts, shared or head.
    #[arg(long = "weights", value_name = "MODULES=METHOD", value_parser = override_of)]
    weights: Vec<(usize, Format)>,
    /// Spread tokens over experts as evenly as they can be, instead of at random.
    #[arg(long)]
    balanced_experts: bool,
}

impl QuestionArgs {
    pub(crate) fn question(&self) -> Question {
        self.on.question(self.model)
    }
}

impl HardwareArgs {
    pub(crate) fn question(&self, method: Method) -> Question {
        let mut run = Run::default();
        for (key, value) in &self.assume {
            // It was tried when it was read.
            let _ = run.set(key, value);
        }
        let (served, own) = (run.served(), self.assumed.assumptions());
        let served = Served {
            node: self.assumed.node(),
            assumptions: Assumptions { balanced: own.balanced || run.balanced, ..own },
            acceptance: self.acceptance.unwrap_or(served.acceptance),
            price: self.price.or(served.price),
            ..served
        };
        Question { method, hardware: self.hardware, served }
    }
}

impl AssumedArgs {
    pub(crate) fn node(&self) -> Option<u32> {
        self.gpus_per_node.map(NonZeroU32::get)
    }

    pub(crate) fn assumptions(&self) -> Assumptions {
        let mut assumptions = Assumptions { balanced: self.balanced_experts, ..Assumptions::default() };
        for (place, format) in &self.weights {
            if let Some(slot) = assumptions.formats.get_mut(*place) {
                *slot = Some(*format);
            }
        }
        assumptions
    }
}

/// Something that is assumed: `layer_overhead_us=35`.
fn assumption(text: &str) -> Result<(String, String), String> {
    let expected = || format!("expected KEY=VALUE, where KEY is one of {}", Run::TOLD.join(", "));
    let (key, value) = text.split_once('=').ok_or_else(expected)?;
    let key = key.trim().replace('-', "_");
    if !Run::TOLD.contains(&key.as_str()) {
        return Err(expected());
    }
    Run::default().set(&key, value)?;
    Ok((key, value.to_owned()))
}

pub(crate) fn accelerator(id: &str) -> Result<&'static Accelerator, String> {
    hardware::find(id).map_err(|error| error.to_string())
}

pub(crate) fn method() -> impl TypedValueParser<Value = Method> {
    PossibleValuesParser::new(Method::ALL.map(|(_, name)| name)).map(|name| Method::named(&name).unwrap_or_default())
}

/// The format of some modules: `experts=nvfp4`.
fn override_of(text: &str) -> Result<(usize, Format), String> {
    let expected = || {
        let names = Modules::ALL.map(|(_, name)| name).join(", ");
        format!("expected MODULES=METHOD, such as experts=nvfp4; modules are {names}")
    };
    let (modules, method) = text.split_once('=').ok_or_else(expected)?;
    let place = Modules::ALL.iter().position(|(_, name)| *name == modules.trim()).ok_or_else(expected)?;
    let format = Scheme::named_or_none(method.trim());
    format.map(|format| (place, format)).ok_or_else(|| format!("no format is known for the method {method:?}"))
}

pub(crate) fn part(text: &str) -> Result<f64, String> {
    let part = text.trim().parse().ok().filter(|part| (0.01..=1.0).contains(part));
    part.ok_or_else(|| "expected a number from 0.01 to 1".to_owned())
}

pub(crate) fn amount(text: &str) -> Result<f64, String> {
    let amount = text.trim().parse().ok().filter(|amount| (0.0..=1e6).contains(amount));
    amount.ok_or_else(|| "expected a number from 0 to 1000000".to_owned())
}

/// A layout in words: `tp8`, `tp4,pp2`, `tp4,dp2,ep`.
pub(crate) fn layout(text: &str) -> Result<Layout, String> {
    let mut layout = Layout::default();
    for word in text.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty()) {
        let word = word.to_ascii_lowercase();
        let (name, number) = word.split_at_checked(2).unwrap_or((&word, ""));
        if name == "ep" && number.is_empty() {
            layout.ep = true;
            continue;
        }
        let place = match name {
            "tp" => &mut layout.tp,
            "pp" => &mut layout.pp,
            "dp" => &mut layout.dp,
            _ => return Err(format!("{word:?} is no part of a layout; expected tpN, ppN, dpN or ep")),
        };
        *place = size(number.trim_start_matches('='))?;
    }
    Ok(layout)
}
