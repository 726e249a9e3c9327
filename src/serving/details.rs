//! The JSON behind `MFU details: `: sums over an interval, rounded to one decimal.

use super::exposition::number;
use crate::batch::Sums;
use crate::json::{JsonError, Misfit, Node, Place, Position, Value, parse};

/// What the estimator counted in an interval, per GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Sums over the prefills of all steps.
    pub prefill: Sums,
    /// Sums over the decodes of all steps.
    pub decode: Sums,
    /// How many steps were summed; `None` where that is not said.
    pub batches: Option<u64>,
    /// FLOPs by `component.operation`.
    pub flops: Vec<Figure>,
    /// Bytes read.
    pub read: Vec<Figure>,
    /// Bytes written.
    pub write: Vec<Figure>,
    /// Length of the interval in seconds.
    pub duration: Option<f64>,
    /// The share of the interval that the estimator itself took, in percent.
    pub overhead_pct: Option<f64>,
}

/// A rounded amount as it was printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// `component.operation`.
    pub key: String,
    /// As printed: `12.3TF`.
    pub printed: String,
    /// The amount: 12.3e12.
    pub amount: f64,
    /// Half of the last digit that is printed: the amount is exact within this.
    pub within: f64,
}

/// Details that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DetailsError {
    /// No JSON.
    #[error("no JSON: at {}: found {}, expected {}.", .0.at, .0.found, .0.expected)]
    Json(JsonError),
    /// A value that is not what it should be.
    #[error("at {at}, `{}`: found {}; expected {}.", .misfit.path, .misfit.found, .misfit.expected)]
    Misfit {
        /// The place within the JSON.
        at: Position,
        /// What and where.
        misfit: Misfit,
    },
}

/// Reads the JSON.
///
/// # Errors
/// Where it is none, lacks `flops_breakdown`, or holds something else where a number should be.
pub(super) fn read(text: &str) -> Result<Details, DetailsError> {
    let document = parse(text).map_err(DetailsError::Json)?;
    details(&Place::root(&document.root))
        .map_err(|misfit| DetailsError::Misfit { at: Position::of(text, misfit.offset), misfit })
}

fn details(root: &Place<'_>) -> Result<Details, Misfit> {
    let context = root.member("context_breakdown");
    let sum = |key: &str| -> Result<u128, Misfit> {
        let place = context.as_ref().and_then(|context| context.member(key));
        place.map_or(Ok(0), |place| place.whole().map(u128::from))
    };
    let sums = |requests: &str, phase: &str| -> Result<Sums, Misfit> {
        Ok(Sums {
            requests: sum(requests)?,
            tokens: sum(&format!("{phase}_num_tokens"))?,
            context: sum(&format!("{phase}_context_len"))?,
            product: sum(&format!("{phase}_token_context_product"))?,
        })
    };
    let suffixed = |key: &str, suffix: &str| {
        let text = root.member(key).and_then(|place| place.node().text().map(str::to_owned))?;
        number(text.trim().strip_suffix(suffix)?)
    };
    Ok(Details {
        prefill: sums("num_prefill_requests", "prefill")?,
        decode: sums("num_decode_requests", "decode")?,
        batches: root.member("num_batches").map(|place| place.whole()).transpose()?,
        flops: figures(&root.required("flops_breakdown", "FLOPs by `component.operation`")?, &["F", "FLOP", "FLOPs"])?,
        read: root.member("num_read_bytes_breakdown").map_or(Ok(Vec::new()), |place| figures(&place, &["B"]))?,
        write: root.member("num_write_bytes_breakdown").map_or(Ok(Vec::new()), |place| figures(&place, &["B"]))?,
        duration: suffixed("duration", "s"),
        overhead_pct: suffixed("mfu_calc_overhead", "%"),
    })
}

fn figures(place: &Place<'_>, units: &[&str]) -> Result<Vec<Figure>, Misfit> {
    if !place.node().is_object() {
        return Err(place.misfit("an object"));
    }
    let members = place.node().members().iter();
    members
        .map(|member| {
            let (amount, within) = amount(&member.node, units).ok_or_else(|| Misfit {
                path: format!("{}.{}", place.path(), member.key),
                offset: member.node.span.start,
                found: member.node.describe(),
                expected: format!("an amount such as \"12.3T{}\"", units.first().copied().unwrap_or_default()),
            })?;
            let printed = member.node.text().map_or_else(|| member.node.to_compact(), str::to_owned);
            Ok(Figure { key: member.key.clone(), printed, amount, within })
        })
        .collect()
}

/// An amount and its rounding. vLLM prints `TF` and `GB` with one decimal; other prefixes and digits are read too, and
/// a bare number counts as exact.
fn amount(node: &Node, units: &[&str]) -> Option<(f64, f64)> {
    let text = match &node.value {
        Value::Int(value) => return Some((*value as f64, 0.0)),
        Value::Text(text) => text.trim(),
        _ => return None,
    };
    let end = text.find(|c: char| c.is_alphabetic() || c.is_whitespace())?;
    let (digits, unit) = text.split_at_checked(end)?;
    let unit = unit.trim_start();
    let prefix = units.iter().find_map(|suffix| unit.strip_suffix(suffix))?;
    let factor = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        _ => return None,
    };
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let half = 0.5 * crate::decimal::power_of_ten(-i32::try_from(decimals).ok()?);
    let value = number(digits).filter(|value| value.is_finite())?;
    Some((value * factor, half * factor))
}
