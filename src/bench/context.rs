//! What the page tells the measuring desk: the scenario that is selected, how it is run, and what was asked to be
//! estimated. One form for both sides, so that they cannot drift apart.

use super::run::Run;
use crate::batch::case::{Case, VerifyAs};
use crate::json::build::{Object, decimal, flag, list, null, text, whole};
use crate::json::{Node, Value, parse};
use crate::layout::Layout;
use crate::model::reading::integer;
use crate::model::{Dtype, KvDtype};
use crate::scenario::Size;
use crate::settings::QuantizationChoice;

/// The peak and the bandwidth that a measurement is held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The name of the accelerator.
    pub accelerator: String,
    /// Whether its numbers were edited.
    pub edited: bool,
    /// The roof of computing in FLOP/s, and at which precision.
    pub peak: Option<(f64, String)>,
    /// The roof of the memory in bytes a second.
    pub bandwidth: Option<f64>,
}

/// FLOPs and bytes of one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimated {
    /// FLOPs.
    pub flops: u128,
    /// Bytes read.
    pub read: u128,
    /// Bytes written.
    pub write: u128,
}

/// What is selected on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// What the scenario is called.
    pub name: String,
    /// What the model is called.
    pub model: String,
    /// What the model is called on the hub, where that is known.
    pub source: Option<String>,
    /// What the checkpoint names as its quantization.
    pub checkpoint: Option<String>,
    /// Parallel sizes.
    pub layout: Layout,
    /// The quantization that is estimated with.
    pub quantization: QuantizationChoice,
    /// The format of the KV cache.
    pub kv_cache: KvDtype,
    /// Forced dtype.
    pub dtype: Option<Dtype>,
    /// Whether sliding windows are counted as full attention.
    pub disable_sliding_window: bool,
    /// What a verify counts as.
    pub verify: VerifyAs,
    /// The cases; one at least where the page is what it should be.
    pub cases: Vec<Case>,
    /// Which of them is shown.
    pub active: usize,
    /// Why vLLM would refuse the layout.
    pub refusals: Vec<String>,
    /// What the accelerator can do.
    pub limit: Limit,
    /// How the cases are run.
    pub run: Run,
    /// What was asked for, in order; `None` where it cannot be estimated.
    pub estimates: Vec<(String, Option<Estimated>)>,
}

impl Context {
    /// The case that is shown.
    #[must_use]
    pub fn case(&self) -> Option<&Case> {
        self.cases.get(self.active).or_else(|| self.cases.first())
    }

    /// What was estimated for a case, by its text.
    #[must_use]
    pub fn estimate(&self, case: &str) -> Option<Estimated> {
        self.estimates.iter().find(|(text, _)| text == case).and_then(|(_, estimate)| *estimate)
    }

    /// As JSON.
    #[must_use]
    pub fn write(&self) -> Node {
        let maybe = |value: &Option<String>| value.as_deref().map_or_else(null, text);
        let number = |value: Option<f64>| value.map_or_else(null, decimal);
        let mut out = Object::default();
        out.put("name", text(&self.name));
        out.put("model", text(&self.model));
        out.put("source", maybe(&self.source));
        out.put("checkpoint", maybe(&self.checkpoint));
        for size in [Size::Tp, Size::Pp, Size::Dp] {
            out.put(size.label(), whole(size.of(&self.layout).get().into()));
        }
        out.put("ep", flag(self.layout.ep));
        out.put("quantization", text(self.quantization.name()));
        out.put("kv_cache", text(self.kv_cache.name()));
        out.put("dtype", self.dtype.map_or_else(null, |dtype| text(dtype.name())));
        out.put("full", flag(self.disable_sliding_window));
        out.put("verify_prefill", flag(self.verify == VerifyAs::Prefill));
        out.put("cases", list(self.cases.iter().map(|case| text(&case.to_text()))));
        out.put("active", whole(self.active as i128));
        out.put("refusals", list(self.refusals.iter().map(|reason| text(reason))));
        out.put("accelerator", text(&self.limit.accelerator));
        out.put("edited", flag(self.limit.edited));
        out.put("peak", number(self.limit.peak.as_ref().map(|(peak, _)| *peak)));
        out.put("precision", self.limit.peak.as_ref().map_or_else(null, |(_, precision)| text(precision)));
        out.put("bandwidth", number(self.limit.bandwidth));
        for key in Run::KEYS {
            out.put(key_of_run(key), text(&self.run.get(key)));
        }
        out.put(
            "estimates",
            list(self.estimates.iter().map(|(case, estimate)| {
                let mut one = vec![text(case)];
                let exact = |value: u128| whole(i128::try_from(value).unwrap_or(i128::MAX));
                one.extend(estimate.iter().flat_map(|e| [e.flops, e.read, e.write].map(exact)));
                list(one)
            })),
        );
        out.node()
    }

