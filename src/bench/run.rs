//! How a case is run: what `vllm bench forward` is told beside the model, the layout and the cases, and what the physical
//! model assumes of the server.
//!
//! Every setting has a name and a text, which is what fields, links and files hold; [`Run::set`] takes no text that
//! [`Run::get`] would not give back as the same setting.

use crate::batch::count::parse_count;
use crate::batch::jitter::Jitter;
use crate::estimate::physical::Assumptions;
use crate::format::quoted;
use crate::memory::Plan;
use crate::model::quantization::format_named;
use crate::model::scheme::Scheme;
use crate::step::Served;
use crate::step::preset::{ASSUMED, ASSUMED_SOURCE, CALIBRATED, Preset};
use crate::units::{Bytes, Seconds};

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

/// A number that is assumed of the server or of its accelerator, where one is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumed {
    /// The price of a GPU's hour, in any currency.
    Price,
    /// Memory that is set aside for activations and graphs, in GiB.
    Reserve,
    /// The part of communication that runs beside operations.
    Overlap,
    /// The part of the peak compute rate that is reached.
    Compute,
    /// The part of the bandwidths that is reached.
    Bandwidth,
    /// What each layer adds to a step, in microseconds.
    Overhead,
    /// What each step of a collective adds, in microseconds.
    Latency,
}

impl Assumed {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Price, Self::Reserve, Self::Overlap, Self::Compute, Self::Bandwidth, Self::Overhead, Self::Latency];

    /// The least and the most that it can be, in words too.
    fn range(self) -> Range {
        match self {
            Self::Price => (f64::MIN_POSITIVE, f64::MAX, "a price above 0"),
            Self::Compute | Self::Bandwidth => (0.01, 1.0, "a number from 0.01 to 1"),
            Self::Overlap => PART,
            Self::Reserve | Self::Overhead | Self::Latency => (0.0, 1e6, "a number from 0 to 1000000"),
        }
    }
}

/// The least and the most of a number, in words too.
type Range = (f64, f64, &'static str);

/// A part of a whole.
const PART: Range = (0.0, 1.0, "a number from 0 to 1");

/// The settings.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "switches that have nothing to do with each other, a box each")]
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
    /// Whether prefixes are cached, which takes a second page of each state.
    pub prefix_caching: bool,
    /// Whether switches inside nodes add up all-reduces.
    pub in_switch: bool,
    /// Numbers that are said, in the order of [`Assumed::ALL`].
    pub assumed: [Option<f64>; Assumed::ALL.len()],
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
            prefix_caching: true,
            in_switch: false,
            assumed: [None; Assumed::ALL.len()],
            formats: [None; Self::FORMATS.len()],
        }
    }
}

impl Run {
    /// The names of the settings: those of the benchmark, then [`Self::SERVED`], of which [`Self::ASSUMED`] and then
    /// [`Self::FORMATS`] come last.
    pub const KEYS: [&str; 28] = [
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
        "prefix_caching",
        "in_switch",
        "price",
        "reserve_gib",
        "link_overlap",
        "compute_efficiency",
        "bandwidth_efficiency",
        "layer_overhead_us",
        "link_latency_us",
        "format_attention",
        "format_dense",
        "format_experts",
        "format_shared",
        "format_head",
    ];

    /// Those of them that only the physical model goes by: no flag of the benchmark says them.
    pub const SERVED: &[&str] = Self::KEYS.as_slice().split_at(10).1;

    /// Those of [`Self::SERVED`] that are no format.
    pub const TOLD: &[&str] = Self::KEYS.as_slice().split_at(10).1.split_at(6 + Assumed::ALL.len()).0;

    /// The names of [`Assumed::ALL`].
    pub const ASSUMED: &[&str] = Self::KEYS.as_slice().split_at(16).1.split_at(Assumed::ALL.len()).0;

    /// Those of them that say how weights are stored, module by module.
    pub const FORMATS: &[&str] = Self::KEYS.as_slice().split_at(16 + Assumed::ALL.len()).1;

