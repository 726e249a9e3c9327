//! What a server logged of an interval, term by term beside our estimate for the sums that it logged along.
//!
//! The log sums B steps (`num_batches`) and prints one decimal. Ours must be the sum over the same steps, of which only
//! sums over their requests are known, so it is a range, from `low` to `high`:
//!
//! - terms that are linear in those sums are the same for the steps together and one by one (but for what truncation
//!   drops, less than 1 a step);
//! - weights are read once a step: B times as much, exact;
//! - weights of routed experts are read as far as tokens reach them, min(N, E) experts a step: at most min(N, B E) in
//!   all, at least min(N, E), if one step had all tokens;
//! - with expert parallelism each step's token-expert pairs are divided by the ranks and rounded down, which drops less
//!   than one pair a step;
//! - layers with a sliding window need every request's KV length: not comparable, and ours is at most the full
//!   attention that is shown.
//!
//! A row agrees if the printed value, with its rounding, meets the range.

use super::details::{Details, Figure};
use crate::estimate::vllm::{PhaseSums, Vllm};
use crate::estimate::{EstimateError, Quantity, Scope, Symbol, Term, Traffic};

/// One term, theirs and ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `component.operation`.
    pub key: String,
    /// What it counts.
    pub quantity: Quantity,
    /// As the server printed it.
    pub theirs: Option<Figure>,
    /// The least and the most that ours can be.
    pub ours: Option<Range>,
    /// Whether they agree.
    pub verdict: Verdict,
}

/// From the least to the most, in FLOPs or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub low: u128,
    /// The most.
    pub high: u128,
}

/// Whether a term agrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within what they print.
    Equal,
    /// The printed value lies in a range that cannot be made narrower.
    Possible,
    /// They do not agree.
    Differs,
    /// Sums over requests do not tell.
    NotComparable(&'static str),
    /// Only the server has the term: another model, quantization or version.
    OnlyTheirs,
    /// Only we have the term.
    OnlyOurs,
}

impl Range {
    /// The middle as a float, for showing.
    #[must_use]
    pub fn middle(&self) -> f64 {
        (self.low as f64).midpoint(self.high as f64)
    }

    /// Whether both ends print alike as far as the server prints.
    fn is_within(&self, half: f64) -> bool {
        self.high as f64 - self.low as f64 <= half
    }
}

impl Verdict {
    /// In words.
    #[must_use]
    pub fn text(&self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Possible => "possible: depends on how tokens fell to the steps",
            Self::Differs => "differs",
            Self::NotComparable(why) => why,
            Self::OnlyTheirs => "only the server counts it",
            Self::OnlyOurs => "the server does not count it",
        }
    }
}

const WINDOW: &str = "not comparable: a sliding window needs each request's KV length";
const STEPS: &str = "not comparable: the log does not say over how many steps it sums";

