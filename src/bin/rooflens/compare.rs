//! `rooflens compare`: layouts of a model side by side.

use crate::args::Compare;
use crate::estimate::notes;
use crate::failure::{Failure, print, say};
use rooflens::estimate::Scope;
use rooflens::export::{aligned, printable};
use rooflens::format::{NONE, Unit, capacity, grouped, si};
use rooflens::job::Answer;
use rooflens::report::figures::{Figures, ROWS, expectation};
use rooflens::settings::Settings;
use rooflens::step::OnHardware;

/// A row: what it says, and how a layout's answer says it.
type Row = (&'static str, fn(&Answer) -> String);

/// What is known of a layout without an accelerator.
const EVERYWHERE: &[Row] = &[
    ("weights per GPU", |answer| answer.physical.as_ref().map_or_else(none, |p| capacity(p.loaded))),
    ("KV cache of a token, per GPU", |answer| {
        answer.physical.as_ref().map_or_else(none, |p| si(p.token.0 as f64 / p.token.1.max(1) as f64, Unit::BYTE))
    }),
    ("FLOPs per GPU", |answer| si(answer.breakdown(Scope::PerGpu).cost().flops.as_f64(), Unit::FLOP)),
    ("bytes per GPU", |answer| si(answer.breakdown(Scope::PerGpu).cost().moved().as_f64(), Unit::BYTE)),
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
    let mut push = |name: &str, cells: Vec<String>| {
        if cells.iter().any(|cell| cell != NONE) {
            rows.push(std::iter::once(name.to_owned()).chain(cells).collect());
        }
    };
    push("GPUs", answers.iter().map(|answer| grouped(answer.settings.layout.gpus())).collect());
    if question.hardware.is_some() {
        for (name, figure) in ROWS {
            push(name, answers.iter().map(|answer| figures(answer).map_or_else(none, |f| figure(&f))).collect());
        }
    } else {
        for (name, value) in EVERYWHERE {
            push(name, answers.iter().map(value).collect());
        }
    }
    let head = format!("{}, {}\n", printable(&args.config.name()), printable(args.case.name()));
    if let Some(answer) = answers.first() {
        notes(answer.notes());
    }
    if let Some(on) = answers.first().and_then(on) {
        say("note", &expectation(on));
    }
    print(&(head + &aligned(&rows, 1)))
}

fn none() -> String {
    NONE.to_owned()
}

fn on(answer: &Answer) -> Option<&OnHardware> {
    answer.physical.as_ref()?.on.as_ref()
}

/// What the page's rows are read from.
fn figures(answer: &Answer) -> Option<Figures<'_>> {
    Some(Figures::of(answer.breakdown(Scope::PerGpu), on(answer)?, &answer.batch))
}