    /// From JSON; `None` where it is none of this.
    #[must_use]
    pub fn read(json: &str) -> Option<Self> {
        let root = parse(json).ok()?.root;
        let words = |key: &str| root.get(key).and_then(Node::text).map(str::to_owned);
        let number = |key: &str| match root.get(key)?.value {
            Value::Float(number) => Some(number),
            Value::Int(number) => Some(number as f64),
            _ => None,
        };
        let flag = |key: &str| root.get(key).is_some_and(Node::is_truthy);
        let items = |key: &str| root.get(key).and_then(Node::items).unwrap_or_default();
        let mut layout = Layout { ep: flag("ep"), ..Layout::default() };
        for size in [Size::Tp, Size::Pp, Size::Dp] {
            let value = root.get(size.label()).and_then(|node| integer(&node.value));
            size.set(&mut layout, value.and_then(|value| u32::try_from(value).ok()?.try_into().ok())?);
        }
        let mut run = Run::default();
        for key in Run::KEYS {
            run.set(key, &words(key_of_run(key))?).ok()?;
        }
        Some(Self {
            name: words("name")?,
            model: words("model")?,
            source: words("source"),
            checkpoint: words("checkpoint"),
            layout,
            quantization: QuantizationChoice::named(&words("quantization")?),
            kv_cache: KvDtype::named(&words("kv_cache")?)?,
            dtype: words("dtype").and_then(|name| Dtype::named(&name)),
            disable_sliding_window: flag("full"),
            verify: if flag("verify_prefill") { VerifyAs::Prefill } else { VerifyAs::Decode },
            cases: items("cases").iter().filter_map(|node| Case::parse(node.text()?).ok()).collect(),
            active: root.get("active").and_then(|node| integer(&node.value)?.try_into().ok())?,
            refusals: items("refusals").iter().filter_map(|node| node.text().map(str::to_owned)).collect(),
            limit: Limit {
                accelerator: words("accelerator")?,
                edited: flag("edited"),
                peak: number("peak").zip(words("precision")),
                bandwidth: number("bandwidth"),
            },
            run,
            estimates: items("estimates").iter().filter_map(estimate).collect(),
        })
    }
}

fn estimate(node: &Node) -> Option<(String, Option<Estimated>)> {
    let exact = |node: &Node| integer(&node.value).and_then(|value| u128::try_from(value).ok());
    match node.items()? {
        [case] => Some((case.text()?.to_owned(), None)),
        [case, flops, read, write] => {
            let estimated = Estimated { flops: exact(flops)?, read: exact(read)?, write: exact(write)? };
            Some((case.text()?.to_owned(), Some(estimated)))
        }
        _ => None,
    }
}

/// `model` is the scenario's; the run's is what it is called where it is measured.
fn key_of_run(key: &str) -> &str {
    if key == "model" { "run_model" } else { key }
}

#[cfg(test)]
pub(super) fn example() -> Context {
    Context {
        name: "A · TP8".to_owned(),
        model: "DeepSeek-V3".to_owned(),
        source: Some("deepseek-ai/DeepSeek-V3".to_owned()),
        checkpoint: Some("fp8".to_owned()),
        layout: Layout { tp: std::num::NonZeroU32::new(8).unwrap(), ..Layout::default() },
        quantization: QuantizationChoice::Auto,
        kv_cache: KvDtype::AUTO,
        dtype: None,
        disable_sliding_window: false,
        verify: VerifyAs::Decode,
        cases: vec![Case::parse("mix=8192,32*1@8192").unwrap()],
        active: 0,
        refusals: Vec::new(),
        limit: Limit {
            accelerator: "H200 SXM".to_owned(),
            edited: false,
            peak: Some((1979e12, "FP8".to_owned())),
            bandwidth: Some(4.8e12),
        },
        run: Run::default(),
        estimates: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_reads_back() {
        let mut context = example();
        assert_eq!(Context::read(&context.write().to_compact()), Some(context.clone()));
        context.source = None;
        context.layout.ep = true;
        context.dtype = Some(Dtype::Float32);
        context.verify = VerifyAs::Prefill;
        context.refusals = vec!["no \"reason\"".to_owned()];
        context.limit.peak = None;
        context.limit.bandwidth = Some(0.5);
        context.run.set("seed", "18446744073709551615").unwrap();
        context.estimates = vec![
            ("1@8".to_owned(), Some(Estimated { flops: u128::from(u64::MAX) * 1000, read: 2, write: 0 })),
            ("8".to_owned(), None),
        ];
        assert_eq!(Context::read(&context.write().to_compact()), Some(context.clone()));
        assert_eq!(context.estimate("1@8").map(|estimate| estimate.read), Some(2));
        assert_eq!(Context::read("{}"), None);
    }
}
