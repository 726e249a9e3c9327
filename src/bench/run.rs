//! How a case is run: what `vllm bench forward` is told beside the model, the layout and the cases, and what the physical
//! model assumes of the server.
//!
//! Every setting has a name and a text, which is what fields, links and files hold; [`Run::set`] takes no text that
//! [`Run::get`] would not give back as the same setting.

use crate::batch::count::parse_count;
use crate::batch::jitter::Jitter;
use crate::format::quoted;
use crate::model::quantization::format_named;

/// How tokens are routed to experts while measuring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// As the benchmark decides.
    #[default]
    Auto,
    /// By the router.
    Real,
    /// The same load for every rank.
    Balanced,
}

impl Routing {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Real, Self::Balanced];

    /// The word of the flag.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Real => "real",
            Self::Balanced => "balanced",
        }
    }
}

/// The settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// How KV lengths are drawn.
    pub jitter: Jitter,
    /// How tokens are routed.
    pub routing: Routing,
    /// Replays in a sample.
    pub iters: u32,
    /// Samples of a case.
    pub samples: u32,
    /// GPUs of a node: more ranks than that need several.
    pub gpus_per_node: u32,
    /// Whether kernels are profiled as well.
    pub profile: bool,
    /// Whether the drafter is left out of what is measured.
    pub exclude_drafter: bool,
    /// What the model is called where it is measured; empty: as its source calls it.
    pub model: String,
    /// The chance that a draft token is accepted, 0 to 1.
    pub acceptance: f64,
    /// The part of the usable memory that the server takes, 0 to 1.
    pub utilization: f64,
    /// Tokens of a block of the KV cache.
    pub block_size: u32,
    /// Whether tokens spread over experts as evenly as they can, instead of at random.
    pub balanced: bool,
    /// The price of a GPU's hour, in any currency.
    pub price: Option<f64>,
    /// Names of formats that weights have instead of the checkpoint's, in the order of [`Run::FORMATS`].
    pub formats: [Option<&'static str>; Run::FORMATS.len()],
}

/// vLLM's own, and nodes of eight GPUs.
impl Default for Run {
    fn default() -> Self {
        Self {
            jitter: Jitter::default(),
            routing: Routing::Auto,
            iters: 20,
            samples: 5,
            gpus_per_node: 8,
            profile: false,
            exclude_drafter: false,
            model: String::new(),
            acceptance: 1.0,
            utilization: 0.9,
            block_size: 16,
            balanced: false,
            price: None,
            formats: [None; Self::FORMATS.len()],
        }
    }
}

impl Run {
    /// The names of the settings: those of the benchmark, then [`Self::SERVED`], of which [`Self::FORMATS`] come last.
    pub const KEYS: [&str; 20] = [
        "model",
        "max_model_len",
        "kv_len_jitter",
        "seed",
        "routing",
        "iters",
        "samples",
        "gpus_per_node",
        "profile",
        "exclude_drafter",
        "acceptance",
        "utilization",
        "block_size",
        "balanced",
        "price",
        "format_attention",
        "format_dense",
        "format_experts",
        "format_shared",
        "format_head",
    ];

    /// Those of them that only the physical model goes by: no flag of the benchmark says them.
    pub const SERVED: &[&str] = Self::KEYS.as_slice().split_at(10).1;

    /// Those of them that say how weights are stored, module by module.
    pub const FORMATS: &[&str] = Self::KEYS.as_slice().split_at(15).1;

