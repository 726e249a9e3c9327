//! The physical model's side of the page: what the hardware has to do, whether it fits, how long it must take.

use super::Reply;
use super::selected::Selected;
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{Element, View, element, scrolled};
use crate::estimate::{Component, Quantity};
use crate::format::{NONE, Unit, capacity, duration, grouped, percent, si};
use crate::hardware::Accelerator;
use crate::report::answer::{self, overridden};
use crate::report::physics::Physics;
use crate::step::part_bound;
use crate::step::preset::CALIBRATED;
use crate::units::{Bytes, Seconds};

/// Shows the selected scenario and, beside it, all of them.
pub(super) fn show(all: &[Selected], place: usize, reply: &mut Reply) {
    let Some(selected) = all.get(place) else { return };
    let physics = match &selected.physics {
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
    reply.show("physical", said.into_iter().chain(figures).chain(notes(selected)));
    reply.show("physical-differ", [scrolled(differ(physics))]);
    reply.show("physical-operations", [scrolled(operations(physics, &selected.outcome.accelerator))]);
    reply.show("physical-memory", memory(physics).into_iter().map(scrolled));
    reply.show("physical-links", [scrolled(links(physics))]);
}

fn whole(amount: Option<u128>) -> String {
    amount.map_or_else(|| NONE.to_owned(), grouped)
}

/// From the bound to the calibrated time: one number would say too much.
fn between(bound: Seconds, calibrated: Seconds) -> String {
    format!("{} – {}", duration(bound), duration(calibrated))
}

fn tile(selected: &Selected, physics: &Physics, reply: &mut Reply) {
    let fit = &physics.fit;
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

fn headline(selected: &Selected, physics: &Physics) -> View {
    let Physics { parameters, fit, step, bound, calibrated, .. } = physics;
    let count = |amount: u128| si(amount as f64, Unit::PARAMETERS).replace(" parameters", "");
    let rate = |a: f64, b: f64| format!("{} – {}", si(b, Unit::TOKEN_PER_SECOND), si(a, Unit::TOKEN_PER_SECOND));
    let share = |a: f64, b: f64| format!("{} – {}", percent(b), percent(a));
    let drafted =
        physics.batch.groups().iter().any(|group| group.phase == crate::batch::Phase::Decode && group.tokens > 1);
    let mut facts = vec![
        ("Step, bound to calibrated", between(bound.latency, calibrated.latency)),
        ("Bound by", step.limit().label().to_owned()),
        ("Tokens/s in all", rate(bound.tokens_per_second, calibrated.tokens_per_second)),
        ("Tokens/s per GPU", rate(bound.per_gpu, calibrated.per_gpu)),
        ("MFU", share(bound.compute_used, calibrated.compute_used)),
        ("MBU", share(bound.bandwidth_used, calibrated.bandwidth_used)),
        ("Parameters, of them active", format!("{}, {}", count(parameters.total()), count(parameters.active))),
        ("Fits", if fit.fits() { format!("yes, {} tokens of KV cache", whole(fit.tokens())) } else { "no".to_owned() }),
    ];
    let has = |phase| physics.batch.groups().iter().any(|group| group.phase == phase && group.tokens > 0);
    if has(crate::batch::Phase::Decode) {
        let mut said = between(bound.per_output_token, calibrated.per_output_token);
        if drafted {
            said = format!("{said} at acceptance {}", selected.run.get("acceptance"));
        }
        facts.insert(1, ("Time per output token", said));
    }
    if has(crate::batch::Phase::Prefill) {
        // Of what is prefilled in this step; an earlier chunk has had its own.
        facts.insert(1, ("Time to first token, in this step", between(bound.latency, calibrated.latency)));
    }
    if let (Some(most), Some(least)) = (calibrated.joules_per_token, bound.joules_per_token) {
        facts.push((
            "Energy of a token, at board power",
            format!("{} – {}", si(least, Unit::JOULE), si(most, Unit::JOULE)),
        ));
    }
    if let (Some(most), Some(least)) = (calibrated.price_per_million, bound.price_per_million) {
        facts.push(("Price of 10⁶ tokens", format!("{least:.3} – {most:.3}")));
    }
    let items = facts
        .into_iter()
        .map(|(name, value)| element("div").and(element("dt").and(name)).and(element("dd").and(value)));
    element("dl").with("class", "headline").all(items).into()
}

/// What of a scenario stands in a row.
type Figure = (&'static str, fn(&Selected, &Physics) -> String);

const FIGURES: &[Figure] = &[
    ("weights per GPU", |_, p| capacity(p.fit.weights())),
    ("KV cache of a token, per GPU", |_, p| {
        let (bytes, every) = p.fit.token();
        si(bytes as f64 / every.max(1) as f64, Unit::BYTE)
    }),
    ("fits", |_, p| if p.fit.fits() { "yes" } else { "no" }.to_owned()),
    ("tokens of KV cache", |_, p| whole(p.fit.tokens())),
    ("sequences of the longest request", |s, p| {
        let longest = s.outcome.case.requests().iter().map(|request| request.kv()).max().unwrap_or(1);
        whole(p.fit.sequences(longest))
    }),
    ("FLOPs per GPU", |_, p| si(p.per_gpu.cost().flops.as_f64(), Unit::FLOP)),
    ("bytes per GPU", |_, p| si(p.per_gpu.cost().moved().as_f64(), Unit::BYTE)),
    ("communication per step", |_, p| {
        duration(Seconds(p.step.stages.iter().flat_map(|stage| &stage.collectives).map(|one| one.time.0).sum()))
    }),
    ("bound by", |_, p| p.step.limit().label().to_owned()),
    ("step, bound", |_, p| duration(p.bound.latency)),
    ("step, calibrated", |_, p| duration(p.calibrated.latency)),
    ("tokens/s per GPU, bound", |_, p| si(p.bound.per_gpu, Unit::TOKEN_PER_SECOND)),
    ("tokens/s per GPU, calibrated", |_, p| si(p.calibrated.per_gpu, Unit::TOKEN_PER_SECOND)),
];

fn scenarios(all: &[Selected]) -> Element {
    let names: Vec<&str> = std::iter::once("figure").chain(all.iter().map(|selected| selected.name.as_str())).collect();
    let rows = FIGURES.iter().map(|(name, figure)| {
        let cell = |selected: &Selected| {
            let text = selected.physics.as_ref().map_or_else(|_| NONE.to_owned(), |physics| figure(selected, physics));
            Cell::number(text)
        };
        row(*name, all.iter().map(cell))
    });
    table("The scenarios under the physical model", &names).and(element("tbody").all(rows))
}

fn notes(selected: &Selected) -> Vec<View> {
    let calibrated = format!(
        "Calibrated: bound / {} + {} a layer, {}. Never mixed up with the bound, which nothing can beat.",
        CALIBRATED.efficiency,
        duration(CALIBRATED.layer),
        CALIBRATED.source
    );
    let notes = answer::notes(&selected.outcome);
    let texts = notes.into_iter().map(|(_, text)| text).chain([calibrated]);
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
    let heads = ["operation", "FLOPs", "read", "written", "computes in", "at least", "bound by"];
    let several = physics.step.stages.len() > 1;
    let rows = physics.step.stages.iter().flat_map(|stage| {
        stage.operations.iter().map(move |one| {
            let name = format!("{}.{}", one.component.name(), one.operation);
            let name = if several { format!("stage {}: {name}", stage.stage + 1) } else { name };
            row(
                name,
                [
                    Cell::amount(one.cost.flops.0, Unit::FLOP),
                    Cell::amount(one.cost.read.0, Unit::BYTE),
                    Cell::amount(one.cost.write.0, Unit::BYTE),
                    Cell::text(one.precision.map_or(NONE, |precision| precision.label())),
                    Cell::number(duration(one.bound)),
                    Cell::text(one.limit.label()),
                ],
            )
        })
    });
    let draft = physics.draft.iter().map(|part| {
        let cost = part.cost();
        let cells = [
            Cell::amount(cost.flops.0, Unit::FLOP),
            Cell::amount(cost.read.0, Unit::BYTE),
            Cell::amount(cost.write.0, Unit::BYTE),
        ];
        let rest = [
            Cell::text(NONE),
            Cell::number(duration(part_bound(part, accelerator))),
            Cell::text("not part of the step"),
        ];
        row(format!("{}, a draft step", Component::Mtp.title()), cells.into_iter().chain(rest))
    });
    table("Every operation of the physical model, per GPU", &heads).and(element("tbody").all(rows.chain(draft)))
}

/// Weights, cache and what is left, stage by stage where they differ.
fn memory(physics: &Physics) -> Vec<Element> {
    let Physics { fit, batch, .. } = physics;
    let longest = batch.groups().iter().map(|group| group.context).max().unwrap_or(1);
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
    let names: Vec<&'static str> = fit
        .stages
        .first()
        .map(|stage| stage.weights.categories.named().map(|(name, _)| name).collect())
        .unwrap_or_default();
    let mut rows: Vec<Element> = names
        .iter()
        .map(|name| {
            let of = |stage: &crate::memory::StageFit| {
                stage.weights.categories.named().find(|(other, _)| other == name).map(|(_, bytes)| Bytes(bytes))
            };
            line(format!("weights, {}", name.replace('_', " ")), &of)
        })
        .collect();
    rows.push(line("weights, all".to_owned(), &|stage| Some(stage.weights.total())));
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
    let heads = ["collective", "ranks", "times", "payload each", "inside the node", "between nodes", "at least"];
    let rows = physics.step.stages.iter().flat_map(|stage| {
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
                ],
            )
        })
    });
    let rows: Vec<Element> = rows.collect();
    let caption =
        if rows.is_empty() { "Communication: none, on one GPU" } else { "Communication of a rank, all times together" };
    table(caption, &heads).and(element("tbody").all(rows))
}
