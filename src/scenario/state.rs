//! What a comparison is made of: up to eight scenarios, each complete and valid, one of them the baseline.
//!
//! This is the state that links and files carry and that undo steps through. It holds valid values only: what is
//! half-typed lives in its field until it is valid. A section of the inputs can be shared: an edit of it then goes to
//! every scenario.

use crate::batch::case::{Case, VerifyAs};
use crate::bench::run::Run;
use crate::estimate::{Method, Scope};
use crate::hardware::Precision;
use crate::layout::Layout;
use crate::model::{Dtype, KvDtype};
use crate::scenario::hardware::AcceleratorChoice;
use crate::settings::{QuantizationChoice, Settings};

/// The most scenarios that a comparison holds.
pub const MOST_SCENARIOS: usize = 8;

/// The most named cases that a scenario holds.
pub const MOST_CASES: usize = 16;

/// Where a model comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// A preset, by id.
    Preset(String),
    /// A config that somebody pasted.
    Custom(CustomModel),
}

/// A config of somebody's own, reduced to the keys that anything reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomModel {
    /// What to call it; empty: by its `model_type`.
    pub name: String,
    /// The config as JSON text.
    pub config: String,
    /// A `hf_quant_config.json` beside it, as JSON text.
    pub companion: Option<String>,
}

/// A model, how it is served, what it computes and on what.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Stable as long as the scenario exists, and never used again in a comparison.
    pub id: u32,
    /// A name that was given; empty: by what differs.
    pub name: String,
    /// The model.
    pub model: ModelChoice,
    /// Parallel sizes.
    pub layout: Layout,
    /// Quantization.
    pub quantization: QuantizationChoice,
    /// Format of the KV cache.
    pub kv_cache: KvDtype,
    /// Forced dtype.
    pub dtype: Option<Dtype>,
    /// Whether sliding windows are ignored.
    pub disable_sliding_window: bool,
    /// Named cases; never empty.
    pub cases: Vec<Case>,
    /// Which of the cases is shown.
    pub active: usize,
    /// What a verify counts as.
    pub verify: VerifyAs,
    /// The accelerator.
    pub accelerator: AcceleratorChoice,
    /// The precision whose roof counts; `None`: by the quantization.
    pub precision: Option<Precision>,
}

/// A section of the inputs, as the page groups them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// The model.
    Model,
    /// The layout.
    Layout,
    /// Quantization and dtypes.
    Precision,
    /// The cases.
    Batch,
    /// The accelerator and its roof.
    Accelerator,
}

impl Section {
    /// All of them, in the page's order.
    pub const ALL: [Self; 5] = [Self::Model, Self::Layout, Self::Precision, Self::Batch, Self::Accelerator];
}

/// Scenarios side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    scenarios: Vec<Scenario>,
    /// The id of the baseline.
    baseline: u32,
    /// The sections that all scenarios share.
    shared: Vec<Section>,
    /// Of what the numbers are.
    pub scope: Scope,
    /// The model that counts.
    pub method: Method,
    /// How the cases are run where they are measured.
    pub run: Run,
}

impl Scenario {
    /// The worked example that the page opens on.
    #[must_use]
    pub fn example() -> Option<Self> {
        let tp = |size| std::num::NonZeroU32::new(size);
        Some(Self {
            id: 0,
            name: String::new(),
            model: ModelChoice::Preset("deepseek-v3".to_owned()),
            layout: Layout { tp: tp(8)?, ..Layout::default() },
            quantization: QuantizationChoice::Auto,
            kv_cache: KvDtype::AUTO,
            dtype: None,
            disable_sliding_window: false,
            cases: vec![Case::parse("mix=8192,32*1@8192").ok()?],
            active: 0,
            verify: VerifyAs::Decode,
            accelerator: AcceleratorChoice::listed("h200-sxm"),
            precision: None,
        })
    }

    /// The case that is shown.
    #[must_use]
    pub fn case(&self) -> Option<&Case> {
        self.cases.get(self.active).or_else(|| self.cases.first())
    }

    /// The settings that an estimator takes.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            dtype: self.dtype,
            kv_cache: self.kv_cache,
            quantization: self.quantization.clone(),
            disable_sliding_window: self.disable_sliding_window,
            layout: self.layout,
        }
    }

    /// Takes a section over from another scenario.
    pub fn take(&mut self, section: Section, from: &Self) {
        match section {
            Section::Model => self.model = from.model.clone(),
            Section::Layout => self.layout = from.layout,
            Section::Precision => {
                self.quantization = from.quantization.clone();
                self.kv_cache = from.kv_cache;
                self.dtype = from.dtype;
                self.disable_sliding_window = from.disable_sliding_window;
            }
            Section::Batch => {
                self.cases.clone_from(&from.cases);
                self.active = from.active;
                self.verify = from.verify;
            }
            Section::Accelerator => {
                self.accelerator = from.accelerator.clone();
                self.precision = from.precision;
            }
        }
    }

    /// Whether a section is the same as another scenario's.
    #[must_use]
    pub fn agrees(&self, section: Section, other: &Self) -> bool {
        let mut copy = self.clone();
        copy.take(section, other);
        copy == *self
    }
}

