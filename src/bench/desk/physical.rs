//! The physical model's side of the page: what the hardware has to do, whether it fits, how long it must take.

use super::Reply;
use super::selected::Selected;
use crate::batch::Phase;
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{Element, View, element, scrolled};
use crate::estimate::{Component, Cost, Quantity};
use crate::format::{NONE, Unit, capacity, duration, grouped, si, significant};
use crate::hardware::Accelerator;
use crate::report::answer::{self, overridden};
use crate::report::figures::{Figures, ROWS, between, expectation};
use crate::report::physics::Physics;
use crate::step::preset::IDEAL;
use crate::step::{OnHardware, part_time};
use crate::units::{Bytes, Seconds};

/// Shows the selected scenario and, beside it, all of them.
pub(super) fn show(all: &[Selected], place: usize, reply: &mut Reply) {
    let Some(selected) = all.get(place) else { return };
    let physics = match selected.physics.as_ref() {
        Ok(physics) => physics,
        Err(reason) => {
            let said = element("p").with("class", "problem").and(format!("The physical model has no answer: {reason}"));
            for block in ["physical", "physical-differ", "physical-operations", "physical-memory", "physical-links"] {
                reply.show(block, (block == "physical").then(|| View::from(said.clone())));
            }
            return reply.tile(NONE, reason);
        }
    };
    tile(selected, physics, reply);
    let said = overridden(physics, &selected.run).map(|said| element("p").with("class", "caution").and(said).into());
    let figures = [headline(selected, physics), scrolled(scenarios(all))];
    reply.show("physical", said.into_iter().chain(figures).chain(notes(selected, physics)));
    reply.show("physical-differ", [scrolled(differ(physics))]);
    reply.show("physical-operations", [scrolled(operations(physics, &selected.outcome.accelerator))]);
    reply.show("physical-memory", memory(physics).into_iter().map(scrolled));
    reply.show("physical-links", [scrolled(links(physics))]);
}

fn whole(amount: Option<u128>) -> String {
    amount.map_or_else(|| NONE.to_owned(), grouped)
}

fn tile(selected: &Selected, physics: &Physics, reply: &mut Reply) {
    let fit = &physics.on.fit;
    let taken = fit.weights();
    let text = if fit.fits() { capacity(taken) } else { "too\u{a0}large".to_owned() };
    let left = fit.stages.iter().filter_map(|stage| stage.left).min();
    let mut title = format!(
        "Weights {} of {} usable on the fullest GPU; {} left for the KV cache, {} tokens",
        capacity(taken),
        capacity(fit.usable),
        left.map_or_else(|| "nothing".to_owned(), capacity),
        whole(fit.tokens())
    );
    if let Some(said) = overridden(physics, &selected.run) {
        title.extend([". ", &said]);
    }
    reply.tile(&text, &title);
}

fn figures(physics: &Physics) -> Figures<'_> {
    Figures::of(&physics.per_gpu, &physics.on, &physics.batch)
}

/// The rows that a reader looks for first.
const HEADLINE: [&str; 5] = ["step", "bound by", "time per output token", "tokens/s per GPU", "price of 10⁶ tokens"];

fn headline(selected: &Selected, physics: &Physics) -> View {
    let Physics { parameters, on, .. } = physics;
    let count = |amount: u128| si(amount as f64, Unit::PARAMETERS).replace(" parameters", "");
    let mut facts: Vec<(String, String)> = Vec::new();
    // Of what is prefilled in this step; an earlier chunk has had its own.
    if physics.batch.groups().iter().any(|group| group.phase == Phase::Prefill && group.tokens > 0) {
        facts.push(("time to first token, in this step".to_owned(), between(on.bound.latency, on.expected.latency)));
    }
    facts.push((
        "parameters, of them active".to_owned(),
        format!("{}, {}", count(parameters.total()), count(parameters.active)),
    ));
    let drafted = physics.batch.verifies();
    for (name, figure) in ROWS.iter().filter(|(name, _)| HEADLINE.contains(name)) {
        let value = figure(&figures(physics));
        let acceptance = selected.run.get("acceptance");
        let said = drafted && *name == "time per output token" && value != NONE;
        let tokens = significant(physics.on.bound.tokens_per_step);
        let value = if said { format!("{value} at acceptance {acceptance}, {tokens} tokens a step") } else { value };
        facts.push(((*name).to_owned(), value));
    }
    facts.retain(|(_, value)| value != NONE);
    let items = facts
        .into_iter()
        .map(|(name, value)| element("div").and(element("dt").and(name)).and(element("dd").and(value)));
    element("dl").with("class", "headline").all(items).into()
}

