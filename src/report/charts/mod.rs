//! What the charts draw, for one scenario and for several: texts ready-made, one prefix a group.

mod bars;
mod layers;
mod lines;
mod roofline;

pub use bars::{bars, operation_bars, traffic_bars};
pub use layers::{Layer, all, components, kinds, operations};
pub use lines::{Swept, sweep_lines, sweep_scale, sweep_x_tick, sweep_y_tick};
pub use roofline::{Measured, roofline};

use super::Summary;
use crate::chart::theme::{Colour, Parts, Shape, Theme};
use crate::estimate::{Component, Part, Traffic};
use crate::format::{Unit, si};
use crate::units::{Bytes, Flops};

/// The colour of a component.
#[must_use]
pub fn colour(parts: &Parts, component: Component) -> Colour {
    match component {
        Component::MlaAttention => parts.attention,
        // Another one: models of both kinds may stand beside each other.
        Component::Attention => parts.embed,
        Component::Ffn => parts.ffn,
        Component::Unembed => parts.unembed,
        Component::Embedding => parts.other,
        Component::LinearAttention => parts.attention,
        Component::Norm => parts.norm,
        Component::Mtp => parts.router,
    }
}

/// The shape of a component's mark on the roofline.
#[must_use]
pub fn shape(component: Component) -> Shape {
    match component {
        Component::MlaAttention => Shape::Triangle,
        Component::Attention => Shape::Down,
        Component::Ffn => Shape::Square,
        Component::Unembed => Shape::Diamond,
        Component::Embedding | Component::Norm | Component::Mtp => Shape::Diamond,
        Component::LinearAttention => Shape::Down,
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

/// Bytes of one kind that a component moves.
#[must_use]
pub fn moved(part: &Part, kind: Traffic) -> Bytes {
    part.terms.iter().filter(|term| term.def.traffic == kind).map(|term| term.cost().moved()).sum()
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

#[cfg(test)]
mod tests;
