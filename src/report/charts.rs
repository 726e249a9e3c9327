//! What the charts draw: texts ready-made, one prefix a group.

use super::{Roof, Summary};
use crate::chart::bars::{BarGroup, BarRow, Bars, Segment};
use crate::chart::roofline::{Mark, Roof as RoofLine, Roofline, Slope};
use crate::chart::theme::{Colour, Parts, Shape, Theme};
use crate::estimate::{Breakdown, Component, Cost, Part, Traffic};
use crate::format::{Scale, Unit, si};
use crate::hardware::{Accelerator, Precision};
use crate::units::{Bytes, Flops};

/// The colour of a component.
#[must_use]
pub fn colour(parts: &Parts, component: Component) -> Colour {
    match component {
        Component::Attention | Component::MlaAttention => parts.attention,
        Component::Ffn => parts.ffn,
        Component::Unembed => parts.unembed,
    }
}

/// The shape of a component's mark on the roofline.
#[must_use]
pub fn shape(component: Component) -> Shape {
    match component {
        Component::Attention | Component::MlaAttention => Shape::Triangle,
        Component::Ffn => Shape::Square,
        Component::Unembed => Shape::Diamond,
    }
}

/// What kinds of memory traffic are called and drawn in.
#[must_use]
pub fn traffic(theme: &Theme, kind: Traffic) -> (&'static str, Colour) {
    match kind {
        Traffic::Weights => ("weights", theme.parts.norm),
        Traffic::Activations => ("activations", theme.parts.router),
        Traffic::KvCache => ("KV cache and queries", theme.parts.communication),
        Traffic::None => ("none", theme.muted),
    }
}

/// FLOPs, bytes read and bytes written, each a bar of components.
#[must_use]
pub fn bars(breakdown: &Breakdown, theme: &Theme) -> Bars {
    let total = breakdown.cost();
    let group = |what: &str, unit: Unit, total: f64, value: fn(&Cost) -> f64| {
        let scale = Scale::for_largest(unit, total);
        let segments = breakdown.parts.iter().map(|part| {
            let amount = value(&part.cost());
            Segment {
                value: amount,
                colour: colour(&theme.parts, part.component),
                label: format!("{}: {}", part.component.title(), scale.text(amount)),
            }
        });
        let row =
            BarRow { key: String::new(), label: String::new(), segments: segments.collect(), total: scale.text(total) };
        BarGroup { heading: what.to_owned(), rows: vec![row] }
    };
    Bars {
        groups: vec![
            group("FLOPs", Unit::FLOP, total.flops.as_f64(), |cost| cost.flops.as_f64()),
            group("Read", Unit::BYTE, total.read.as_f64(), |cost| cost.read.as_f64()),
            group("Written", Unit::BYTE, total.write.as_f64(), |cost| cost.write.as_f64()),
        ],
    }
}

/// Memory traffic per component, each bar by what is moved.
#[must_use]
pub fn traffic_bars(breakdown: &Breakdown, theme: &Theme) -> Bars {
    let largest = breakdown.parts.iter().map(|part| part.cost().moved().as_f64()).fold(0.0, f64::max);
    let scale = Scale::for_largest(Unit::BYTE, largest);
    let row = |part: &Part| BarRow {
        key: String::new(),
        label: part.component.title().to_owned(),
        segments: [Traffic::Weights, Traffic::KvCache, Traffic::Activations]
            .into_iter()
            .map(|kind| {
                let (name, colour) = traffic(theme, kind);
                let amount = moved(part, kind).as_f64();
                let title = part.component.title();
                Segment { value: amount, colour, label: format!("{title}, {name}: {}", scale.text(amount)) }
            })
            .collect(),
        total: scale.text(part.cost().moved().as_f64()),
    };
    Bars { groups: vec![BarGroup { heading: String::new(), rows: breakdown.parts.iter().map(row).collect() }] }
}

/// Bytes of one kind that a component moves.
#[must_use]
pub fn moved(part: &Part, kind: Traffic) -> Bytes {
    part.terms.iter().filter(|term| term.def.traffic == kind).map(|term| term.cost().moved()).sum()
}

/// The roofline of an accelerator with a point for the step and one for each component.
///
/// The roof that counts is solid; the accelerator's other rates, where they differ, are dashed.
#[must_use]
pub fn roofline(breakdown: &Breakdown, accelerator: &Accelerator, roof: &Roof, theme: &Theme) -> Roofline {
    let label = |precision: Precision, rate: f64| format!("{} {}", precision.label(), si(rate, Unit::FLOP_PER_SECOND));
    let ridge = roof.ridge().map(|ridge| format!("ridge {}", si(ridge.0, Unit::INTENSITY)));
    let mut roofs = vec![RoofLine {
        label: label(roof.peak.precision_used, roof.peak.rate.0),
        peak: roof.peak.rate.0,
        dashed: false,
        ridge,
    }];
    for precision in Precision::ALL {
        if let Some(rate) = accelerator.peaks.of(precision).map(|rate| rate.0)
            && roofs.iter().all(|other| (other.peak / rate - 1.0).abs() > 0.01)
        {
            roofs.push(RoofLine { label: label(precision, rate), peak: rate, dashed: true, ridge: None });
        }
    }
    let bandwidth = roof.bandwidth.0;
    let mark = |title: &str, cost: Cost, shape, colour, emphasised| {
        let summary = Summary::of(cost, Some(roof));
        Some(Mark {
            label: format!("{title}: {}", finding(&summary)?),
            intensity: summary.intensity?.0,
            rate: summary.attainable?,
            shape,
            colour,
            emphasised,
        })
    };
    let whole = mark("Whole step", breakdown.cost(), Shape::Circle, theme.ink, false);
    let parts = breakdown.parts.iter().filter_map(|part| {
        let colour = colour(&theme.parts, part.component);
        mark(part.component.title(), part.cost(), shape(part.component), colour, false)
    });
    Roofline {
        roofs,
        bandwidth: Slope {
            label: format!("HBM {}", si(bandwidth, Unit::BYTE_PER_SECOND)),
            bytes_per_second: bandwidth,
        },
        points: parts.chain(whole).collect(),
    }
}

/// What the roofline says of a cost, in words: `452 FLOP/B, compute-bound, at least 65.0 ms`.
#[must_use]
pub fn finding(summary: &Summary) -> Option<String> {
    let intensity = si(summary.intensity?.0, Unit::INTENSITY);
    let time = crate::format::duration(summary.time?);
    Some(format!("{intensity}, {}-bound, at least {time}", summary.bound?.label()))
}

/// A share of a total in words, for a chart's label.
#[must_use]
pub fn share(part: Flops, whole: Flops) -> String {
    if whole.0 == 0 { crate::format::NONE.to_owned() } else { crate::format::percent(part.as_f64() / whole.as_f64()) }
}
