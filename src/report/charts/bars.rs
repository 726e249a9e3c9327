//! Bars of components, operations and kinds of traffic, one row a scenario.
//!
//! A single scenario has no letter, and its totals carry their unit; of several, the heading does. Where a layer is
//! hidden, totals say what is shown of what.

use super::layers::{Layer, kinds, operations};
use super::{components, moved, traffic};
use crate::chart::bars::{BarGroup, BarRow, Bars, Segment};
use crate::chart::theme::{Colour, Theme};
use crate::estimate::{Breakdown, Cost, Part, Term, Traffic};
use crate::format::{Scale, Unit};
use crate::report::Entry;

/// What a group of bars compares.
struct Group {
    what: &'static str,
    unit: Unit,
    value: fn(&Cost) -> f64,
}

const GROUPS: [Group; 3] = [
    Group { what: "FLOPs", unit: Unit::FLOP, value: |cost| cost.flops.as_f64() },
    Group { what: "Read", unit: Unit::BYTE, value: |cost| cost.read.as_f64() },
    Group { what: "Written", unit: Unit::BYTE, value: |cost| cost.write.as_f64() },
];

/// FLOPs, bytes read and bytes written of each scenario, stacked by component.
#[must_use]
pub fn bars(entries: &[Entry<'_>], theme: &Theme, visible: &dyn Fn(Layer) -> bool) -> Bars {
    let layers = components(entries, theme);
    Bars { groups: GROUPS.iter().map(|g| group(entries, g, &layers, visible)).collect(), parted: false }
}

/// The same stacked by operation; [`operations`] is its legend.
#[must_use]
pub fn operation_bars(entries: &[Entry<'_>], theme: &Theme, visible: &dyn Fn(Layer) -> bool) -> Bars {
    let layers = operations(entries, theme);
    Bars { groups: GROUPS.iter().map(|g| group(entries, g, &layers, visible)).collect(), parted: true }
}

/// Memory traffic by what is moved: of one scenario a bar for each component, of several one for each scenario.
#[must_use]
pub fn traffic_bars(entries: &[Entry<'_>], theme: &Theme, visible: &dyn Fn(Layer) -> bool) -> Bars {
    let layers = kinds(theme);
    let traffic = Group { what: "Moved", unit: Unit::BYTE, value: |cost| cost.moved().as_f64() };
    let group = match entries {
        [entry] => composition(entry.breakdown, theme, visible),
        _ => group(entries, &traffic, &layers, visible),
    };
    Bars { groups: vec![group], parted: false }
}

fn group(
    entries: &[Entry<'_>],
    Group { what, unit, value }: &Group,
    layers: &[(Layer, Colour)],
    visible: &dyn Fn(Layer) -> bool,
) -> BarGroup {
    let largest = entries.iter().map(|entry| value(&entry.breakdown.cost())).fold(0.0, f64::max);
    let scale = Scale::for_largest(*unit, largest);
    let alone = entries.len() == 1;
    let row = |entry: &Entry<'_>| {
        let whole = value(&entry.breakdown.cost());
        let (mut shown, mut hidden) = (0.0, false);
        let mut segments = Vec::new();
        for (layer, colour) in layers {
            let amount = value(&cost(entry.breakdown, *layer, layers));
            if !visible(*layer) {
                hidden |= amount > 0.0;
                continue;
            }
            shown += amount;
            let title = match layer {
                Layer::Operation(component, name) if *name != component.title() => {
                    format!("{}, {name}", component.title())
                }
                layer => layer.title().to_owned(),
            };
            let before = if alone { String::new() } else { format!("{} {}\n", entry.key, entry.name) };
            let share = if whole > 0.0 { crate::format::percent(amount / whole) } else { "0%".to_owned() };
            let label = if alone && matches!(layer, Layer::Component(_)) {
                format!("{title}: {}", scale.text(amount))
            } else {
                format!("{before}{title}: {} ({share})", scale.text(amount))
            };
            segments.push(Segment { value: amount, colour: *colour, label });
        }
        BarRow {
            key: if alone { String::new() } else { entry.key.to_string() },
            label: if alone { String::new() } else { entry.name.to_owned() },
            segments,
            total: total(&scale, shown, whole, hidden, alone),
        }
    };
    BarGroup {
        heading: if alone { (*what).to_owned() } else { format!("{what}, {}", scale.symbol()) },
        rows: entries.iter().map(row).collect(),
    }
}

/// The traffic of one scenario, component by component.
fn composition(breakdown: &Breakdown, theme: &Theme, visible: &dyn Fn(Layer) -> bool) -> BarGroup {
    let largest = breakdown.parts.iter().map(|part| part.cost().moved().as_f64()).fold(0.0, f64::max);
    let scale = Scale::for_largest(Unit::BYTE, largest);
    let row = |part: &Part| {
        let title = part.component.title();
        let (mut shown, mut hidden) = (0.0, false);
        let mut segments = Vec::new();
        for kind in [Traffic::Weights, Traffic::KvCache, Traffic::Activations] {
            let amount = moved(part, kind).as_f64();
            if visible(Layer::Traffic(kind)) {
                let (name, colour) = traffic(theme, kind);
                shown += amount;
                let label = format!("{title}, {name}: {}", scale.text(amount));
                segments.push(Segment { value: amount, colour, label });
            } else {
                hidden |= amount > 0.0;
            }
        }
        let whole = part.cost().moved().as_f64();
        BarRow {
            key: String::new(),
            label: title.to_owned(),
            segments,
            total: total(&scale, shown, whole, hidden, true),
        }
    };
    BarGroup { heading: String::new(), rows: breakdown.parts.iter().map(row).collect() }
}

/// `129 TFLOP`; where a layer is hidden `78.8 of 129 TFLOP`; bare numbers where the heading has the unit.
fn total(scale: &Scale, shown: f64, whole: f64, hidden: bool, with_unit: bool) -> String {
    let end = if with_unit { scale.text(whole) } else { scale.cell(whole) };
    if hidden { format!("{} of {end}", scale.cell(shown)) } else { end }
}

/// What a layer costs in a breakdown.
fn cost(breakdown: &Breakdown, layer: Layer, layers: &[(Layer, Colour)]) -> Cost {
    let within = |component, term: &Term| {
        let operation = Layer::Operation(component, term.def.operation);
        match layer {
            Layer::Component(other) => other == component,
            Layer::Operation(..) => layer == operation,
            Layer::Rest => layers.iter().all(|(other, _)| *other != operation),
            Layer::Traffic(kind) => term.def.traffic == kind,
        }
    };
    let terms = breakdown.parts.iter().flat_map(|part| part.terms.iter().map(|term| (part.component, term)));
    terms.filter(|(component, term)| within(*component, term)).map(|(_, term)| term.cost()).sum()
}