impl Comparison {
    /// One scenario on its own, everything but the layout shared with those that will join it.
    #[must_use]
    pub fn of(scenario: Scenario) -> Self {
        let baseline = scenario.id;
        let shared = Section::ALL.into_iter().filter(|section| *section != Section::Layout).collect();
        let (scope, method, run) = (Scope::PerGpu, Method::Vllm, Run::default());
        Self { scenarios: vec![scenario], baseline, shared, scope, method, run }
    }

    /// Scenarios as a link or a file holds them; ids are given anew, in order. Sections that are named as shared but
    /// differ are not shared.
    ///
    /// # Errors
    /// A sentence, where there are none or too many, or where one has no case or too many.
    pub fn new(
        mut scenarios: Vec<Scenario>,
        baseline: usize,
        shared: Vec<Section>,
        scope: Scope,
    ) -> Result<Self, String> {
        if scenarios.is_empty() || scenarios.len() > MOST_SCENARIOS {
            return Err(format!("a comparison has 1 to {MOST_SCENARIOS} scenarios, found {}", scenarios.len()));
        }
        if let Some(scenario) = scenarios.iter().find(|s| s.cases.is_empty() || s.cases.len() > MOST_CASES) {
            return Err(format!("a scenario has 1 to {MOST_CASES} cases, found {}", scenario.cases.len()));
        }
        for (id, scenario) in (0_u32..).zip(&mut scenarios) {
            scenario.id = id;
            scenario.active = scenario.active.min(scenario.cases.len() - 1);
        }
        let baseline = scenarios.get(baseline).or_else(|| scenarios.first()).map_or(0, |scenario| scenario.id);
        let mut comparison = Self { scenarios, baseline, shared, scope, method: Method::Vllm, run: Run::default() };
        comparison.shared.retain({
            let scenarios = comparison.scenarios.clone();
            move |section| scenarios.windows(2).all(|pair| matches!(pair, [a, b] if a.agrees(*section, b)))
        });
        Ok(comparison)
    }

    /// The scenarios, in order; at least one.
    #[must_use]
    pub fn scenarios(&self) -> &[Scenario] {
        &self.scenarios
    }

    /// The scenario of an id.
    #[must_use]
    pub fn scenario(&self, id: u32) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.id == id)
    }

    /// The place of an id.
    #[must_use]
    pub fn place(&self, id: u32) -> Option<usize> {
        self.scenarios.iter().position(|scenario| scenario.id == id)
    }

    /// The id of the baseline.
    #[must_use]
    pub fn baseline(&self) -> u32 {
        self.baseline
    }

    /// Makes a scenario the baseline.
    pub fn set_baseline(&mut self, id: u32) {
        if self.scenario(id).is_some() {
            self.baseline = id;
        }
    }

    /// The sections that all scenarios share.
    #[must_use]
    pub fn shared(&self) -> &[Section] {
        &self.shared
    }

    /// Whether all scenarios share a section.
    #[must_use]
    pub fn is_shared(&self, section: Section) -> bool {
        self.shared.contains(&section)
    }

    /// Shares a section, as scenario `id` has it, or ends that: from then on each scenario has its own.
    pub fn share(&mut self, section: Section, id: u32, on: bool) {
        self.shared.retain(|other| *other != section);
        if on {
            self.shared.push(section);
            self.spread(section, id);
        }
    }

    /// Changes a section of a scenario, and of all others where it is shared.
    pub fn edit(&mut self, id: u32, section: Section, change: impl FnOnce(&mut Scenario)) {
        if let Some(scenario) = self.scenarios.iter_mut().find(|scenario| scenario.id == id) {
            change(scenario);
            scenario.id = id;
        }
        if self.is_shared(section) {
            self.spread(section, id);
        }
    }

    fn spread(&mut self, section: Section, id: u32) {
        if let Some(from) = self.scenario(id).cloned() {
            for scenario in &mut self.scenarios {
                scenario.take(section, &from);
            }
        }
    }

    /// Puts a copy of a scenario behind it; its id, unless there are too many scenarios.
    pub fn duplicate(&mut self, id: u32) -> Option<u32> {
        if self.scenarios.len() >= MOST_SCENARIOS {
            return None;
        }
        let place = self.place(id)?;
        let mut copy = self.scenario(id)?.clone();
        copy.id = self.scenarios.iter().map(|scenario| scenario.id).max()?.checked_add(1)?;
        copy.name.clear();
        let new = copy.id;
        self.scenarios.insert(place + 1, copy);
        Some(new)
    }

    /// Removes a scenario, unless it is the last one. Where it was the baseline, the first one becomes it.
    pub fn remove(&mut self, id: u32) {
        if self.scenarios.len() > 1 {
            self.scenarios.retain(|scenario| scenario.id != id);
            if self.scenario(self.baseline).is_none() {
                self.baseline = self.scenarios.first().map_or(0, |scenario| scenario.id);
            }
        }
    }

    /// Moves a scenario by places, to the left where negative; it stops at the ends.
    pub fn shift(&mut self, id: u32, by: isize) {
        if let Some(from) = self.place(id) {
            let to = from.saturating_add_signed(by).min(self.scenarios.len() - 1);
            let scenario = self.scenarios.remove(from);
            self.scenarios.insert(to, scenario);
        }
    }

    /// Names a scenario; an empty name lets it be called by what differs.
    pub fn rename(&mut self, id: u32, name: &str) {
        if let Some(scenario) = self.scenarios.iter_mut().find(|scenario| scenario.id == id) {
            name.trim().chars().take(60).collect::<String>().clone_into(&mut scenario.name);
        }
    }
}