    /// The setting of that name.
    #[must_use]
    pub fn known(key: &str) -> Option<&'static str> {
        Self::KEYS.get(place(&Self::KEYS, key)?).copied()
    }

    /// A number that is assumed, if one is said.
    #[must_use]
    pub fn number(&self, assumed: Assumed) -> Option<f64> {
        self.assumed.get(assumed as usize).copied().flatten()
    }

    /// What the physical model goes by.
    #[must_use]
    pub fn served(&self) -> Served {
        let formats = self.formats.map(|name| name.and_then(Scheme::named_or_none));
        let part = |assumed| self.number(assumed);
        let micros = |assumed, usual| part(assumed).map_or(usual, |micros| Seconds(micros * 1e-6));
        let own = Assumed::ALL.iter().skip(Assumed::Compute as usize).any(|assumed| part(*assumed).is_some());
        let preset = Preset {
            name: if own { ASSUMED } else { CALIBRATED.name },
            compute: part(Assumed::Compute).unwrap_or(CALIBRATED.compute),
            bandwidth: part(Assumed::Bandwidth).unwrap_or(CALIBRATED.bandwidth),
            layer: micros(Assumed::Overhead, CALIBRATED.layer),
            latency: micros(Assumed::Latency, CALIBRATED.latency),
            source: if own { ASSUMED_SOURCE } else { CALIBRATED.source },
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
        let reserve = part(Assumed::Reserve).map(|gib| Bytes((gib * f64::from(1 << 30)) as u128));
        Served {
            assumptions: Assumptions { balanced: self.balanced, formats },
            // The accelerator's own number of GPUs, unless another one was set.
            node: (self.gpus_per_node != Self::default().gpus_per_node).then_some(self.gpus_per_node),
            in_switch: self.in_switch,
            overlap: part(Assumed::Overlap).unwrap_or_default(),
            preset,
            acceptance: self.acceptance,
            price: part(Assumed::Price),
            plan: Plan {
                utilization: self.utilization,
                reserve,
                block: self.block_size.into(),
                prefix_caching: self.prefix_caching,
                ..Plan::default()
            },
        }
    }

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
            "prefix_caching" => self.prefix_caching.to_string(),
            "in_switch" => self.in_switch.to_string(),
            _ => match place(Self::ASSUMED, key) {
                Some(place) => self.assumed.get(place).copied().flatten().map(|n| n.to_string()).unwrap_or_default(),
                None => {
                    place(Self::FORMATS, key).and_then(|place| *self.formats.get(place)?).unwrap_or_default().to_owned()
                }
            },
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
            "prefix_caching" => self.prefix_caching = flag(text)?,
            "in_switch" => self.in_switch = flag(text)?,
            _ => return self.set_place(key, text),
        }
        Ok(())
    }

    /// Takes a text for a number or a format.
    fn set_place(&mut self, key: &str, text: &str) -> Result<(), String> {
        if let Some(place) = place(Self::ASSUMED, key)
            && let (Some(slot), Some(assumed)) = (self.assumed.get_mut(place), Assumed::ALL.get(place))
        {
            *slot = if text.is_empty() { None } else { Some(between(text, assumed.range())?) };
            return Ok(());
        }
        let Some(format) = place(Self::FORMATS, key).and_then(|place| self.formats.get_mut(place)) else {
            let keys = Self::KEYS.join(", ");
            return Err(format!("There is no setting {}; expected one of {keys}.", quoted(key)));
        };
        *format = if text.is_empty() {
            None
        } else {
            let or = |names: String| expected(text, &format!("no text, or one of {names}"));
            Some(format_named(text).map_err(or)?)
        };
        Ok(())
    }
}

/// The place of a setting among some of them.
fn place(keys: &[&str], key: &str) -> Option<usize> {
    keys.iter().position(|known| *known == key)
}

fn part(text: &str) -> Result<f64, String> {
    between(text, PART)
}

