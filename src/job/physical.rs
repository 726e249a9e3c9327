//! What only the physical model answers: parameters, memory, times.

use crate::batch::Batch;
use crate::estimate::physical::differ::{Difference, differences};
use crate::estimate::physical::{Drafting, Physical};
use crate::estimate::vllm::Vllm;
use crate::estimate::{Breakdown, EstimateError, Estimator, Method, Part, Quantity, Scope};
use crate::hardware::Accelerator;
use crate::memory::{Pool, Weights, weights};
use crate::model::ModelSpec;
use crate::model::anatomy::{Categories, Parameters};
use crate::settings::Settings;
use crate::step::collective::Collective;
use crate::step::preset::{ASSUMED, CALIBRATED, IDEAL, Preset};
use crate::step::{DraftTime, OnHardware, OperationTime, Rates, Served, StageTime, StepTime, part_time};
use crate::units::{Bytes, Seconds};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// What is asked about a batch, beside model and settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// Which estimator answers.
    pub method: Method,
    /// The accelerator, for what fits and how long it takes.
    pub hardware: Option<&'static Accelerator>,
    /// How it is served there.
    pub served: Served,
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
    /// Bytes of them that are loaded: those of prediction layers only where they draft.
    pub loaded: Bytes,
    /// Bytes of KV cache that a token reserves on the GPU with most, as (bytes, for so many tokens).
    pub token: (u128, u128),
    /// What fits and how long it takes, where an accelerator is named.
    pub on: Option<OnHardware>,
    /// The accelerator that is named.
    pub accelerator: Option<&'static Accelerator>,
    /// What one draft step of the layers that predict further tokens costs a GPU, where the model has some.
    pub draft: Option<Part>,
    /// Where and why the two models differ.
    pub differences: Vec<Difference>,
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
        let model = Physical::new(spec, settings, question.served.assumptions, question.hardware)
            .map_err(EstimateError::NotDescribed)?;
        let accelerator = question.hardware;
        let on = accelerator.map(|accelerator| OnHardware::of(&model, batch, accelerator, &question.served));
        let on = on.transpose()?;
        // The stage that the others wait for, by its time where that is known.
        let per_gpu = match &on {
            Some(on) => model.stage(batch, on.step.longest() as u64)?,
            None => model.estimate(batch, Scope::PerGpu)?,
        };
        let global = model.estimate(batch, Scope::Global)?;
        let vllm = Vllm::new(spec, settings).estimate(batch, Scope::PerGpu)?;
        let differences = differences(spec, &model, batch, &vllm, &per_gpu);
        let held = model.each_stage().map(|stage| weights(&model, Scope::PerGpu, stage));
        let plan = question.served.plan.holding(batch, model.drafts(batch));
        let weights = held.max_by_key(|held| plan.weights(held)).unwrap_or_default();
        let loaded = plan.weights(&weights);
        let pools = model.each_stage().map(|stage| Pool::of(&model, stage, &plan).token());
        let token = pools.reduce(|most, one| if one.0 * most.1 > most.0 * one.1 { one } else { most });
        let parameters = model.anatomy().parameters();
        let token = token.unwrap_or((0, 1));
        let draft = model.draft(batch, Drafting::Further)?;
        Ok((Self { model, parameters, weights, loaded, token, on, accelerator, draft, differences }, per_gpu, global))
    }

    /// Writes the members that only this model has.
    pub(super) fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("model", "physical")?;
        map.serialize_entry("parameters", &ParametersOut(&self.parameters))?;
        map.serialize_entry("weights_bytes_per_gpu", &self.loaded.0)?;
        map.serialize_entry("weights_bytes_by_category", &CategoriesOut(&self.weights.categories))?;
        map.serialize_entry("kv_format", self.model.cache.name)?;
        let (bytes, every) = self.token;
        if bytes.is_multiple_of(every.max(1)) {
            map.serialize_entry("kv_bytes_per_token_per_gpu", &(bytes / every.max(1)))?;
        } else {
            map.serialize_entry("kv_bytes_per_token_per_gpu", &(bytes as f64 / every as f64))?;
        }
        let on = self.on.as_ref();
        map.serialize_entry("hardware", &self.accelerator.map(|accelerator| accelerator.id.as_ref()))?;
        map.serialize_entry("gpus_per_node", &on.map(|on| on.links.node))?;
        map.serialize_entry("fits", &on.map(|on| on.fit.fits()))?;
        map.serialize_entry("kv_tokens", &on.and_then(|on| on.fit.tokens()))?;
        let preset = on.map_or(CALIBRATED, |on| on.preset);
        let step = on.map(|on| &on.step);
        map.serialize_entry("step_time_us", &step.map(|step| Times(step.bound(), step.with(&preset), preset.name)))?;
        map.serialize_entry("bound", &step.map(|step| step.limit().label()))?;
        map.serialize_entry("stages", &Stages(step, &preset))?;
        map.serialize_entry("operations", &Operations(step, &preset))?;
        map.serialize_entry("communication", &Talks(step, &preset))?;
        let rates: [(&str, Rate); 8] = [
            ("tokens_per_second", |rates| Some(rates.tokens_per_second)),
            ("tokens_per_second_per_gpu", |rates| Some(rates.per_gpu)),
            ("mfu", |rates| Some(rates.compute_used)),
            ("mbu", |rates| Some(rates.bandwidth_used)),
            ("time_per_output_token_us", |rates| rates.decodes.then_some(rates.per_output_token.0 * 1e6)),
            ("tokens_per_step", |rates| rates.decodes.then_some(rates.tokens_per_step)),
            ("joules_per_token", |rates| rates.joules_per_token),
            ("price_per_million_tokens", |rates| rates.price_per_million),
        ];
        for (name, rate) in rates {
            map.serialize_entry(name, &on.and_then(|on| Pair::of(on, rate)))?;
        }
        map.serialize_entry(if preset == CALIBRATED { "calibration" } else { ASSUMED }, preset.source)?;
        if let Some(step) = step.filter(|step| !step.drafts.is_empty()) {
            map.serialize_entry("drafts", &Drafts(&step.drafts, &preset))?;
        }
        if let Some(draft) = &self.draft {
            let time = self.accelerator.map(|accelerator| {
                let expected = part_time(draft, accelerator, &preset).0 + preset.layer.0;
                Times(part_time(draft, accelerator, &IDEAL), Seconds(expected), preset.name)
            });
            map.serialize_entry("mtp", &Draft(draft, self.weights.mtp.0, time))?;
        }
        map.serialize_entry("differences", &Differences(&self.differences))
    }
}

