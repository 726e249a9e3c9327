//! The page's state: the comparison, and what follows from it.
//!
//! Data goes one way. The comparison is one signal, changed through [`State::edit`] and its like alone, so that every
//! change can be undone. Everything shown is a memo of it. The comparison is always valid; what is half-typed lives in
//! its field, and [`State::errors`] counts such fields, so that the page can say that its figures are older.

use super::facts::{Facts, Ready};
use super::held::{Held, Known};
use super::history::History;
use super::link::{LinkState, Written};
use crate::estimate::Method;
use crate::json::parse;
use crate::model::{ConfigError, Depth};
use crate::report::SortBy;
use crate::report::answer::Answer;
use crate::report::charts::{Layer, Measured};
pub(super) use crate::report::outcome::Outcome;
use crate::report::outcome::{estimated, resolved};
use crate::scenario::state::{Comparison, CustomModel, ModelChoice, Scenario, Section};
use leptos::prelude::*;
use std::ops::Deref;
use std::sync::Arc;

/// The outcomes of all scenarios, in order; those that did not change are the same ones as before.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcomes(
    pub(super) Vec<Arc<Outcome>>,
    /// Those of the vllm model, which are there at once when it is chosen again.
    Vec<Arc<Outcome>>,
);

impl PartialEq for Outcomes {
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &[Arc<Outcome>], b: &[Arc<Outcome>]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        same(&self.0, &other.0) && same(&self.1, &other.1)
    }
}

/// The physical model's answers for the scenarios of a comparison, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    /// What was asked about.
    pub(super) of: Option<Arc<Comparison>>,
    pub(super) found: Vec<Result<Arc<Answer>, String>>,
    /// Nothing will answer any more.
    pub(super) failed: bool,
}

/// What stands where nothing answers.
const FAILED: &str = "it did not load, or has stopped; reload the page, or let vllm count";

impl Answers {
    /// The answer for a scenario, if it was asked about as things stand in `now`.
    fn of(&self, now: &Comparison, scenario: &Scenario) -> Option<&Result<Arc<Answer>, String>> {
        let of = self.of.as_ref().filter(|of| of.scope == now.scope && of.run == now.run)?;
        let at = of.scenarios().iter().position(|other| other == scenario)?;
        self.found.get(at)
    }
}

/// A config that is being worked on and is not a valid one (yet).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ConfigDraft {
    /// The scenario that it is for.
    id: u32,
    pub(super) text: String,
    pub(super) file: Option<String>,
    pub(super) error: ConfigError,
}

/// What the page says about what was put in and done.
#[derive(Clone, Debug, Default)]
pub(super) struct Status {
    /// The config text that was typed, pasted or dropped and could not be taken.
    draft: Option<Arc<ConfigDraft>>,
    /// How many fields hold something that is not valid.
    pub(super) errors: usize,
    /// Something to say about files.
    pub(super) notice: Option<String>,
    /// What became of the link in the address.
    pub(super) link: LinkState,
    /// What was just done, for the live region.
    pub(super) said: String,
    /// Steps back and forward.
    pub(super) steps: (usize, usize),
    /// Whether something is dragged over the page.
    pub(super) dragging: bool,
}

/// How results are looked at; not part of what a link carries.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    /// Whether bars are stacked by operation.
    pub(super) by_operation: bool,
    /// Layers that are hidden: of the bars, of the traffic, of the roofline.
    pub(super) hidden: [Vec<Layer>; 3],
    /// Operations that are unfolded, as component.operation.
    pub(super) open: Vec<String>,
    /// Whether all of them are.
    pub(super) all_open: bool,
    /// The column that operations are sorted by, and whether upwards.
    pub(super) sort: Option<(SortBy, bool)>,
    /// The sweep.
    pub(super) sweep: super::sweep::Choice,
    /// Measured points of the roofline.
    pub(super) measured: Vec<Measured>,
    /// What the physical model answered.
    pub(super) answers: Answers,
}

