//! Where the numbers in a formula came from.

use crate::estimate::formula::Number;
use crate::estimate::{Part, Symbol, Term};
use crate::format::{grouped, significant};
use crate::model::{ModelSpec, Reading};
use crate::settings::Settings;

/// A symbol of a formula: what it is, its value, and where that came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The letters that stand for it.
    pub symbol: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Its value, exact.
    pub value: String,
    /// Where the value came from.
    pub origin: String,
}

/// The symbols of a term's formula, in the order of their first mention.
#[must_use]
pub fn explain(term: &Term, part: &Part, spec: &ModelSpec, settings: &Settings) -> Vec<Input> {
    let symbols = term.def.formula.symbols();
    symbols
        .into_iter()
        .map(|symbol| Input {
            symbol: symbol.name(),
            meaning: symbol.meaning(),
            value: match part.value(term, symbol) {
                Number::Int(value) => grouped(value),
                Number::Real(value) if value.fract() == 0.0 => significant_exact(value),
                Number::Real(value) => value.to_string(),
            },
            origin: match symbol {
                // Layers of one kind on one stage, as the physical model counts them.
                Symbol::Layers if part.value(term, Symbol::InputBytes) != Number::Int(0) => {
                    format!("layers of this kind, of {}", spec.layers.origin)
                }
                _ => origin(symbol, spec, settings),
            },
        })
        .collect()
}

/// A whole float without its fraction; floats this large do not occur as inputs.
fn significant_exact(value: f64) -> String {
    Number::Real(value).truncated().map_or_else(|| significant(value), grouped)
}

fn origin(symbol: Symbol, spec: &ModelSpec, settings: &Settings) -> String {
    use Symbol as S;
    let mla = spec.mla.as_ref();
    let field = |reading: Option<&Reading>| reading.map_or_else(String::new, |reading| reading.origin.to_string());
    let by_tp = |text: String| if settings.layout.tp.get() > 1 { format!("{text}; divided by TP") } else { text };
    let by_pp = |text: String| if settings.layout.pp.get() > 1 { format!("{text}; divided by PP") } else { text };
    let by_ranks = |text: String| {
        let ranks = u64::from(settings.layout.tp.get()) * u64::from(settings.layout.dp.get());
        if ranks > 1 && !settings.layout.ep { format!("{text}; divided by TP x DP") } else { text }
    };
    match symbol {
        S::Tokens
        | S::TokenContext
        | S::LogitsTokens
        | S::PrefillTokens
        | S::DecodeTokens
        | S::PrefillContext
        | S::DecodeContext => "the batch".to_owned(),
        S::TokenWindow | S::PrefillWindow | S::DecodeWindow => {
            format!("the batch, capped at the window ({})", spec.window.origin)
        }
        S::Layers => by_pp(field(Some(&spec.layers))),
        S::FullLayers => by_pp("layers without a window".to_owned()),
        S::SlidingLayers => by_pp(field(Some(&spec.sliding_layers))),
        S::Hidden => field(Some(&spec.hidden)),
        S::Heads => by_tp(field(Some(&spec.heads))),
        S::KvHeads => by_tp(field(Some(&spec.kv_heads))),
        S::HeadDim => field(Some(&spec.head_dim)),
        S::WeightBytes => match settings.quantization(spec) {
            Some(method) if !method.is_empty() => {
                format!("quantization {method} ({}); the LM head has the dtype's", settings.quantization_origin(spec))
            }
            _ => dtype_origin(spec, settings),
        },
        S::ActivationBytes => dtype_origin(spec, settings),
        S::CacheBytes => format!("KV cache {}", settings.kv_cache.name()),
        S::KvRank => field(mla.map(|mla| &mla.kv_lora_rank)),
        S::RopeDim => field(mla.map(|mla| &mla.qk_rope_head_dim)),
        S::NopeDim => field(mla.map(|mla| &mla.qk_nope_head_dim)),
        S::ValueDim if mla.is_some() => field(mla.map(|mla| &mla.v_head_dim)),
        S::ValueDim => "the layer's description".to_owned(),
        S::QueryRank => field(mla.and_then(|mla| mla.q_lora_rank.as_ref())),
        S::QueryDim => "n + r".to_owned(),
        S::DenseWidth => by_ranks(field(Some(&spec.intermediate))),
        S::ExpertWidth => by_ranks(field(Some(&spec.moe_intermediate))),
        S::SharedExperts => field(Some(&spec.shared_experts)),
        S::RoutedTokens => format!("T x experts per token ({})", spec.experts_per_token.origin),
        S::ActiveExperts => format!("the smaller of N and the experts of a rank ({})", spec.experts.origin),
        S::DenseLayers => by_pp("layers without experts".to_owned()),
        S::MoeLayers => by_pp(field(Some(&spec.moe_layers))),
        S::Vocab => by_tp(field(Some(&spec.vocab))),
        S::Rows | S::Inputs | S::Outputs | S::Copies | S::InputBytes => {
            "the layer's matrices, divided as the layout says".to_owned()
        }
        S::Pairs | S::Seen | S::Sequences => "the batch, counted position by position".to_owned(),
        S::KeyDim | S::TokenBytes | S::StateBytes | S::TokenFlops | S::LocalHeads => {
            "the layer's description, divided as the layout says".to_owned()
        }
    }
}

