//! Which layers have a sliding window: the config's own list, else the pattern that its class makes up.

use super::attributes::Attributes;
use super::classes::Class;
use super::origin::Origin;
use crate::json::{Node, Value};

/// How many of the model's layers attend within the sliding window, and by which rule.
///
/// `layers` is the number of layers, `has_window` whether the class left a window, `gemma2_on_top` whether the
/// outermost `model_type` is `gemma2`, for which vLLM knows the pattern without a list.
#[must_use]
pub fn sliding(text: &Attributes<'_>, layers: u64, has_window: bool, gemma2_on_top: bool) -> (u64, Origin) {
    let rule = text.class.and_then(Class::sliding_layers);
    if let Some(list) = text.get("layer_types")
        && let Value::List(types) = list.value.as_ref()
    {
        let last_is_full = rule.and_then(|rule| rule.get("last_full")).is_some_and(Node::is_truthy);
        let named = usize::try_from(layers).map_or(types.as_slice(), |n| types.get(..n).unwrap_or(types));
        let count =
            (0..).zip(named).filter(|(at, kind)| is_sliding(kind) && !(last_is_full && at + 1 == layers)).count();
        return (count as u64, list.origin);
    }
    if let Some(rule) = rule {
        return by_rule(text, rule, layers, has_window);
    }
    if let Some(period) = text.class.and_then(Class::layer_types).filter(|period| !period.is_empty()) {
        let in_period = |from: usize| period.iter().take(from).filter(|kind| is_sliding(kind)).count() as u64;
        let length = period.len() as u64;
        let rest = usize::try_from(layers % length).unwrap_or(0);
        let count = layers / length * in_period(period.len()) + in_period(rest);
        return (count, Origin::Derived(format!("the class repeats {length} kinds of layers")));
    }
    if text.class.is_some_and(|class| class.irregular_layer_types().is_some_and(|kinds| !kinds.iter().any(is_sliding)))
    {
        return (0, Origin::Derived("the class has layers of several kinds, none of them sliding".to_owned()));
    }
    if gemma2_on_top {
        return (layers.div_ceil(2), Origin::Derived("every second layer of Gemma 2, from the first".to_owned()));
    }
    (layers, Origin::Fallback("a window without layer_types holds for all layers"))
}

/// Whether a layer attends within the sliding window, by the rules that [`sliding`] counts with.
#[must_use]
pub fn slides(text: &Attributes<'_>, layers: u64, layer: u64, gemma2_on_top: bool) -> bool {
    let rule = text.class.and_then(Class::sliding_layers);
    let last = layer + 1 == layers;
    if let Some(list) = text.get("layer_types")
        && let Value::List(types) = list.value.as_ref()
    {
        let full = last && rule.and_then(|rule| rule.get("last_full")).is_some_and(Node::is_truthy);
        return !full && usize::try_from(layer).ok().and_then(|at| types.get(at)).is_some_and(is_sliding);
    }
    if let Some(rule) = rule {
        return slides_by_rule(text, rule, layers, layer);
    }
    if let Some(period) = text.class.and_then(Class::layer_types).filter(|period| !period.is_empty()) {
        let at = usize::try_from(layer).unwrap_or(0) % period.len();
        return period.get(at).is_some_and(is_sliding);
    }
    if text.class.is_some_and(|class| class.irregular_layer_types().is_some_and(|kinds| !kinds.iter().any(is_sliding)))
    {
        return false;
    }
    !gemma2_on_top || layer.is_multiple_of(2)
}

/// A class's rule for one layer. It is asked only where there is a window.
fn slides_by_rule(text: &Attributes<'_>, rule: &Node, layers: u64, layer: u64) -> bool {
    let word = |key| rule.get(key).and_then(Node::text).unwrap_or_default();
    let period = period(text, rule);
    if word("when").starts_with("flag") && !text.truthy("use_sliding_window") {
        return false;
    }
    let from = text.integer("max_window_layers").and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let ends = (layer + 1).is_multiple_of(period);
    match (word("full"), word("sliding")) {
        ("period_end", _) => !(ends || layer + 1 == layers && rule.get("last_full").is_some_and(Node::is_truthy)),
        ("period_start", _) => !layer.is_multiple_of(period),
        ("period_start_from_end", _) => !(layers - 1 - layer.min(layers - 1)).is_multiple_of(period),
        ("first_and_period_end", _) => !(ends || layer == 0),
        (_, "from_max_window_layers") => layer >= from,
        (_, "even_below_max_window_layers") => layer < from && layer.is_multiple_of(2),
        (_, "none") => false,
        (_, "no_rope_period_end") => ends,
        _ => true,
    }
}

fn is_sliding(kind: &Node) -> bool {
    kind.text().is_some_and(|kind| kind.to_ascii_lowercase().contains("sliding"))
}

/// Applies a class's rule. All rules count in closed form: a hostile layer count costs nothing.
fn by_rule(text: &Attributes<'_>, rule: &Node, layers: u64, has_window: bool) -> (u64, Origin) {
    let word = |key| rule.get(key).and_then(Node::text).unwrap_or_default();
    let period = period(text, rule);
    let flag = || text.truthy("use_sliding_window");
    let applies = match word("when") {
        "window" => has_window,
        "flag" => flag(),
        "flag_and_window" => flag() && has_window,
        _ => true,
    };
    let from = text.integer("max_window_layers").and_then(|n| u64::try_from(n).ok()).unwrap_or(0).min(layers);
    let (count, how) = match (word("full"), word("sliding")) {
        _ if !applies => (0, "the class uses no sliding layers here".to_owned()),
        ("period_end", _) => {
            let mut full = layers / period;
            if rule.get("last_full").is_some_and(Node::is_truthy) && !layers.is_multiple_of(period) {
                full += 1;
            }
            (layers - full.min(layers), format!("every {period}th layer is full"))
        }
        ("period_start", _) => {
            (layers - layers.div_ceil(period), format!("every {period}th layer is full, from the first"))
        }
        ("period_start_from_end", _) => {
            (layers - layers.div_ceil(period), format!("every {period}th layer is full, from the last backwards"))
        }
        ("first_and_period_end", _) => {
            let full = layers / period + u64::from(layers > 0 && period > 1);
            (layers - full.min(layers), format!("the first and every {period}th layer are full"))
        }
        (_, "from_max_window_layers") => (layers - from, "layers from max_window_layers on".to_owned()),
        (_, "even_below_max_window_layers") => (from.div_ceil(2), "even layers below max_window_layers".to_owned()),
        (_, "none") => (0, "the class has no sliding layers".to_owned()),
        (_, "no_rope_period_end") => (layers / period, format!("every {period}th layer")),
        _ => (layers, "all layers".to_owned()),
    };
    (count, Origin::Derived(how))
}

/// The period of a rule: the config's own number where the class reads one, else the class's.
fn period(text: &Attributes<'_>, rule: &Node) -> u64 {
    let own = match rule.get("period_key").and_then(Node::text) {
        Some("sliding_window_pattern") => text.integer("sliding_window_pattern"),
        Some("global_attn_every_n_layers") => text.integer("global_attn_every_n_layers"),
        Some("no_rope_layer_interval") => text.integer("no_rope_layer_interval"),
        _ => None,
    };
    let of_class = || rule.get("period").and_then(|node| super::reading::integer(&node.value));
    own.or_else(of_class).and_then(|period| u64::try_from(period).ok()).filter(|period| *period > 0).unwrap_or(1)
}