/// The page's signals; copied freely. Nearly every closure of the page holds it, so it is one pointer.
#[derive(Clone, Copy)]
pub(super) struct State(&'static Signals);

/// Signals and memos. They are few and of few types: each type of signal is compiled anew.
pub(super) struct Signals {
    pub(super) facts: Held<Facts>,
    pub(super) comparison: Held<Comparison>,
    pub(super) selected: RwSignal<u32>,
    /// The scenario that is selected.
    pub(super) scenario: Known<Scenario>,
    /// What is shown: of the model that is chosen.
    pub(super) outcomes: Known<Outcomes>,
    /// What scenarios are called, in order.
    pub(super) names: Known<Vec<String>>,
    pub(super) status: Held<Status>,
    pub(super) view: Held<View>,
    pub(super) dark: RwSignal<bool>,
    history: StoredValue<History>,
    /// The link that was made last.
    pub(super) written: StoredValue<Option<Written>>,
    /// The way to the measuring desk.
    pub(super) desk: StoredValue<super::measure::Desk, LocalStorage>,
}

impl Deref for State {
    type Target = Signals;

    fn deref(&self) -> &Signals {
        self.0
    }
}

impl State {
    /// The state of a comparison; the first of its scenarios stands in where a selection is gone.
    pub(super) fn new(comparison: Comparison) -> Self {
        let facts = Held::new(Facts::Loading);
        let selected = RwSignal::new(comparison.baseline());
        let comparison = Held::new(comparison);
        let scenario = Known::new(move |previous: Option<&Scenario>| {
            let id = selected.get();
            let chosen = comparison.with(|c| c.scenario(id).or_else(|| c.scenarios().first()).cloned());
            chosen.or_else(|| previous.cloned()).unwrap_or_else(empty_scenario)
        });
        let view = Held::new(View::default());
        let outcomes = Known::new(move |previous: Option<&Outcomes>| {
            let facts = facts.now();
            let Facts::Ready(ready) = &*facts else { return Outcomes::default() };
            let now = comparison.now();
            let before = previous.map(|outcomes| outcomes.1.as_slice()).unwrap_or_default();
            let vllm = outcomes(&now, ready, before);
            let shown = match now.method {
                Method::Vllm => vllm.clone(),
                Method::Physical => answered(&now, &vllm, &view.now().answers, previous),
            };
            Outcomes(shown, vllm)
        });
        let names = Known::new(move |_: Option<&Vec<String>>| {
            let models = move |choice: &ModelChoice| {
                outcomes.with(|outcomes| {
                    let found = outcomes.0.iter().find(|outcome| outcome.scenario.model == *choice);
                    found.map_or_else(String::new, |outcome| outcome.model.name.clone())
                })
            };
            comparison.with(|comparison| crate::report::names(comparison, &models))
        });
        // It lives as long as the page.
        Self(Box::leak(Box::new(Signals {
            facts,
            comparison,
            selected,
            scenario,
            outcomes,
            names,
            status: Held::new(Status::default()),
            view,
            dark: super::canvas::dark_mode(),
            history: StoredValue::new(History::default()),
            written: StoredValue::new(None),
            desk: StoredValue::new_local(super::measure::Desk::default()),
        })))
    }

    /// The id of the selected scenario, without following it.
    pub(super) fn id(self) -> u32 {
        self.scenario.with_untracked(|scenario| scenario.id)
    }

    /// Says what was just done.
    pub(super) fn say(self, text: impl Into<String>) {
        let state = self;
        let text = text.into();
        self.status.update(|status| status.said.clone_from(&text));
        let done = move || {
            if state.status.with_untracked(|status| status.said == text) {
                state.status.update(|status| status.said.clear());
            }
        };
        set_timeout(done, std::time::Duration::from_secs(6));
    }

    /// Drops the config that could not be taken.
    pub(super) fn forget_draft(self) {
        if self.status.with_untracked(|status| status.draft.is_some() || status.notice.is_some()) {
            self.status.update(|status| {
                status.draft = None;
                status.notice = None;
            });
        }
    }

    /// Changes a section of the selected scenario, and of all where it is shared. `field` names what is edited, so that
    /// typing in one field is one step to undo.
    pub(super) fn edit(self, section: Section, field: &'static str, change: impl FnOnce(&mut Scenario)) {
        let id = self.id();
        let before = self.comparison.now_untracked();
        let mut after = before.scenario(id).cloned().unwrap_or_else(empty_scenario);
        change(&mut after);
        self.replace(section, field, id, after);
    }

    fn replace(self, section: Section, field: &'static str, id: u32, scenario: Scenario) {
        let mut after = Comparison::clone(&self.comparison.now_untracked());
        after.edit(id, section, |slot| *slot = scenario);
        self.changed(field, after);
    }

    /// Changes the comparison.
    pub(super) fn change(self, field: &'static str, change: impl FnOnce(&mut Comparison)) {
        let mut after = Comparison::clone(&self.comparison.now_untracked());
        change(&mut after);
        self.changed(field, after);
    }

    fn changed(self, field: &'static str, after: Comparison) {
        let before = self.comparison.now_untracked();
        if after == *before {
            return;
        }
        let id = self.selected.get_untracked();
        let now = js_sys::Date::now();
        self.history.update_value(|history| history.keep(&before, id, field, now));
        self.set(after);
    }

    /// Takes one step back.
    pub(super) fn undo(self) {
        self.step(History::undo);
    }

    /// Takes one step forward again.
    pub(super) fn redo(self) {
        self.step(History::redo);
    }

    fn step(self, take: fn(&mut History, &Comparison, u32) -> Option<(Comparison, u32)>) {
        let (now, id) = (self.comparison.now_untracked(), self.id());
        if let Some(Some((comparison, selected))) = self.history.try_update_value(|history| take(history, &now, id)) {
            self.set(comparison);
            self.selected.set(selected);
        }
    }

    fn set(self, comparison: Comparison) {
        let selected = self.selected.get_untracked();
        if comparison.scenario(selected).is_none() {
            self.selected.set(comparison.baseline());
        }
        let steps = self.history.with_value(History::depth);
        let before = self.comparison.now_untracked();
        self.comparison.set(comparison);
        let comparison = self.comparison.now_untracked();
        self.status.update(|status| {
            // What was half-typed goes only with the config that it was to be.
            let model = |of: &Comparison, id| of.scenario(id).map(|scenario| scenario.model.clone());
            let stays = |draft: &Arc<ConfigDraft>| model(&before, draft.id) == model(&comparison, draft.id);
            status.draft = status.draft.take().filter(stays);
            status.steps = steps;
        });
    }

    /// The config of the selected scenario that could not be taken.
    pub(super) fn draft(self) -> Option<Arc<ConfigDraft>> {
        let id = self.scenario.with(|scenario| scenario.id);
        self.status.with(|status| status.draft.clone().filter(|draft| draft.id == id))
    }

    /// Whether what is shown belongs to earlier, valid inputs.
    pub(super) fn is_stale(self) -> bool {
        self.draft().is_some() || self.status.with(|status| status.errors > 0)
    }

    /// Whether the physical model has not answered yet what is asked: what is shown is of before.
    pub(super) fn is_waiting(self) -> bool {
        let now = self.comparison.now();
        let view = self.view.now();
        let answered = view.answers.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, &now));
        now.method == Method::Physical && !answered && !view.answers.failed
    }

    /// What the vllm model makes of the selected scenario: what inputs show of a model does not wait.
    pub(super) fn resolved(self) -> Option<Arc<Outcome>> {
        let id = self.scenario.with(|scenario| scenario.id);
        self.outcomes.with(|outcomes| outcomes.1.iter().find(|outcome| outcome.scenario.id == id).cloned())
    }

    /// What is shown of the selected scenario, once there is something.
    pub(super) fn shown(self) -> Option<Arc<Outcome>> {
        let id = self.scenario.with(|scenario| scenario.id);
        self.outcomes.with(|outcomes| outcomes.0.iter().find(|outcome| outcome.scenario.id == id).cloned())
    }

    /// The text of the config that is being edited.
    pub(super) fn config_text(self) -> String {
        if let Some(draft) = self.draft() {
            return draft.text.clone();
        }
        self.scenario.with(|scenario| match &scenario.model {
            // A config that came with a link is one line.
            ModelChoice::Custom(custom) if !custom.config.contains('\n') => {
                parse(&custom.config).map_or_else(|_| custom.config.clone(), |document| document.root.to_text())
            }
            ModelChoice::Custom(custom) => custom.config.clone(),
            ModelChoice::Preset(id) => self.facts.with(|facts| match facts {
                Facts::Ready(ready) => ready.preset(id).map(|p| p.config.root.to_text()).unwrap_or_default(),
                _ => String::new(),
            }),
        })
    }

    /// Takes a config text for the selected scenario, or keeps it as a draft with its error.
    pub(super) fn take_config(self, text: String, companion: Option<String>, file: Option<String>) {
        let known = self.facts.with_untracked(|facts| match facts {
            Facts::Ready(ready) => Some(Depth::FIELDS.read(&text, companion.as_deref(), &ready.classes).map(|_| ())),
            _ => None,
        });
        match known {
            Some(Ok(())) => {
                let model = CustomModel { name: file.unwrap_or_default(), config: text, companion };
                self.forget_draft();
                self.edit(Section::Model, "config", |scenario| scenario.model = ModelChoice::Custom(model));
            }
            Some(Err(error)) => {
                let draft = ConfigDraft { id: self.id(), text, file, error };
                self.status.update(|status| status.draft = Some(Arc::new(draft)));
            }
            None => self.say("Class facts are still loading; try again in a moment."),
        }
    }
}

