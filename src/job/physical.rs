//! What only the physical model answers: parameters, memory, times.

use crate::batch::Batch;
use crate::estimate::physical::differ::{Difference, differences};
use crate::estimate::physical::{Assumptions, Physical};
use crate::estimate::vllm::Vllm;
use crate::estimate::{Breakdown, EstimateError, Estimator, Method, Part, Quantity, Scope};
use crate::hardware::Accelerator;
use crate::memory::{Fit, Plan, Pool, Weights, weights};
use crate::model::ModelSpec;
use crate::model::anatomy::{Categories, Parameters};
use crate::settings::Settings;
use crate::step::collective::Links;
use crate::step::preset::{CALIBRATED, IDEAL};
use crate::step::{Rates, StepTime, part_bound};
use crate::units::Seconds;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// What is asked about a batch, beside model and settings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Question {
    /// Which estimator answers.
    pub method: Method,
    /// The accelerator, for what fits and how long it takes.
    pub hardware: Option<&'static Accelerator>,
    /// GPUs of a node; the accelerator's usual number otherwise.
    pub node: Option<u32>,
    /// What the physical model assumes.
    pub assumptions: Assumptions,
    /// The chance that a draft token of a verification is accepted; all are without it.
    pub acceptance: Option<f64>,
    /// Price of a GPU's hour.
    pub price: Option<f64>,
}

/// What only the physical model answers.
#[derive(Clone, Debug)]
pub struct PhysicalAnswer {
    /// The model.
    pub model: Physical,
    /// Its parameters.
    pub parameters: Parameters,
    /// Weights of the GPU that has most of them.
    pub weights: Weights,
    /// Bytes of KV cache that a token reserves on the GPU with most, as (bytes, for so many tokens).
    pub token: (u128, u128),
    /// What fits and how long it takes, where an accelerator is named.
    pub on: Option<OnHardware>,
    /// What one draft step of the layers that predict further tokens costs a GPU, where the model has some.
    pub draft: Option<Part>,
    /// Where and why the two models differ.
    pub differences: Vec<Difference>,
}

/// What fits on an accelerator, and how long it takes.
#[derive(Clone, Debug)]
pub struct OnHardware {
    /// The accelerator.
    pub accelerator: &'static Accelerator,
    /// Its links.
    pub links: Links,
    /// What fits.
    pub fit: Fit,
    /// How long a step takes.
    pub step: StepTime,
    /// The rates at the ideal bound.
    pub bound: Rates,
    /// The rates at the calibrated time.
    pub calibrated: Rates,
}

impl PhysicalAnswer {
    /// The answer, with the breakdowns of a GPU and of the whole model.
    ///
    /// # Errors
    /// Where a number passes 2^120, or where the model cannot be described.
    pub fn new(
        spec: &ModelSpec,
        settings: &Settings,
        batch: &Batch,
        question: &Question,
    ) -> Result<(Self, Breakdown, Breakdown), EstimateError> {
        let model = Physical::new(spec, settings, question.assumptions, question.hardware)
            .map_err(EstimateError::NotDescribed)?;
        let (per_gpu, global) = (model.estimate(batch, Scope::PerGpu)?, model.estimate(batch, Scope::Global)?);
        let vllm = Vllm::new(spec, settings).estimate(batch, Scope::PerGpu)?;
        let differences = differences(spec, &model, batch, &vllm, &per_gpu);
        let held = model.each_stage().map(|stage| weights(&model, Scope::PerGpu, stage));
        let weights = held.max_by_key(Weights::total).unwrap_or_default();
        let plan = Plan::default();
        let pools = model.each_stage().map(|stage| Pool::of(&model, stage, plan.block, plan.prefix_caching).token());
        let token = pools.reduce(|most, one| if one.0 * most.1 > most.0 * one.1 { one } else { most });
        let on = question.hardware.map(|accelerator| -> Result<OnHardware, EstimateError> {
            let links = Links::of(accelerator, question.node);
            let step = StepTime::of(&model, batch, accelerator, &links)?;
            let rates = |preset| {
                let acceptance = question.acceptance.unwrap_or(1.0);
                let rates = Rates::of(&step, batch, settings.layout, accelerator, preset, acceptance);
                question.price.map_or(rates, |hour| rates.priced(hour, settings.layout))
            };
            let (bound, calibrated) = (rates(&IDEAL), rates(&CALIBRATED));
            Ok(OnHardware { accelerator, links, fit: Fit::of(&model, accelerator, &plan), step, bound, calibrated })
        });
        let parameters = model.anatomy().parameters();
        let on = on.transpose()?;
        let token = token.unwrap_or((0, 1));
        let draft = model.draft(batch)?;
        Ok((Self { model, parameters, weights, token, on, draft, differences }, per_gpu, global))
    }

