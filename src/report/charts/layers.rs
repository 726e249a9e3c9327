//! The layers that bars are stacked of: what a legend lists and can hide.

use super::{colour, traffic};
use crate::chart::theme::{Colour, Theme};
use crate::estimate::{Component, Cost, Term, Traffic};
use crate::report::Entry;

/// The most operations that have a colour of their own.
const MOST: usize = 9;

/// A layer of stacked bars, an entry of a legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// A component.
    Component(Component),
    /// An operation of a component, by name.
    Operation(Component, &'static str),
    /// The operations that have no layer of their own.
    Rest,
    /// A kind of memory traffic.
    Traffic(Traffic),
}

/// The filter that shows every layer.
#[must_use]
pub fn all(_: Layer) -> bool {
    true
}

impl Layer {
    /// Its name in a legend; an operation's without its component.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Component(component) => component.title(),
            Self::Operation(_, name) => name,
            Self::Rest => "other operations",
            Self::Traffic(kind) => traffic(&Theme::LIGHT, kind).0,
        }
    }

    /// The component that an operation belongs to, or the component itself.
    #[must_use]
    pub fn component(self) -> Option<Component> {
        match self {
            Self::Component(component) | Self::Operation(component, _) => Some(component),
            Self::Rest | Self::Traffic(_) => None,
        }
    }
}

/// The components that occur in any scenario, with their colours.
#[must_use]
pub fn components(entries: &[Entry<'_>], theme: &Theme) -> Vec<(Layer, Colour)> {
    let mut layers: Vec<(Layer, Colour)> = Vec::new();
    for part in entries.iter().flat_map(|entry| &entry.breakdown.parts) {
        let layer = Layer::Component(part.component);
        if layers.iter().all(|(other, _)| *other != layer) {
            layers.push((layer, colour(&theme.parts, part.component)));
        }
    }
    layers
}

/// The kinds of memory traffic, with their colours.
#[must_use]
pub fn kinds(theme: &Theme) -> Vec<(Layer, Colour)> {
    let kinds = [Traffic::Weights, Traffic::KvCache, Traffic::Activations];
    kinds.map(|kind| (Layer::Traffic(kind), traffic(theme, kind).1)).to_vec()
}

/// The operations that matter most in any scenario and quantity, in the order of the estimate, and one layer for the
/// rest. Operations of a component have shades of its colour, the largest its own.
#[must_use]
pub fn operations(entries: &[Entry<'_>], theme: &Theme) -> Vec<(Layer, Colour)> {
    let mut found: Vec<(Component, &'static str, f64)> = Vec::new();
    for entry in entries {
        let whole = entry.breakdown.cost();
        for part in &entry.breakdown.parts {
            for term in &part.terms {
                let name = term.def.operation;
                if found.iter().any(|(component, other, _)| (*component, *other) == (part.component, name)) {
                    continue;
                }
                found.push((part.component, name, 0.0));
            }
            for (_, name, weight) in found.iter_mut().filter(|(component, ..)| *component == part.component) {
                let cost = part.terms.iter().filter(|term| term.def.operation == *name).map(Term::cost).sum();
                *weight = weight.max(largest_share(&cost, &whole));
            }
        }
    }
    let mut weights: Vec<f64> = found.iter().map(|(.., weight)| *weight).collect();
    crate::chart::order::sort(&mut weights, |a, b| b.total_cmp(a));
    let rest = found.len() > MOST + 1;
    let least = weights.get(MOST - 1).copied().filter(|_| rest).unwrap_or(0.0);
    let kept: Vec<_> = found.iter().filter(|(.., weight)| *weight >= least).take(MOST + 1).collect();
    let mut layers: Vec<(Layer, Colour)> = kept
        .iter()
        .map(|(component, name, weight)| {
            let heavier = |other: &&&(Component, &str, f64)| other.0 == *component && other.2 > *weight;
            let shade = shade(colour(&theme.parts, *component), kept.iter().filter(heavier).count(), theme);
            (Layer::Operation(*component, name), shade)
        })
        .collect();
    // In the order of components, so that shades of one colour stand together.
    crate::chart::order::sort(&mut layers, |a, b| a.0.component().cmp(&b.0.component()));
    if rest {
        layers.push((Layer::Rest, theme.parts.other));
    }
    layers
}

fn largest_share(cost: &Cost, whole: &Cost) -> f64 {
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    share(cost.flops.as_f64(), whole.flops.as_f64())
        .max(share(cost.read.as_f64(), whole.read.as_f64()))
        .max(share(cost.write.as_f64(), whole.write.as_f64()))
}

/// The colour itself, then by turns lighter and darker.
fn shade(colour: Colour, rank: usize, theme: &Theme) -> Colour {
    match rank {
        0 => colour,
        1 => colour.mix(theme.surface, 0.35),
        2 => colour.mix(theme.ink, 0.4),
        3 => colour.mix(theme.surface, 0.6),
        4 => colour.mix(theme.ink, 0.65),
        _ => colour.mix(theme.muted, 0.55),
    }
}