fn empty_scenario() -> Scenario {
    Scenario {
        id: 0,
        name: String::new(),
        model: ModelChoice::Preset(String::new()),
        layout: crate::layout::Layout::default(),
        quantization: crate::settings::QuantizationChoice::Auto,
        kv_cache: crate::model::KvDtype::AUTO,
        dtype: None,
        disable_sliding_window: false,
        cases: Vec::new(),
        active: 0,
        verify: crate::batch::case::VerifyAs::Decode,
        accelerator: crate::scenario::hardware::AcceleratorChoice::listed("h200-sxm"),
        precision: None,
    }
}

/// The outcomes of a comparison; those of unchanged scenarios are taken over.
fn outcomes(comparison: &Comparison, facts: &Ready, before: &[Arc<Outcome>]) -> Vec<Arc<Outcome>> {
    let mut done: Vec<Arc<Outcome>> = Vec::with_capacity(comparison.scenarios().len());
    for scenario in comparison.scenarios() {
        let same = |outcome: &&Arc<Outcome>| outcome.scope == comparison.scope && outcome.scenario == *scenario;
        if let Some(outcome) = before.iter().find(same) {
            done.push(outcome.clone());
            continue;
        }
        let known = before.iter().chain(&done).find(|outcome| outcome.scenario.model == scenario.model);
        let model = known
            .map(|outcome| outcome.model.clone())
            .or_else(|| resolved(&scenario.model, &facts.presets, &facts.classes, Depth::FIELDS));
        if let Some(outcome) = model.and_then(|model| estimated(scenario, model, comparison.scope)) {
            done.push(Arc::new(outcome));
        }
    }
    done
}

