//! What the command cannot say, so that nobody takes a measurement for something that it is not.

use super::{Command, MODEL};
use crate::batch::case::VerifyAs;
use crate::settings::QuantizationChoice;

/// What is estimated, as far as a command has to do with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// What the model is called on the hub, where that is known.
    pub source: Option<String>,
    /// What the checkpoint names as its quantization.
    pub checkpoint: Option<String>,
    /// The quantization that is estimated with.
    pub quantization: QuantizationChoice,
    /// Whether sliding windows are counted as full attention.
    pub disable_sliding_window: bool,
    /// What a verify counts as.
    pub verify: VerifyAs,
    /// The accelerator that is estimated with, and whether its numbers were edited; `None`: nothing is estimated.
    pub accelerator: Option<(String, bool)>,
    /// Why vLLM would refuse the layout.
    pub refusals: Vec<String>,
}

impl Subject {
    /// The flag for the quantization.
    #[must_use]
    pub fn method(&self) -> Option<String> {
        match &self.quantization {
            QuantizationChoice::Method(method) if self.checkpoint.as_deref() != Some(method) => Some(method.clone()),
            _ => None,
        }
    }

    /// The model's name in the command.
    #[must_use]
    pub fn model(&self, given: &str) -> String {
        let given = Some(given).filter(|given| !given.is_empty());
        given.or(self.source.as_deref()).unwrap_or(MODEL).to_owned()
    }
}

/// A sentence for each thing in which the command does not measure what is estimated.
#[must_use]
pub fn warnings(command: &Command, subject: &Subject) -> Vec<String> {
    let mut said = Vec::new();
    if command.model == MODEL {
        said.push(format!(
            "The config does not say what its model is called: put the name or the folder of the model in for {MODEL}."
        ));
    }
    for refusal in &subject.refusals {
        said.push(format!("vLLM refuses this layout: {refusal}."));
    }
    if command.nodes().is_none() {
        said.push(format!(
            "{} ranks fill no whole number of nodes of {} GPUs; the command starts all of them on one node.",
            command.layout.gpus(),
            command.run.gpus_per_node
        ));
    }
    quantization(subject, &mut said);
    if subject.disable_sliding_window {
        said.push(
            "Sliding windows are estimated as full attention; the benchmark has no flag for that and measures windows."
                .to_owned(),
        );
    }
    let drafts = command.drafts();
    if drafts > 0 {
        said.push(format!(
            "Verifies need a drafter: complete --speculative-config with its method and, where it is one, its model, \
             for {drafts} draft tokens or more. The drafter is measured too unless --exclude-drafter is set, and it is \
             not estimated."
        ));
        if subject.verify == VerifyAs::Prefill {
            said.push("Verifies are estimated as prefills; the benchmark measures them as decodes.".to_owned());
        }
    }
    if command.run.jitter.amount > 0.0
        && command.cases.iter().any(|case| case.requests().iter().any(|r| r.prefix() > 0))
    {
        said.push(format!(
            "With a jitter of {} the KV lengths that are measured are drawn anew; 0 measures the cases exactly.",
            command.run.get("kv_len_jitter")
        ));
    }
    let longest = command.cases.iter().flat_map(|case| case.requests()).map(|request| request.kv()).max();
    if let (Some(limit), Some(longest)) = (command.run.jitter.max_model_len, longest)
        && longest > limit
    {
        said.push(format!(
            "A request has a KV length of {longest}, above --max-model-len {limit}: the benchmark refuses it."
        ));
    }
    if let Some((accelerator, edited)) = &subject.accelerator {
        let edited = if *edited { " with numbers of your own" } else { "" };
        said.push(format!(
            "It runs on the GPUs of the machine that it is started on; the estimate is for {accelerator}{edited}."
        ));
    }
    said
}

fn quantization(subject: &Subject, said: &mut Vec<String>) {
    match (&subject.quantization, &subject.checkpoint) {
        (QuantizationChoice::None, Some(checkpoint)) => said.push(format!(
            "The estimate is without quantization, but the checkpoint has {checkpoint}: it is served as that, and no \
             flag undoes it."
        )),
        (QuantizationChoice::Method(method), Some(checkpoint)) if method != checkpoint => said.push(format!(
            "The checkpoint has {checkpoint}; vLLM refuses --quantization {method} for it unless it can convert."
        )),
        _ => {}
    }
}