    /// A setting as a text; empty where nothing is set, or where there is no such setting.
    #[must_use]
    pub fn get(&self, key: &str) -> String {
        match key {
            "model" => self.model.clone(),
            "max_model_len" => self.jitter.max_model_len.map(|limit| limit.to_string()).unwrap_or_default(),
            "kv_len_jitter" => self.jitter.amount.to_string(),
            "seed" => self.jitter.seed.to_string(),
            "routing" => self.routing.name().to_owned(),
            "iters" => self.iters.to_string(),
            "samples" => self.samples.to_string(),
            "gpus_per_node" => self.gpus_per_node.to_string(),
            "profile" => self.profile.to_string(),
            "exclude_drafter" => self.exclude_drafter.to_string(),
            "acceptance" => self.acceptance.to_string(),
            "utilization" => self.utilization.to_string(),
            "block_size" => self.block_size.to_string(),
            "balanced" => self.balanced.to_string(),
            "price" => self.price.map(|price| price.to_string()).unwrap_or_default(),
            _ => place(key).and_then(|place| *self.formats.get(place)?).unwrap_or_default().to_owned(),
        }
    }

    /// Takes a text for a setting.
    ///
    /// # Errors
    /// A sentence that says what was found and what was expected.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        let text = text.trim();
        match key {
            "model" => self.model = model(text)?,
            "max_model_len" if text.is_empty() => self.jitter.max_model_len = None,
            "max_model_len" => self.jitter.max_model_len = Some(at_least_one(text, u64::from(u32::MAX))?),
            "kv_len_jitter" => self.jitter.amount = part(text)?,
            "seed" => self.jitter.seed = text.parse().map_err(|_| expected(text, "a whole number below 2^64"))?,
            "routing" => {
                let known = Routing::ALL.into_iter().find(|routing| routing.name() == text);
                self.routing = known.ok_or_else(|| expected(text, "`auto`, `real` or `balanced`"))?;
            }
            "iters" => self.iters = small(text)?,
            "samples" => self.samples = small(text)?,
            "gpus_per_node" => self.gpus_per_node = small(text)?,
            "profile" => self.profile = flag(text)?,
            "exclude_drafter" => self.exclude_drafter = flag(text)?,
            "acceptance" => self.acceptance = part(text)?,
            "utilization" => self.utilization = part(text)?,
            "block_size" => self.block_size = small(text)?,
            "balanced" => self.balanced = flag(text)?,
            "price" if text.is_empty() => self.price = None,
            "price" => {
                let price = crate::decimal::parse(text).filter(|price| price.is_finite() && *price > 0.0);
                self.price = Some(price.ok_or_else(|| expected(text, "a price above 0"))?);
            }
            _ => {
                let Some(format) = place(key).and_then(|place| self.formats.get_mut(place)) else {
                    let keys = Self::KEYS.join(", ");
                    return Err(format!("There is no setting {}; expected one of {keys}.", quoted(key)));
                };
                *format = if text.is_empty() {
                    None
                } else {
                    let or = |names: String| expected(text, &format!("no text, or one of {names}"));
                    Some(format_named(text).map_err(or)?)
                };
            }
        }
        Ok(())
    }
}

/// The place of a module's format: they are the last of the settings.
fn place(key: &str) -> Option<usize> {
    let place = Run::KEYS.iter().position(|known| *known == key)?;
    place.checked_sub(Run::KEYS.len() - Run::FORMATS.len())
}

fn part(text: &str) -> Result<f64, String> {
    let amount = crate::decimal::parse(text).filter(|amount| (0.0..=1.0).contains(amount));
    // A negative zero would print as none that was typed.
    amount.map(f64::abs).ok_or_else(|| expected(text, "a number from 0 to 1"))
}

fn expected(text: &str, what: &str) -> String {
    format!("Found {}; expected {what}.", if text.is_empty() { "nothing".to_owned() } else { quoted(text) })
}

/// A name of a model, and no path: what is set here goes into links, and a path says something about a host.
fn model(text: &str) -> Result<String, String> {
    let is_path = text.starts_with(['/', '~', '.']) || text.contains(['\\', ':']) || text.matches('/').count() > 1;
    if is_path || text.chars().count() > 120 || text.chars().any(char::is_control) {
        return Err(expected(text, "the name of a model such as `org/name`, as paths stay out of links"));
    }
    Ok(text.to_owned())
}