fn scenarios(all: &[Selected]) -> Element {
    let names: Vec<&str> = std::iter::once("figure").chain(all.iter().map(|selected| selected.name.as_str())).collect();
    let rows = ROWS.iter().filter_map(|(name, figure)| {
        let of = |selected: &Selected| {
            selected.physics.as_ref().as_ref().map_or_else(|_| NONE.to_owned(), |physics| figure(&figures(physics)))
        };
        let texts: Vec<String> = all.iter().map(of).collect();
        texts.iter().any(|text| text != NONE).then(|| row(*name, texts.into_iter().map(Cell::number)))
    });
    table("The scenarios under the physical model", &names).and(element("tbody").all(rows))
}

fn notes(selected: &Selected, physics: &Physics) -> Vec<View> {
    let notes = answer::notes(&selected.outcome);
    let texts = notes.into_iter().map(|(_, text)| text).chain([expectation(&physics.on)]);
    vec![element("ul").with("class", "said").all(texts.map(|text| element("li").and(text))).into()]
}

fn word(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Flops => "FLOPs",
        Quantity::Read => "read",
        Quantity::Write => "written",
    }
}

/// Where the two models differ, and why.
fn differ(physics: &Physics) -> Element {
    let rows = physics.differences.iter().map(|one| {
        let unit = if one.quantity == Quantity::Flops { Unit::FLOP } else { Unit::BYTE };
        let cell = |value: Option<u128>| match value {
            Some(value) => Cell::amount(value, unit),
            None => Cell::number(NONE).exactly("not counted"),
        };
        let what = format!("{}, {}", one.component.title(), word(one.quantity));
        row(what, [cell(one.vllm), cell(one.physical), Cell::text(one.causes.join(" "))])
    });
    table("Why the two models differ, per GPU", &["component", "vllm", "physical", "cause"])
        .with("class", "differ")
        .and(element("tbody").all(rows))
}

fn operations(physics: &Physics, accelerator: &Accelerator) -> Element {
    let OnHardware { step, preset, .. } = &physics.on;
    let heads = ["operation", "FLOPs", "read", "written", "computes in", "at least", preset.name, "bound by"];
    let costs = |cost: Cost| {
        [
            Cell::amount(cost.flops.0, Unit::FLOP),
            Cell::amount(cost.read.0, Unit::BYTE),
            Cell::amount(cost.write.0, Unit::BYTE),
        ]
    };
    let times = |computes: &str, bound: Seconds, expected: Seconds, limit: &str| {
        [Cell::text(computes), Cell::number(duration(bound)), Cell::number(duration(expected)), Cell::text(limit)]
    };
    let several = step.stages.len() > 1;
    let mut rows = Vec::new();
    for stage in &step.stages {
        for one in &stage.operations {
            let name = format!("{}.{}", one.component.name(), one.operation);
            let name = if several { format!("stage {}: {name}", stage.stage + 1) } else { name };
            let computes = one.precision.map_or(NONE, |precision| precision.label());
            let times = times(computes, one.bound, one.with(preset), one.limit.label());
            rows.push(row(name, costs(one.cost).into_iter().chain(times)));
        }
        let name = format!("stage {}: {} layers, with communication and overhead", stage.stage + 1, stage.layers);
        let times = times(NONE, stage.bound(), stage.with(preset), stage.limit().label());
        rows.push(row(name, costs(stage.cost()).into_iter().chain(times)));
    }
    for draft in &step.drafts {
        let name = format!("{}, draft steps before it: {}", Component::Mtp.title(), draft.steps);
        let cost = draft.operations.iter().map(|one| one.cost).sum();
        let times = times(NONE, draft.each(&IDEAL), draft.each(preset), "each");
        rows.push(row(name, costs(cost).into_iter().chain(times)));
    }
    if let Some(part) = physics.draft.as_ref().filter(|_| step.drafts.is_empty()) {
        let (bound, expected) = (part_time(part, accelerator, &IDEAL), part_time(part, accelerator, preset));
        let name = format!("{}, a draft step", Component::Mtp.title());
        let times = times(NONE, bound, Seconds(expected.0 + preset.layer.0), "not part of the step");
        rows.push(row(name, costs(part.cost()).into_iter().chain(times)));
    }
    table("Every operation of the physical model, per GPU", &heads).and(element("tbody").all(rows))
}

