//! `rooflens compare`: layouts of a model side by side.

use crate::args::Compare;
use crate::estimate::notes;
use crate::failure::{Failure, print, say};
use rooflens::estimate::Scope;
use rooflens::export::{aligned, printable};
use rooflens::format::{NONE, Unit, capacity, duration, grouped, percent, si};
use rooflens::job::{Answer, OnHardware};
use rooflens::settings::Settings;

/// A row: what it says, and how a layout's answer says it.
type Row = (&'static str, fn(&Answer) -> String);

/// What stands in each row.
const ROWS: &[Row] = &[
    ("GPUs", |answer| grouped(answer.settings.layout.gpus())),
    ("FLOPs per GPU", |answer| si(answer.breakdown(Scope::PerGpu).cost().flops.as_f64(), Unit::FLOP)),
    ("bytes per GPU", |answer| si(answer.breakdown(Scope::PerGpu).cost().moved().as_f64(), Unit::BYTE)),
    ("weights per GPU", |answer| answer.physical.as_ref().map_or_else(none, |p| capacity(p.weights.total()))),
    ("KV bytes of a token", |answer| {
        answer.physical.as_ref().map_or_else(none, |p| si(p.token.0 as f64 / p.token.1.max(1) as f64, Unit::BYTE))
    }),
    ("fits", |answer| on(answer, |on| if on.fit.fits() { "yes" } else { "no" }.to_owned())),
    ("tokens of KV cache", |answer| on(answer, |on| on.fit.tokens().map_or_else(none, grouped))),
    ("step at least", |answer| on(answer, |on| duration(on.step.bound()))),
    ("bound by", |answer| on(answer, |on| on.step.limit().label().to_owned())),
    ("step calibrated", |answer| on(answer, |on| duration(on.calibrated.latency))),
    ("tokens/s at most", |answer| on(answer, |on| si(on.bound.tokens_per_second, Unit::TOKEN_PER_SECOND))),
    ("tokens/s calibrated", |answer| on(answer, |on| si(on.calibrated.tokens_per_second, Unit::TOKEN_PER_SECOND))),
    ("tokens/s per GPU", |answer| on(answer, |on| si(on.calibrated.per_gpu, Unit::TOKEN_PER_SECOND))),
    ("MFU", |answer| on(answer, |on| percent(on.calibrated.compute_used))),
    ("MBU", |answer| on(answer, |on| percent(on.calibrated.bandwidth_used))),
];

/// Prints the table.
pub(crate) fn run(args: &Compare) -> Result<(), Failure> {
    let spec = args.config.load(args.companion.read()?.as_ref())?;
    let question = args.question();
    let mut answers = Vec::new();
    for layout in &args.layouts {
        let settings = Settings { layout: *layout, ..args.settings() };
        for refusal in layout.refusals(&spec) {
            say("warning", &format!("vLLM would refuse {}: {}.", layout.label(), refusal.reason));
        }
        answers.push(Answer::asked(spec.clone(), settings, args.case.batch(), &question)?);
    }
    let mut rows = vec![vec![String::new()]];
    if let Some(head) = rows.first_mut() {
        head.extend(answers.iter().map(|answer| answer.settings.layout.label()));
    }
    for (name, value) in ROWS {
        let cells: Vec<String> = answers.iter().map(value).collect();
        // Without an accelerator there are no times.
        if cells.iter().any(|cell| cell != NONE) {
            rows.push(std::iter::once((*name).to_owned()).chain(cells).collect());
        }
    }
    let head = format!("{}, {}\n", printable(&args.config.name()), printable(args.case.name()));
    if let Some(answer) = answers.first() {
        notes(answer.notes());
    }
    print(&(head + &aligned(&rows, 1)))
}

fn none() -> String {
    NONE.to_owned()
}

fn on(answer: &Answer, value: fn(&OnHardware) -> String) -> String {
    answer.physical.as_ref().and_then(|physical| physical.on.as_ref()).map_or_else(none, value)
}