fn at_least_one(text: &str, most: u64) -> Result<u64, String> {
    let count = parse_count(text).map_err(|error| error.to_string())?;
    if (1..=most).contains(&count) { Ok(count) } else { Err(expected(text, &format!("1 to {most}"))) }
}

fn small(text: &str) -> Result<u32, String> {
    at_least_one(text, 65_536).map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}

fn flag(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| expected(text, "`true` or `false`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_given_back() {
        let mut run = Run::default();
        let texts = [
            "org/name", "131072", "0.25", "7", "real", "50", "3", "4", "true", "true", "0.7", "0.85", "64", "true",
            "2.5", "fp8", "mxfp4", "nvfp4", "none", "awq",
        ];
        for (key, text) in Run::KEYS.iter().zip(texts) {
            assert_ne!(run.get(key), text);
            assert_eq!(run.set(key, text), Ok(()));
            assert_eq!(run.get(key), text);
        }
        for key in Run::FORMATS {
            assert_eq!(run.set(key, " "), Ok(()));
            assert_eq!(run.get(key), "");
        }
        assert_eq!(run.formats, Run::default().formats);
        assert_eq!(run.set("max_model_len", " "), Ok(()));
        assert_eq!((run.get("max_model_len"), run.jitter.max_model_len), (String::new(), None));
        assert_eq!(run.set("max_model_len", "128k").map(|()| run.jitter.max_model_len), Ok(Some(128_000)));
    }

    #[test]
    fn what_is_no_setting_says_so() {
        let error = |key: &str, text: &str| {
            let mut run = Run::default();
            let error = run.set(key, text).unwrap_err();
            assert_eq!(run, Run::default());
            error
        };
        let errors = [
            error("model", "/home/me/models/llama"),
            error("max_model_len", "0"),
            error("kv_len_jitter", "1.5"),
            error("kv_len_jitter", "nan"),
            error("seed", "-1"),
            error("routing", ""),
            error("iters", "many"),
            error("gpus_per_node", "0"),
            error("profile", "yes"),
            error("acceptance", "2"),
            error("block_size", "0"),
            error("price", "-1"),
            error("format_experts", "fp5"),
            error("speed", "9"),
        ];
        insta::assert_snapshot!(errors.join("\n"), @r"
        Found `/home/me/models/llama`; expected the name of a model such as `org/name`, as paths stay out of links.
        Found `0`; expected 1 to 4294967295.
        Found `1.5`; expected a number from 0 to 1.
        Found `nan`; expected a number from 0 to 1.
        Found `-1`; expected a whole number below 2^64.
        Found nothing; expected `auto`, `real` or `balanced`.
        `many` is not a number; expected a whole number such as `8192`, `128k` or `8Ki`.
        Found `0`; expected 1 to 65536.
        Found `yes`; expected `true` or `false`.
        Found `2`; expected a number from 0 to 1.
        Found `0`; expected 1 to 65536.
        Found `-1`; expected a price above 0.
        Found `fp5`; expected no text, or one of none, fp8, fbgemm_fp8, ptpc_fp8, fp_quant, modelopt, modelopt_mxfp8, experts_int8, mxfp4, awq, awq_marlin, gptq, gptq_marlin, modelopt_fp4, petit_nvfp4, compressed-tensors, torchao, quark, moe_wna16, inc, bitsandbytes, nvfp4, mxfp8, fp8_per_tensor, fp8_per_channel, auto_awq, auto_gptq, gpt_oss_mxfp4, deepseek_v4_fp8, modelopt_mixed.
        There is no setting `speed`; expected one of model, max_model_len, kv_len_jitter, seed, routing, iters, samples, gpus_per_node, profile, exclude_drafter, acceptance, utilization, block_size, balanced, price, format_attention, format_dense, format_experts, format_shared, format_head.
        ");
    }
}