    /// Writes the members that only this model has.
    pub(super) fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("model", "physical")?;
        map.serialize_entry("parameters", &ParametersOut(&self.parameters))?;
        map.serialize_entry("weights_bytes_per_gpu", &self.weights.total().0)?;
        map.serialize_entry("weights_bytes_by_category", &CategoriesOut(&self.weights.categories))?;
        map.serialize_entry("kv_format", self.model.cache.name)?;
        let (bytes, every) = self.token;
        if bytes.is_multiple_of(every.max(1)) {
            map.serialize_entry("kv_bytes_per_token_per_gpu", &(bytes / every.max(1)))?;
        } else {
            map.serialize_entry("kv_bytes_per_token_per_gpu", &(bytes as f64 / every as f64))?;
        }
        let on = self.on.as_ref();
        map.serialize_entry("hardware", &on.map(|on| on.accelerator.id.as_ref()))?;
        map.serialize_entry("gpus_per_node", &on.map(|on| on.links.node))?;
        map.serialize_entry("fits", &on.map(|on| on.fit.fits()))?;
        map.serialize_entry("kv_tokens", &on.and_then(|on| on.fit.tokens()))?;
        let step = on.map(|on| &on.step);
        map.serialize_entry("step_time_us", &step.map(|step| Times(step.bound(), step.with(&CALIBRATED))))?;
        map.serialize_entry("bound", &step.map(|step| step.limit().label()))?;
        map.serialize_entry("operations", &Operations(step))?;
        map.serialize_entry("communication", &Talks(step))?;
        map.serialize_entry(
            "tokens_per_second",
            &on.map(|on| Pair(&on.bound, &on.calibrated, |r| r.tokens_per_second)),
        )?;
        map.serialize_entry("tokens_per_second_per_gpu", &on.map(|on| Pair(&on.bound, &on.calibrated, |r| r.per_gpu)))?;
        map.serialize_entry("mfu", &on.map(|on| Pair(&on.bound, &on.calibrated, |r| r.compute_used)))?;
        map.serialize_entry("mbu", &on.map(|on| Pair(&on.bound, &on.calibrated, |r| r.bandwidth_used)))?;
        map.serialize_entry(
            "time_per_output_token_us",
            &on.map(|on| Pair(&on.bound, &on.calibrated, |r| r.per_output_token.0 * 1e6)),
        )?;
        map.serialize_entry(
            "joules_per_token",
            &on.map(|on| Pair(&on.bound, &on.calibrated, |r| r.joules_per_token.unwrap_or(f64::NAN))),
        )?;
        if on.is_some_and(|on| on.bound.price_per_million.is_some()) {
            map.serialize_entry(
                "price_per_million_tokens",
                &on.map(|on| Pair(&on.bound, &on.calibrated, |r| r.price_per_million.unwrap_or(f64::NAN))),
            )?;
        }
        map.serialize_entry("calibration", CALIBRATED.source)?;
        if let Some(draft) = &self.draft {
            map.serialize_entry("mtp", &Draft(draft, self.weights.mtp.0, on.map(|on| on.accelerator)))?;
        }
        map.serialize_entry("differences", &Differences(&self.differences))
    }
}

/// A value at the ideal bound and at the calibrated time.
struct Pair<'a>(&'a Rates, &'a Rates, fn(&Rates) -> f64);