fn dtype_origin(spec: &ModelSpec, settings: &Settings) -> String {
    match settings.dtype {
        Some(dtype) => format!("{}, the setting", dtype.name()),
        None => format!("{} ({})", spec.dtype.dtype.name(), spec.dtype.origin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::case::Case;
    use crate::estimate::physical::{Assumptions, Physical};
    use crate::estimate::vllm::Vllm;
    use crate::estimate::{Estimator, Scope};
    use crate::model::{ClassTable, presets, resolve};

    #[test]
    fn every_symbol_of_every_term_has_an_origin() {
        for preset in presets::builtin() {
            let spec = resolve(&preset.config, None, ClassTable::builtin()).unwrap();
            let settings = Settings::default();
            let batch = Case::parse("8192,4*1@64").unwrap().batch();
            let breakdown = Vllm::new(&spec, &settings).estimate(&batch, Scope::PerGpu).unwrap();
            let physical = Physical::new(&spec, &settings, Assumptions::default(), None).unwrap();
            let physical = physical.estimate(&batch, Scope::PerGpu).unwrap();
            for part in breakdown.parts.iter().chain(&physical.parts) {
                for input in part.terms.iter().flat_map(|term| explain(term, part, &spec, &settings)) {
                    assert!(!input.origin.is_empty() && !input.value.is_empty(), "{}: {input:?}", preset.id);
                }
            }
        }
    }

    #[test]
    fn the_inputs_of_a_projection() {
        let preset = presets::builtin().iter().find(|preset| preset.id == "gemma-3-27b").unwrap();
        let spec = resolve(&preset.config, None, ClassTable::builtin()).unwrap();
        let settings = Settings::default();
        let batch = Case::parse("32*1@8192").unwrap().batch();
        let breakdown = Vllm::new(&spec, &settings).estimate(&batch, Scope::PerGpu).unwrap();
        let part = &breakdown.parts[0];
        let told: Vec<String> = explain(&part.terms[0], part, &spec, &settings)
            .into_iter()
            .map(|input| format!("{} = {}: {}", input.symbol, input.value, input.origin))
            .collect();
        assert_eq!(
            told,
            [
                "T = 32: the batch",
                "D = 5\u{202f}376: config: text_config.hidden_size",
                "q = 32: config: text_config.num_attention_heads",
                "kv = 16: config: text_config.num_key_value_heads",
                "d = 128: config: text_config.head_dim",
                "L = 62: config: text_config.num_hidden_layers",
            ]
        );
    }
}
