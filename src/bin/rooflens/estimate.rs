//! `rooflens estimate`: one model, some batches, a report.

use crate::args::{Estimate, Format};
use crate::failure::{Failure, print, say};
use crate::input::Source;
use rooflens::batch::Batch;
use rooflens::export::{Case, Csv, Exporter, Json, Markdown, Report, Table};
use rooflens::format::{did_you_mean, quoted};
use rooflens::job::Answer;
use rooflens::layout::Refusal;
use rooflens::model::{ModelSpec, Note, Weight, quantization};
use rooflens::report::engine_note;
use rooflens::settings::{QuantizationChoice, Settings};

/// Estimates and prints.
pub(crate) fn run(args: &Estimate) -> Result<(), Failure> {
    let batches = batches(args)?;
    let config = args.config.as_ref().unwrap_or(&Source::Stdin);
    let spec = config.load(args.companion.read()?.as_ref())?;
    let (settings, question) = (args.settings(), args.question());
    let cases = batches.into_iter().map(|(name, batch)| {
        let answer = Answer::asked(spec.clone(), settings.clone(), batch, &question)?;
        Ok(Case { name, answer })
    });
    let cases = cases.collect::<Result<Vec<_>, Failure>>()?;
    let (model, scope) = (config.name(), args.scope());
    let text = exporter(args.format).export(&Report { model: &model, scope, cases: &cases })?;
    // An answer in JSON holds them.
    if !matches!(args.format, Format::Json) {
        remarks(&spec, &settings, cases.first().map(|case| &case.answer));
    }
    print(&text)
}

fn exporter(format: Format) -> &'static dyn Exporter {
    match format {
        Format::Table => &Table,
        Format::Json => &Json,
        Format::Csv => &Csv,
        Format::Markdown => &Markdown,
    }
}

/// The batches by name: the cases, then the requests together.
fn batches(args: &Estimate) -> Result<Vec<(String, Batch)>, Failure> {
    let mut batches: Vec<_> = args.cases.iter().map(|case| (case.name().to_owned(), case.batch())).collect();
    if !args.requests.is_empty() {
        batches.push(("requests".to_owned(), Batch::new(args.requests.iter().copied())));
    }
    if batches.is_empty() {
        let sentence = "There is no batch to estimate; give one with --case NAME=REQS, such as `--case \
                        decode=32*1@8192`, or with --request N,C,PHASE, such as `--request 1,8192,decode`.";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    Ok(batches)
}

/// Says what a reader of the numbers must know.
fn remarks(spec: &ModelSpec, settings: &Settings, answer: Option<&Answer>) {
    for refusal in settings.layout.refusals(spec) {
        say("warning", &sentence(&refusal));
    }
    if let QuantizationChoice::Method(method) = &settings.quantization
        && !quantization::is_known(method)
    {
        let known = quantization::ONE_BYTE.iter().chain(&quantization::HALF_BYTE);
        let alike = known.map(|name| (strsim::jaro_winkler(name, method), *name)).max_by(|a, b| a.0.total_cmp(&b.0));
        let meant = alike.filter(|(likeness, _)| *likeness > 0.8).map(|(_, name)| name);
        let text = format!("vLLM has no quantization method {}{}", quoted(method), did_you_mean(meant));
        say("warning", &text);
    }
    match answer.filter(|answer| answer.physical.is_some()) {
        Some(answer) => notes(answer.notes()),
        None => {
            if let Some(note) = engine_note(settings, spec) {
                say("note", &note);
            }
            notes(&spec.notes);
        }
    }
}

/// Says the notes on a reading.
pub(crate) fn notes<'a>(notes: impl IntoIterator<Item = &'a Note>) {
    for note in notes {
        say(if note.weight == Weight::Strong { "warning" } else { "note" }, &note.text);
    }
}

fn sentence(Refusal { setting, reason, fits }: &Refusal) -> String {
    let fits = fits.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let fitting = if fits.is_empty() { String::new() } else { format!("; {setting} could be {fits}") };
    format!("vLLM would refuse this layout: {reason}{fitting}.")
}