impl Serialize for Pair<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("bound", (self.2)(self.0)), ("calibrated", (self.2)(self.1))])
    }
}

struct Times(Seconds, Seconds);

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("bound", self.0.0 * 1e6), ("calibrated", self.1.0 * 1e6)])
    }
}

/// A draft step: its cost, the weights that it needs, and its least time.
struct Draft<'a>(&'a Part, u128, Option<&'a Accelerator>);

impl Serialize for Draft<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cost = self.0.cost();
        let time = self.2.map(|accelerator| part_bound(self.0, accelerator));
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("flops", &cost.flops.0)?;
        map.serialize_entry("read_bytes", &cost.read.0)?;
        map.serialize_entry("write_bytes", &cost.write.0)?;
        map.serialize_entry("weights_bytes_per_gpu", &self.1)?;
        map.serialize_entry("step_time_us", &time.map(|time| Times(time, CALIBRATED.apply(time, 1))))?;
        map.end()
    }
}

struct ParametersOut<'a>(&'a Parameters);

impl Serialize for ParametersOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("total", &self.0.total())?;
        map.serialize_entry("active", &self.0.active)?;
        map.serialize_entry("mtp", &self.0.mtp)?;
        map.serialize_entry("categories", &CategoriesOut(&self.0.categories))?;
        map.end()
    }
}

struct CategoriesOut<'a>(&'a Categories);

impl Serialize for CategoriesOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.named())
    }
}

struct Operations<'a>(Option<&'a StepTime>);

impl Serialize for Operations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stages = self.0.map(|step| step.stages.as_slice()).unwrap_or_default();
        serializer
            .collect_seq(stages.iter().flat_map(|stage| stage.operations.iter().map(|one| Operation(stage.stage, one))))
    }
}

struct Operation<'a>(u64, &'a crate::step::OperationTime);

impl Serialize for Operation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = self.1;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("stage", &self.0)?;
        map.serialize_entry("component", one.component.name())?;
        map.serialize_entry("operation", one.operation)?;
        map.serialize_entry("flops", &one.cost.flops.0)?;
        map.serialize_entry("read_bytes", &one.cost.read.0)?;
        map.serialize_entry("write_bytes", &one.cost.write.0)?;
        map.serialize_entry("precision", &one.precision.map(|precision| precision.label()))?;
        // What every layer adds is in the step's time only.
        map.serialize_entry("step_time_us", &Times(one.bound, CALIBRATED.apply(one.bound, 0)))?;
        map.serialize_entry("bound", one.limit.label())?;
        map.end()
    }
}

struct Talks<'a>(Option<&'a StepTime>);

impl Serialize for Talks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stages = self.0.map(|step| step.stages.as_slice()).unwrap_or_default();
        serializer
            .collect_seq(stages.iter().flat_map(|stage| stage.collectives.iter().map(|one| Talk(stage.stage, one))))
    }
}

struct Talk<'a>(u64, &'a crate::step::collective::Collective);

impl Serialize for Talk<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = self.1;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("stage", &self.0)?;
        map.serialize_entry("operation", one.name)?;
        map.serialize_entry("ranks", &one.ranks)?;
        map.serialize_entry("times", &one.times)?;
        map.serialize_entry("intra_node_bytes", &one.inside)?;
        map.serialize_entry("inter_node_bytes", &one.between)?;
        map.serialize_entry("step_time_us", &Times(one.time, CALIBRATED.apply(one.time, 0)))?;
        map.end()
    }
}

struct Differences<'a>(&'a [Difference]);

impl Serialize for Differences<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(DifferenceOut))
    }
}

struct DifferenceOut<'a>(&'a Difference);

impl Serialize for DifferenceOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let quantity = match self.0.quantity {
            Quantity::Flops => "flops",
            Quantity::Read => "read_bytes",
            Quantity::Write => "write_bytes",
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("component", self.0.component.name())?;
        map.serialize_entry("quantity", quantity)?;
        map.serialize_entry("vllm", &self.0.vllm)?;
        map.serialize_entry("physical", &self.0.physical)?;
        map.serialize_entry("because", &self.0.causes)?;
        map.end()
    }
}