/// Weights, cache and what is left, stage by stage where they differ.
fn memory(physics: &Physics) -> Vec<Element> {
    let fit = &physics.on.fit;
    let longest = figures(physics).longest;
    let stages: Vec<String> = fit.stages.iter().map(|stage| format!("stage {}", stage.stage + 1)).collect();
    let heads: Vec<&str> = std::iter::once("memory").chain(stages.iter().map(String::as_str)).collect();
    let line = |name: String, value: &dyn Fn(&crate::memory::StageFit) -> Option<Bytes>| {
        row(
            name,
            fit.stages.iter().map(|stage| match value(stage) {
                Some(bytes) => Cell::number(capacity(bytes)).exactly(format!("{} bytes", grouped(bytes.0))),
                None => Cell::number("too large"),
            }),
        )
    };
    // A stage may lack what another one has: embedding, head, kinds of layers.
    let of = |stage: &crate::memory::StageFit, name: &str| {
        stage.weights.categories.named().find(|(other, _)| *other == name).map_or(0, |(_, bytes)| bytes)
    };
    let mut names: Vec<&'static str> = Vec::new();
    for (name, _) in fit.stages.iter().flat_map(|stage| stage.weights.categories.named()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let line_of = |name: &&'static str| {
        line(format!("weights, {}", name.replace('_', " ")), &|stage| Some(Bytes(of(stage, name))))
    };
    let mut rows: Vec<Element> = names.iter().map(line_of).collect();
    if fit.stages.iter().any(|stage| stage.loaded != stage.weights.total()) {
        rows.push(line("weights, prediction layers".to_owned(), &|stage| Some(stage.weights.mtp)));
    }
    rows.push(line("weights, all".to_owned(), &|stage| Some(stage.loaded)));
    rows.push(line("set aside for activations and graphs".to_owned(), &|stage| Some(stage.reserve)));
    rows.push(line("left for the KV cache".to_owned(), &|stage| stage.left));
    let length = grouped(longest.into());
    rows.push(line(format!("a sequence of {length}, reserved"), &|stage| Some(stage.pool.reserved(longest))));
    rows.push(line(format!("a sequence of {length}, used"), &|stage| Some(stage.pool.used(longest))));
    let caption =
        format!("Memory of a GPU: {} usable, {} taken by the server", capacity(fit.usable), capacity(fit.taken));
    vec![table(caption, &heads).and(element("tbody").all(rows))]
}

fn links(physics: &Physics) -> Element {
    let OnHardware { step, preset, .. } = &physics.on;
    let heads =
        ["collective", "ranks", "times", "payload each", "inside the node", "between nodes", "at least", preset.name];
    let rows = step.stages.iter().flat_map(|stage| {
        stage.collectives.iter().map(move |one| {
            row(
                format!("stage {}: {}", stage.stage + 1, one.name),
                [
                    Cell::number(grouped(one.ranks.into())),
                    Cell::number(grouped(one.times.into())),
                    Cell::number(si(one.payload, Unit::BYTE)),
                    Cell::number(si(one.inside, Unit::BYTE)),
                    Cell::number(si(one.between, Unit::BYTE)),
                    Cell::number(duration(one.time)),
                    Cell::number(duration(one.with(preset))),
                ],
            )
        })
    });
    let rows: Vec<Element> = rows.collect();
    if rows.is_empty() {
        return element("p").with("class", "hint").and("No communication: these GPUs exchange nothing in a step.");
    }
    table("Communication of a rank, all times together", &heads).and(element("tbody").all(rows))
}