/// A rate, where there is one.
type Rate = fn(&Rates) -> Option<f64>;

/// A value at the ideal bound and at the time that is expected, under the name of its preset.
struct Pair(f64, f64, &'static str);

impl Pair {
    fn of(on: &OnHardware, rate: Rate) -> Option<Self> {
        Some(Self(rate(&on.bound)?, rate(&on.expected)?, on.preset.name))
    }
}

impl Serialize for Pair {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("bound", self.0), (self.2, self.1)])
    }
}

/// The same of a time, in microseconds.
struct Times(Seconds, Seconds, &'static str);

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Pair(self.0.0 * 1e6, self.1.0 * 1e6, self.2).serialize(serializer)
    }
}

/// A draft step: its cost, the weights that it needs, and its least time.
struct Draft<'a>(&'a Part, u128, Option<Times>);

impl Serialize for Draft<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cost = self.0.cost();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("flops", &cost.flops.0)?;
        map.serialize_entry("read_bytes", &cost.read.0)?;
        map.serialize_entry("write_bytes", &cost.write.0)?;
        map.serialize_entry("weights_bytes_per_gpu", &self.1)?;
        map.serialize_entry("step_time_us", &self.2)?;
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

/// The stages of a step, or nothing without one.
fn stages(step: Option<&StepTime>) -> &[StageTime] {
    step.map(|step| step.stages.as_slice()).unwrap_or_default()
}

struct Stages<'a>(Option<&'a StepTime>, &'a Preset);

impl Serialize for Stages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(stages(self.0).iter().map(|stage| Stage(stage, self.1)))
    }
}

struct Stage<'a>(&'a StageTime, &'a Preset);

impl Serialize for Stage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(stage, preset) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("stage", &stage.stage)?;
        map.serialize_entry("layers", &stage.layers)?;
        map.serialize_entry("step_time_us", &Times(stage.bound(), stage.with(preset), preset.name))?;
        map.serialize_entry("bound", stage.limit().label())?;
        map.end()
    }
}

/// Steps that draft what is verified, communication and overhead included.
struct Drafts<'a>(&'a [DraftTime], &'a Preset);

impl Serialize for Drafts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|draft| DraftSteps(draft, self.1)))
    }
}

struct DraftSteps<'a>(&'a DraftTime, &'a Preset);

impl Serialize for DraftSteps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(draft, preset) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("steps", &draft.steps)?;
        map.serialize_entry("step_time_us", &Times(draft.each(&IDEAL), draft.each(preset), preset.name))?;
        map.end()
    }
}

struct Operations<'a>(Option<&'a StepTime>, &'a Preset);

impl<'a> Serialize for Operations<'a> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of = |stage: &'a StageTime| stage.operations.iter().map(|one| Operation(stage.stage, one, self.1));
        serializer.collect_seq(stages(self.0).iter().flat_map(of))
    }
}

struct Operation<'a>(u64, &'a OperationTime, &'a Preset);

impl Serialize for Operation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(stage, one, preset) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("stage", stage)?;
        map.serialize_entry("component", one.component.name())?;
        map.serialize_entry("operation", one.operation)?;
        map.serialize_entry("flops", &one.cost.flops.0)?;
        map.serialize_entry("read_bytes", &one.cost.read.0)?;
        map.serialize_entry("write_bytes", &one.cost.write.0)?;
        map.serialize_entry("precision", &one.precision.map(|precision| precision.label()))?;
        // What every layer adds is in the times of stages only.
        map.serialize_entry("step_time_us", &Times(one.bound, one.with(preset), preset.name))?;
        map.serialize_entry("bound", one.limit.label())?;
        map.end()
    }
}

struct Talks<'a>(Option<&'a StepTime>, &'a Preset);

impl<'a> Serialize for Talks<'a> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of = |stage: &'a StageTime| stage.collectives.iter().map(|one| Talk(stage.stage, one, self.1));
        serializer.collect_seq(stages(self.0).iter().flat_map(of))
    }
}

struct Talk<'a>(u64, &'a Collective, &'a Preset);

impl Serialize for Talk<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(stage, one, preset) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("stage", stage)?;
        map.serialize_entry("operation", one.name)?;
        map.serialize_entry("ranks", &one.ranks)?;
        map.serialize_entry("times", &one.times)?;
        map.serialize_entry("intra_node_bytes", &one.inside)?;
        map.serialize_entry("inter_node_bytes", &one.between)?;
        map.serialize_entry("step_time_us", &Times(one.time, one.with(preset), preset.name))?;
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
