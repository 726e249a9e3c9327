//! Estimates for tests of reports.

use super::{Entry, Roof};
use crate::batch::case;
use crate::estimate::vllm::Vllm;
use crate::estimate::{Breakdown, Estimator, Scope};
use crate::hardware::{self, Precision};
use crate::model::presets::builtin;
use crate::model::{ClassTable, ModelSpec, resolve};
use crate::scenario::state::{ModelChoice, Scenario};

/// An estimate with what it was made of.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) scenario: Scenario,
    pub(crate) breakdown: Breakdown,
    pub(crate) roof: Roof,
}

pub(crate) fn spec(id: &str) -> ModelSpec {
    let preset = builtin().iter().find(|preset| preset.id == id).unwrap();
    resolve(&preset.config, None, ClassTable::builtin()).unwrap()
}

/// The example on other sizes; an empty case text keeps the example's.
pub(crate) fn scenario(text: &str, tp: u32, pp: u32, dp: u32, ep: bool) -> Scenario {
    let mut scenario = Scenario::example().unwrap();
    let size = |size| std::num::NonZeroU32::new(size).unwrap();
    scenario.layout = crate::layout::Layout { tp: size(tp), pp: size(pp), dp: size(dp), ep };
    if !text.is_empty() {
        scenario.cases = vec![case::Case::parse(text).unwrap()];
    }
    scenario
}

pub(crate) fn example() -> Case {
    Case::of("", 8, false)
}

/// Up to eight layouts of the example.
pub(crate) fn layouts(count: usize) -> Vec<Case> {
    let sizes = [
        (8, 1, 1, false),
        (8, 1, 1, true),
        (1, 1, 8, true),
        (4, 2, 1, false),
        (16, 1, 1, false),
        (8, 2, 1, true),
        (4, 1, 4, true),
        (32, 1, 1, false),
    ];
    let case = |(tp, pp, dp, ep)| Case::new(scenario("", tp, pp, dp, ep), Precision::Fp8);
    sizes.into_iter().take(count).map(case).collect()
}

/// Four scenarios on three accelerators.
pub(crate) fn accelerators() -> Vec<Case> {
    let on = |id: &str, precision| {
        let mut scenario = scenario("", 8, 1, 1, false);
        scenario.accelerator = crate::scenario::hardware::AcceleratorChoice::listed(id);
        Case::new(scenario, precision)
    };
    vec![
        on("h200-sxm", Precision::Fp8),
        on("b200-sxm", Precision::Fp4),
        on("mi300x", Precision::Fp8),
        on("h200-sxm", Precision::Bf16),
    ]
}

impl Case {
    pub(crate) fn of(text: &str, tp: u32, ep: bool) -> Self {
        Self::new(scenario(text, tp, 1, 1, ep), Precision::Fp8)
    }

    pub(crate) fn new(scenario: Scenario, precision: Precision) -> Self {
        let ModelChoice::Preset(id) = &scenario.model else { panic!("a preset") };
        let vllm = Vllm::new(&spec(id), &scenario.settings());
        let breakdown = vllm.estimate(&scenario.case().unwrap().batch(), Scope::PerGpu).unwrap();
        let roof = Roof::of(hardware::by_id(&scenario.accelerator.id).unwrap(), precision).unwrap();
        Self { name: scenario.layout.label(), scenario, breakdown, roof }
    }

    pub(crate) fn entry(&self, place: usize) -> Entry<'_> {
        Entry {
            key: ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'][place],
            name: &self.name,
            place,
            breakdown: &self.breakdown,
            per_gpu: &self.breakdown,
            roof: Some(&self.roof),
            accelerator: hardware::by_id(&self.scenario.accelerator.id).unwrap(),
            stages: self.scenario.layout.pp.get(),
            step: None,
        }
    }
}

pub(crate) fn entries(cases: &[Case]) -> Vec<Entry<'_>> {
    cases.iter().enumerate().map(|(place, case)| case.entry(place)).collect()
}