/// The outcomes with the physical model's answers. A scenario whose answer is not there yet shows its earlier one.
fn answered(
    now: &Comparison,
    counted: &[Arc<Outcome>],
    answers: &Answers,
    previous: Option<&Outcomes>,
) -> Vec<Arc<Outcome>> {
    let before = previous.map(|outcomes| outcomes.0.as_slice()).unwrap_or_default();
    let physical = |outcome: &&Arc<Outcome>| outcome.physical.is_some();
    let shown = |outcome: &Arc<Outcome>| {
        let same = before.iter().filter(physical).find(|other| other.scenario.id == outcome.scenario.id);
        let failed = answers.failed.then(|| Err(FAILED.to_owned()));
        let Some(answer) = failed.as_ref().or_else(|| answers.of(now, &outcome.scenario)) else {
            return same.cloned();
        };
        let is_shown = |other: &&Arc<Outcome>| {
            let shown = match (&other.physical, answer) {
                (Some(Ok(shown)), Ok(answer)) => Arc::ptr_eq(shown, answer),
                (Some(Err(shown)), Err(answer)) => shown == answer,
                _ => false,
            };
            shown && other.scenario == outcome.scenario
        };
        match same.filter(is_shown) {
            Some(same) => Some(same.clone()),
            None => Answer::instead(answer, outcome).map(Arc::new),
        }
    };
    counted.iter().filter_map(shown).collect()
}
