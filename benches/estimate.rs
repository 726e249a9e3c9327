//! What an estimate costs. The page estimates on every keystroke, several scenarios at a time, so one estimate of a
//! large batch should stay below 5 µs, and must not grow with the number of requests.

#![expect(clippy::expect_used, reason = "as in tests: a preset that fails is a broken build")]

use divan::{Bencher, black_box};
use rooflens::batch::{Batch, case::Case};
use rooflens::estimate::physical::{Assumptions, Physical};
use rooflens::estimate::vllm::Vllm;
use rooflens::estimate::{Estimator, Method, Scope};
use rooflens::hardware::by_id;
use rooflens::job::{PhysicalAnswer, Question};
use rooflens::layout::Layout;
use rooflens::model::presets::{self, Preset};
use rooflens::model::{ClassTable, ModelSpec, resolve};
use rooflens::scenario::state::Scenario;
use rooflens::settings::Settings;
use rooflens::sweep::{Axis, Measure, sweep};
use std::num::NonZeroU32;

/// Groups of a mixed step: decodes, a verify and a chunk of a prompt.
const MIXED: [&str; 2] = ["240*1@8192,12*4@4096:3,4*512@4608", "2400*1@8192,120*4@4096:3,40*512@4608"];

fn main() {
    divan::main();
}

fn preset(id: &str) -> &'static Preset {
    presets::builtin().iter().find(|preset| preset.id == id).expect("a preset")
}

fn spec(id: &str) -> ModelSpec {
    resolve(&preset(id).config, None, ClassTable::builtin()).expect("a preset resolves")
}

fn tp8() -> Settings {
    let tp = NonZeroU32::new(8).expect("8 is not 0");
    Settings { layout: Layout { tp, ..Layout::default() }, ..Settings::default() }
}

fn batch(case: &str) -> Batch {
    Case::parse(case).expect("a case").batch()
}

/// Three groups, of 256 requests and of 2560.
#[divan::bench(args = MIXED)]
fn estimate_deepseek_v3_tp8(bencher: Bencher, case: &str) {
    let vllm = Vllm::new(&spec("deepseek-v3"), &tp8());
    let batch = batch(case);
    bencher.bench(|| vllm.estimate(black_box(&batch), black_box(Scope::PerGpu)));
}

/// What a change of the layout costs: the fields are divided anew.
#[divan::bench]
fn new_layout_and_estimate_deepseek_v3_tp8(bencher: Bencher) {
    let (spec, settings, batch) = (spec("deepseek-v3"), tp8(), batch(MIXED[0]));
    bencher.bench(|| Vllm::new(black_box(&spec), black_box(&settings)).estimate(black_box(&batch), Scope::PerGpu));
}

/// The physical model: a step of a GPU, counted anew for each kind of layer.
#[divan::bench(args = ["deepseek-v3", "gemma-3-27b", "qwen3.5-35b-a3b"])]
fn physical_tp8(bencher: Bencher, id: &str) {
    let physical = Physical::new(&spec(id), &tp8(), Assumptions::default(), None).expect("described");
    let batch = batch(MIXED[0]);
    bencher.bench(|| physical.estimate(black_box(&batch), black_box(Scope::PerGpu)));
}

/// All that the physical model answers of a scenario: breakdowns of both scopes, memory, times, differences.
#[divan::bench]
fn physical_answer_deepseek_v3_tp8(bencher: Bencher) {
    let (spec, settings, batch) = (spec("deepseek-v3"), tp8(), batch(MIXED[0]));
    let question = Question { method: Method::Physical, hardware: by_id("h200-sxm"), ..Question::default() };
    bencher.bench(|| PhysicalAnswer::new(black_box(&spec), &settings, &batch, &question));
}

/// From a config that was read to a model; the class table is read before.
#[divan::bench(args = ["deepseek-v3", "gemma-3-27b", "qwen3.5-35b-a3b"])]
fn resolve_preset(bencher: Bencher, id: &str) {
    let (config, classes) = (&preset(id).config, ClassTable::builtin());
    bencher.bench(|| resolve(black_box(config), None, classes));
}

/// Eight scenarios at up to 200 values: of the batch, where fields are divided once, and of a layout, where anew.
#[divan::bench(args = [Axis::KvLength, Axis::Requests, Axis::Tp])]
fn sweep_eight_scenarios(bencher: Bencher, axis: Axis) {
    let (spec, mut scenario) = (spec("deepseek-v3"), Scenario::example().expect("an example"));
    scenario.cases = vec![Case::parse(MIXED[0]).expect("a case")];
    let values: Vec<u64> = match axis {
        Axis::Tp => [1, 2, 4, 8, 16, 32, 64, 128].into_iter().cycle().take(200).collect(),
        Axis::Requests => (1..=200).map(|copies| copies * 64).collect(),
        _ => (0..200).map(|step| 8192 + 512 * step).collect(),
    };
    bencher.bench(|| {
        for _ in 0..8 {
            black_box(sweep(black_box(&scenario), &spec, axis, Measure::Time, &values));
        }
    });
}