fn between(text: &str, (least, most, what): Range) -> Result<f64, String> {
    let amount = crate::decimal::parse(text).filter(|amount| *amount >= least && *amount <= most);
    // A negative zero would print as none that was typed.
    amount.map(f64::abs).ok_or_else(|| expected(text, what))
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
            "false", "true", "2.5", "4", "0.5", "0.7", "0.9", "35", "2", "fp8", "mxfp4", "nvfp4", "none", "awq",
        ];
        for (key, text) in Run::KEYS.iter().zip(texts) {
            assert_ne!(run.get(key), text);
            assert_eq!(run.set(key, text), Ok(()));
            assert_eq!(run.get(key), text);
        }
        for key in Run::FORMATS.iter().chain(Run::ASSUMED) {
            assert_eq!(run.set(key, " "), Ok(()));
            assert_eq!(run.get(key), "");
        }
        assert_eq!((run.formats, run.assumed), (Run::default().formats, Run::default().assumed));
        assert_eq!(run.set("max_model_len", " "), Ok(()));
        assert_eq!((run.get("max_model_len"), run.jitter.max_model_len), (String::new(), None));
        assert_eq!(run.set("max_model_len", "128k").map(|()| run.jitter.max_model_len), Ok(Some(128_000)));
    }

    #[test]
    fn the_lists_of_names_are_parts_of_one() {
        assert_eq!(Run::SERVED.first(), Some(&"acceptance"));
        assert_eq!([Run::TOLD, Run::FORMATS].concat(), Run::SERVED);
        assert_eq!((Run::ASSUMED.first(), Run::ASSUMED.last()), (Some(&"price"), Some(&"link_latency_us")));
        assert_eq!((Run::FORMATS.first(), Run::FORMATS.len()), (Some(&"format_attention"), 5));
    }

    #[test]
    fn one_number_of_the_users_own_makes_the_time_an_assumed_one() {
        let mut run = Run::default();
        assert_eq!(run.served(), Served::default());
        run.set("reserve_gib", "4").unwrap();
        run.set("price", "2").unwrap();
        assert_eq!(run.served().preset, CALIBRATED);
        assert_eq!(run.served().plan.reserve, Some(Bytes(4 << 30)));
        run.set("layer_overhead_us", "35").unwrap();
        let preset = run.served().preset;
        assert_eq!((preset.name, preset.compute, preset.bandwidth), (ASSUMED, 0.8, 0.8));
        assert!((preset.layer.0 - 35e-6).abs() < 1e-15);
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
            error("price", "0"),
            error("compute_efficiency", "0"),
            error("bandwidth_efficiency", "80"),
            error("layer_overhead_us", "inf"),
            error("link_overlap", "-0.1"),
            error("in_switch", "NVLS"),
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
        Found `0`; expected a price above 0.
        Found `0`; expected a number from 0.01 to 1.
        Found `80`; expected a number from 0.01 to 1.
        Found `inf`; expected a number from 0 to 1000000.
        Found `-0.1`; expected a number from 0 to 1.
        Found `NVLS`; expected `true` or `false`.
        Found `fp5`; expected no text, or one of none, fp8, fbgemm_fp8, ptpc_fp8, fp_quant, modelopt, modelopt_mxfp8, experts_int8, mxfp4, awq, awq_marlin, gptq, gptq_marlin, modelopt_fp4, petit_nvfp4, compressed-tensors, torchao, quark, moe_wna16, inc, bitsandbytes, nvfp4, mxfp8, fp8_per_tensor, fp8_per_channel, auto_awq, auto_gptq, gpt_oss_mxfp4, deepseek_v4_fp8, modelopt_mixed.
        There is no setting `speed`; expected one of model, max_model_len, kv_len_jitter, seed, routing, iters, samples, gpus_per_node, profile, exclude_drafter, acceptance, utilization, block_size, balanced, prefix_caching, in_switch, price, reserve_gib, link_overlap, compute_efficiency, bandwidth_efficiency, layer_overhead_us, link_latency_us, format_attention, format_dense, format_experts, format_shared, format_head.
        ");
    }
}
