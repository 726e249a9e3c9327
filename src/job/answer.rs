//! Answering a job.

use super::{Job, PhysicalAnswer, Question};
use crate::batch::{Batch, Phase};
use crate::estimate::vllm::{Field, Vllm};
use crate::estimate::{Breakdown, EstimateError, Estimator, Method, Quantity, Scope};
use crate::model::{ModelSpec, Note};
use crate::settings::Settings;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// The most requests that an answer lists; a case can stand for more in a few letters.
pub const MOST_LISTED: u128 = 1_000_000;

/// What a job comes to.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The job's name.
    pub id: Option<super::Id>,
    /// How the model is served.
    pub settings: Settings,
    /// The batch.
    pub batch: Batch,
    /// The model.
    pub spec: ModelSpec,
    /// The estimator for both.
    pub vllm: Vllm,
    /// What the batch costs one GPU.
    pub per_gpu: Breakdown,
    /// What it costs in all.
    pub global: Breakdown,
    /// What only the physical model tells, where the breakdowns are its.
    pub physical: Option<Box<PhysicalAnswer>>,
}

/// Estimates what a job asks for, on its resolved model.
///
/// # Errors
/// Where a number passes 2^128.
pub fn answer(job: &Job, spec: ModelSpec) -> Result<Answer, EstimateError> {
    let answer = Answer::asked(spec, job.settings.clone(), job.batch.clone(), &job.question)?;
    Ok(Answer { id: job.id.clone(), ..answer })
}

impl Answer {
    /// Estimates a batch on a model, per GPU and globally.
    ///
    /// # Errors
    /// Where a number passes 2^128.
    pub fn new(spec: ModelSpec, settings: Settings, batch: Batch) -> Result<Self, EstimateError> {
        let vllm = Vllm::new(&spec, &settings);
        let per_gpu = vllm.estimate(&batch, Scope::PerGpu)?;
        let global = vllm.estimate(&batch, Scope::Global)?;
        Ok(Self { id: None, settings, batch, spec, vllm, per_gpu, global, physical: None })
    }

    /// Estimates a batch as a question wants it.
    ///
    /// # Errors
    /// Where a number passes 2^128, or where the physical model cannot describe the model.
    pub fn asked(
        spec: ModelSpec,
        settings: Settings,
        batch: Batch,
        question: &Question,
    ) -> Result<Self, EstimateError> {
        match question.method {
            Method::Vllm => Self::new(spec, settings, batch),
            Method::Physical => {
                let (physical, per_gpu, global) = PhysicalAnswer::new(&spec, &settings, &batch, question)?;
                let vllm = Vllm::new(&spec, &settings);
                let physical = Some(Box::new(physical));
                Ok(Self { id: None, settings, batch, spec, vllm, per_gpu, global, physical })
            }
        }
    }

    /// What a reader of the numbers must know.
    #[must_use]
    pub fn notes(&self) -> Vec<&Note> {
        if self.physical.is_some() { self.spec.physical_notes() } else { self.spec.notes.iter().collect() }
    }

    /// The estimate of a scope.
    #[must_use]
    pub fn breakdown(&self, scope: Scope) -> &Breakdown {
        match scope {
            Scope::PerGpu => &self.per_gpu,
            Scope::Global => &self.global,
        }
    }

    /// Writes the members of the answer's object.
    pub(crate) fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        map.serialize_entry("settings", &SettingsOut(&self.settings))?;
        map.serialize_entry("resolved_quantization", &self.settings.quantization(&self.spec))?;
        map.serialize_entry("class_known", &self.spec.class_known)?;
        map.serialize_entry("dtype", self.settings.dtype(&self.spec).name())?;
        map.serialize_entry("batch", &BatchOut(&self.batch))?;
        map.serialize_entry("components", &Components(&self.vllm))?;
        // The physical model leaves no component out.
        let skipped = if self.physical.is_some() { Vec::new() } else { self.vllm.skipped() };
        map.serialize_entry("skipped", &skipped.iter().map(|(c, _)| c.name()).collect::<Vec<_>>())?;
        map.serialize_entry("per_gpu", &Amounts(&self.per_gpu))?;
        map.serialize_entry("global", &Amounts(&self.global))?;
        map.serialize_entry("skipped_because", &Pairs(skipped.iter().map(|(c, why)| (c.name(), *why))))?;
        let refusals = self.settings.layout.refusals(&self.spec);
        map.serialize_entry("layout_refused", &refusals.iter().map(|r| r.reason.as_str()).collect::<Vec<_>>())?;
        if let Some(physical) = &self.physical {
            physical.entries(map)?;
        }
        map.serialize_entry("notes", &self.notes().into_iter().map(|n| n.text.as_str()).collect::<Vec<_>>())
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

/// An iterator of pairs as an object.
struct Pairs<I>(I);

impl<K: Serialize, V: Serialize, I: Iterator<Item = (K, V)> + Clone> Serialize for Pairs<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

struct SettingsOut<'a>(&'a Settings);

impl Serialize for SettingsOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Settings { dtype, kv_cache, quantization, disable_sliding_window, layout } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("dtype", dtype.map_or("auto", crate::model::Dtype::name))?;
        map.serialize_entry("kv_cache_dtype", kv_cache.name())?;
        map.serialize_entry("quantization", quantization.name())?;
        map.serialize_entry("tp", &layout.tp)?;
        map.serialize_entry("pp", &layout.pp)?;
        map.serialize_entry("dp", &layout.dp)?;
        map.serialize_entry("ep", &layout.ep)?;
        map.serialize_entry("disable_sliding_window", disable_sliding_window)?;
        map.end()
    }
}

struct BatchOut<'a>(&'a Batch);

impl Serialize for BatchOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let requests: u128 = self.0.groups().iter().map(|group| u128::from(group.count)).sum();
        if requests > MOST_LISTED {
            return Err(serde::ser::Error::custom(format_args!(
                "the batch has {requests} requests, and an answer lists every one; expected at most {MOST_LISTED}"
            )));
        }
        let mut list = serializer.serialize_seq(None)?;
        for group in self.0.groups() {
            for _ in 0..group.count {
                list.serialize_element(&(group.tokens, group.context, group.phase == Phase::Prefill))?;
            }
        }
        list.end()
    }
}

struct Components<'a>(&'a Vllm);

impl Serialize for Components<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.0.fields();
        serializer
            .collect_map(fields.iter().map(|(component, fields)| (component.name(), Pairs(fields.iter().copied()))))
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(value) => serializer.serialize_u64(*value),
            Self::Half => serializer.serialize_f64(0.5),
            Self::Null => serializer.serialize_none(),
        }
    }
}

struct Amounts<'a>(&'a Breakdown);

impl Serialize for Amounts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        for (name, quantity) in
            [("flops", Quantity::Flops), ("read_bytes", Quantity::Read), ("write_bytes", Quantity::Write)]
        {
            map.serialize_entry(name, &TermsOut(self.0, quantity))?;
        }
        map.end()
    }
}

struct TermsOut<'a>(&'a Breakdown, Quantity);

impl Serialize for TermsOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for part in &self.0.parts {
            for (def, amount) in part.sums().into_iter().filter(|(def, _)| def.quantity == self.1) {
                map.serialize_entry(&format!("{}.{}", part.component.name(), def.name), &amount)?;
            }
        }
        map.end()
    }
}