/// Compares; rows are in our order, then those that only the server has.
///
/// # Errors
/// Where a number passes 2^120.
pub fn compare(details: &Details, vllm: &Vllm) -> Result<Vec<Row>, EstimateError> {
    let sums = PhaseSums { prefill: details.prefill, decode: details.decode };
    let breakdown = vllm.estimate_sums(&sums, Scope::PerGpu)?;
    let windowed = !vllm.sums_suffice(&sums);
    let mut rows = Vec::new();
    for (quantity, theirs) in
        [(Quantity::Flops, &details.flops), (Quantity::Read, &details.read), (Quantity::Write, &details.write)]
    {
        let first = rows.len();
        for part in &breakdown.parts {
            // The vllm model has one sheet a component.
            let value =
                |symbol| part.sheets.first().and_then(|sheet| sheet.values.get(symbol).truncated()).unwrap_or(0);
            let (experts, pairs) = (value(Symbol::ActiveExperts), value(Symbol::RoutedTokens));
            let all = vllm.ffn.as_ref().map_or(0, |ffn| u128::from(ffn.experts / ffn.ffn_ep.max(1)));
            let spread = vllm.ffn.as_ref().is_ok_and(|ffn| ffn.ffn_ep > 1);
            for term in part.terms.iter().filter(|term| term.def.quantity == quantity) {
                let key = format!("{}.{}", part.component.name(), term.def.name);
                let steps = Steps { batches: details.batches, experts, pairs, all, spread };
                let ours = steps.range(term);
                let theirs = theirs.iter().find(|figure| figure.key == key).cloned();
                let uncertain =
                    windowed && uses(term, &[Symbol::TokenWindow, Symbol::PrefillWindow, Symbol::DecodeWindow]);
                let verdict = match (&theirs, ours) {
                    (None, _) => Verdict::OnlyOurs,
                    (_, None) => Verdict::NotComparable(STEPS),
                    (_, Some(_)) if uncertain => Verdict::NotComparable(WINDOW),
                    (Some(theirs), Some(ours)) => verdict(theirs, ours),
                };
                rows.push(Row { key, quantity, theirs, ours, verdict });
            }
        }
        let known: Vec<String> = rows.iter().skip(first).map(|row| row.key.clone()).collect();
        rows.extend(theirs.iter().filter(|figure| !known.contains(&figure.key)).map(|figure| Row {
            key: figure.key.clone(),
            quantity,
            theirs: Some(figure.clone()),
            ours: None,
            verdict: Verdict::OnlyTheirs,
        }));
    }
    Ok(rows)
}

fn verdict(theirs: &Figure, ours: Range) -> Verdict {
    // Floats of both sides: a part in 10^9 more decides nothing that is printed.
    let slack = theirs.within + theirs.amount.abs() * 1e-9;
    let meets = ours.high as f64 >= theirs.amount - slack && ours.low as f64 <= theirs.amount + slack;
    match (meets, ours.is_within(slack)) {
        (true, true) => Verdict::Equal,
        (true, false) => Verdict::Possible,
        (false, _) => Verdict::Differs,
    }
}

fn uses(term: &Term, symbols: &[Symbol]) -> bool {
    term.def.formula.symbols().iter().any(|symbol| symbols.contains(symbol))
}

/// What is known of the steps that were summed.
struct Steps {
    batches: Option<u64>,
    /// Experts touched if all tokens were in one step.
    experts: u128,
    /// Token-expert pairs of all steps.
    pairs: u128,
    /// Experts of a rank.
    all: u128,
    /// Whether pairs are divided by ranks.
    spread: bool,
}

impl Steps {
    /// What a term, computed as if all steps were one, can be over the steps; `None` where their number must be known.
    fn range(&self, term: &Term) -> Option<Range> {
        let amount = term.amount;
        let batches = self.batches.map(u128::from);
        if batches == Some(1) {
            return Some(Range { low: amount, high: amount });
        }
        if uses(term, &[Symbol::ActiveExperts]) {
            // The term is linear in the experts touched.
            let most = self.pairs.min(self.all.saturating_mul(batches?));
            let high = if self.experts == 0 { 0 } else { scaled(amount, most, self.experts) };
            let low = if self.spread { less_pairs(amount, self.experts, batches?) } else { amount };
            return Some(Range { low, high: high.max(amount) });
        }
        if term.def.traffic == Traffic::Weights {
            let high = amount.saturating_mul(batches?);
            return Some(Range { low: high, high });
        }
        // Truncation of each step drops less than 1.
        let low = amount.saturating_sub(batches.unwrap_or(0));
        if self.spread && uses(term, &[Symbol::RoutedTokens]) {
            return Some(Range { low: less_pairs(low, self.pairs, batches?), high: amount });
        }
        Some(Range { low, high: amount })
    }
}

/// An amount that is linear in `of`, with one less for each step.
fn less_pairs(amount: u128, of: u128, batches: u128) -> u128 {
    if of == 0 { 0 } else { scaled(amount, of.saturating_sub(batches), of) }
}

/// amount * by / of, without passing 128 bits where the result does not; rounded down.
fn scaled(amount: u128, by: u128, of: u128) -> u128 {
    match amount.checked_mul(by) {
        Some(product) => product / of,
        None => (amount / of).saturating_mul(by),
    }
}
