//! What a sweep varies, and which values make sense.

use crate::batch::case::{Case, Kind, LARGEST_TOKENS, Request};
use crate::model::ModelSpec;
use crate::scenario::state::Scenario;
use std::num::NonZeroU32;

/// The most points of a sweep.
pub const MOST_POINTS: usize = 200;

/// The largest sizes that are worth a point.
const LARGEST_TP: u64 = 64;
const LARGEST_PP: u64 = 32;
const LARGEST_DP: u64 = 256;
/// The most requests: a scheduler's batch is rarely larger.
const MOST_REQUESTS: u64 = 4096;
/// The longest KV.
const LONGEST: u64 = 1 << 20;
/// The most new tokens of a request.
const MOST_NEW: u64 = 1 << 17;
/// The most tokens that a verify of drafts has.
const MOST_VERIFIED: u64 = 32;

/// What a sweep varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// All requests of the step, in the mix that the case has: the count of every item is multiplied. A value that
    /// would split the mix is none: of `8192,32*1@8192` there are 33, 66, 99... requests.
    Requests,
    /// The KV length after the step of every request. Requests without a prefix are prompts of that length.
    KvLength,
    /// The new tokens of every prefill; its prefix stays. A case without prefills verifies: each of its requests has
    /// one token fewer as drafts, and 1 is the plain decode.
    NewTokens,
    /// Tensor parallel size.
    Tp,
    /// Pipeline parallel size.
    Pp,
    /// Data parallel size; the case is that of one rank.
    Dp,
    /// Expert parallel size, with expert parallelism on: experts are spread over all TP x DP ranks, so it grows with
    /// the data parallel size while the tensor parallel size stays.
    Ep,
}

impl Axis {
    /// All of them, as an input lists them.
    pub const ALL: [Self; 7] =
        [Self::Requests, Self::KvLength, Self::NewTokens, Self::Tp, Self::Pp, Self::Dp, Self::Ep];

    /// What it is called, along the axis and in an input.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Requests => "requests in the step",
            Self::KvLength => "KV length, tokens",
            Self::NewTokens => "new tokens a request",
            Self::Tp => "tensor parallel size",
            Self::Pp => "pipeline parallel size",
            Self::Dp => "data parallel size",
            Self::Ep => "expert parallel size, TP x DP",
        }
    }

    /// Whether it varies the layout, and so the fields of the model; else the batch.
    #[must_use]
    pub fn is_layout(self) -> bool {
        matches!(self, Self::Tp | Self::Pp | Self::Dp | Self::Ep)
    }

    /// Sensible values for a scenario, ascending, at most [`MOST_POINTS`]: of tensor and pipeline sizes all that vLLM
    /// accepts up to a usual size, of data and expert parallel sizes those in steps of two; of the batch the powers of
    /// two and geometric steps between them; and the value that the scenario has.
    #[must_use]
    pub fn values(self, scenario: &Scenario, spec: &ModelSpec) -> Vec<u64> {
        let accepted = |value: &u64| match self.apply(scenario, *value) {
            Some(other) => !self.is_layout() || other.layout.refusals(spec).is_empty(),
            None => false,
        };
        let candidates: Vec<u64> = match self {
            Self::Requests => {
                let smallest = smallest_mix(scenario).unwrap_or(1);
                geometric(1, (MOST_REQUESTS / smallest).max(16)).iter().map(|n| n.saturating_mul(smallest)).collect()
            }
            Self::KvLength => geometric(Self::shortest(scenario), LONGEST),
            Self::NewTokens if has_prefills(scenario) => geometric(1, MOST_NEW),
            Self::NewTokens => (1..=MOST_VERIFIED).collect(),
            Self::Tp => (1..=LARGEST_TP).collect(),
            Self::Pp => (1..=LARGEST_PP).collect(),
            Self::Dp => (0..=LARGEST_DP.ilog2()).map(|power| 1 << power).collect(),
            Self::Ep => {
                let tp = u64::from(scenario.layout.tp.get());
                (0..=LARGEST_DP.ilog2()).map(|power| tp << power).collect()
            }
        };
        let mut values: Vec<u64> = candidates.into_iter().filter(accepted).collect();
        // What the scenario has is a point of its own sweep, however odd it is.
        if let Some(own) = self.value(scenario).filter(accepted)
            && let Err(place) = values.binary_search(&own)
        {
            values.insert(place, own);
        }
        values
    }

    /// The value that the scenario has; `None` where its requests differ in it.
    #[must_use]
    pub fn value(self, scenario: &Scenario) -> Option<u64> {
        let requests = scenario.case()?.requests();
        let same = |of: fn(&Request) -> u64, which: &dyn Fn(&&Request) -> bool| {
            let mut values = requests.iter().filter(which).map(of);
            let first = values.next()?;
            values.all(|value| value == first).then_some(first)
        };
        match self {
            Self::Requests => requests.iter().try_fold(0, |sum: u64, request| sum.checked_add(request.count())),
            Self::KvLength => same(Request::kv, &|_| true),
            Self::NewTokens => same(Request::query, &|request| !has_prefills(scenario) || is_prefill(request)),
            Self::Tp => Some(scenario.layout.tp.get().into()),
            Self::Pp => Some(scenario.layout.pp.get().into()),
            Self::Dp => Some(scenario.layout.dp.get().into()),
            Self::Ep => {
                let layout = &scenario.layout;
                layout.ep.then(|| u64::from(layout.tp.get()) * u64::from(layout.dp.get()))
            }
        }
    }

    /// The scenario with this value; `None` where it cannot have it. Whether vLLM accepts a layout is
    /// [`Layout::refusals`](crate::layout::Layout::refusals)'s to say.
    #[must_use]
    pub fn apply(self, scenario: &Scenario, value: u64) -> Option<Scenario> {
        let mut other = scenario.clone();
        if self.is_layout() {
            let tp = u64::from(scenario.layout.tp.get());
            let size = if self == Self::Ep { value.is_multiple_of(tp).then(|| value / tp)? } else { value };
            let size = NonZeroU32::new(u32::try_from(size).ok()?)?;
            match self {
                Self::Tp => other.layout.tp = size,
                Self::Pp => other.layout.pp = size,
                _ => other.layout.dp = size,
            }
            other.layout.ep |= self == Self::Ep;
        } else {
            let case = self.requests(scenario, value)?;
            other.cases = vec![case];
            other.active = 0;
        }
        Some(other)
    }

    /// The shown case with this value of the batch; `None` for a value that a request cannot have or that would change
    /// what kind of request it is, and for layouts.
    pub(super) fn requests(self, scenario: &Scenario, value: u64) -> Option<Case> {
        let case = scenario.case()?;
        let (smallest, prefills) = (smallest_mix(scenario)?, has_prefills(scenario));
        let requests = case.requests().iter().map(|request| match self {
            Self::Requests => {
                let copies = value.is_multiple_of(smallest).then(|| value / smallest)?;
                let count = (request.count() / divisor(case)).checked_mul(copies)?;
                Request::new(count, request.query(), request.kv(), request.drafts(), request.chunked()).ok()
            }
            Self::KvLength => {
                let query = if request.kind() == Kind::Fresh { value } else { request.query() };
                remade(request, query, value, request.drafts())
            }
            Self::NewTokens if !prefills || is_prefill(request) => {
                let drafts = if prefills { 0 } else { value.checked_sub(1)? };
                remade(request, value, request.prefix().checked_add(value)?, drafts)
            }
            Self::NewTokens => Some(*request),
            Self::Tp | Self::Pp | Self::Dp | Self::Ep => None,
        });
        Case::new(case.name(), requests.collect::<Option<Vec<_>>>()?).ok()
    }

    /// The shortest KV that leaves every request its prefix.
    fn shortest(scenario: &Scenario) -> u64 {
        let requests = scenario.case().map(Case::requests).unwrap_or_default();
        let least =
            |request: &Request| if request.kind() == Kind::Fresh { 1 } else { request.query().saturating_add(1) };
        requests.iter().map(least).max().unwrap_or(1)
    }
}

/// The request with other numbers, if it stays a prefill, a decode or a verify, and in the same phase.
fn remade(request: &Request, query: u64, kv: u64, drafts: u64) -> Option<Request> {
    let new = Request::new(request.count(), query, kv, drafts, request.chunked()).ok()?;
    let same = new.kind() == request.kind()
        || matches!((new.kind(), request.kind()), (Kind::Decode, Kind::Verify) | (Kind::Verify, Kind::Decode));
    same.then_some(new)
}

fn is_prefill(request: &Request) -> bool {
    !matches!(request.kind(), Kind::Decode | Kind::Verify)
}

fn has_prefills(scenario: &Scenario) -> bool {
    scenario.case().is_some_and(|case| case.requests().iter().any(is_prefill))
}

/// The greatest number that divides the count of every item.
fn divisor(case: &Case) -> u64 {
    let common = |a: u64, b: u64| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    case.requests().iter().map(Request::count).fold(0, common).max(1)
}

/// How many requests the smallest case of the same mix has.
fn smallest_mix(scenario: &Scenario) -> Option<u64> {
    let case = scenario.case()?;
    let divisor = divisor(case);
    case.requests().iter().try_fold(0, |sum: u64, request| sum.checked_add(request.count() / divisor))
}

/// Two to the power of 0/8 to 7/8; the standard function would bring a table of 4 KB into the page.
const EIGHTHS: [f64; 8] = [
    1.0,
    1.090_507_732_665_257_7,
    1.189_207_115_002_721,
    1.296_839_554_651_009_6,
    std::f64::consts::SQRT_2,
    1.542_210_825_407_940_7,
    1.681_792_830_507_429,
    1.834_008_086_409_342_4,
];

/// Powers of two with seven steps between them, fewer than [`MOST_POINTS`], so that there is room for one more.
fn geometric(from: u64, to: u64) -> Vec<u64> {
    let (from, to) = (from.max(1), to.min(LARGEST_TOKENS));
    let mut values = vec![from];
    let mut power = from.checked_next_power_of_two().unwrap_or(to);
    while power <= to && values.len() + 8 < MOST_POINTS {
        for eighth in EIGHTHS {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^54")]
            let value = (power as f64 * eighth).round() as u64;
            if values.last().is_some_and(|last| value > *last) && value <= to {
                values.push(value);
            }
        }
        power = power.saturating_mul(2);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_values_ascend_and_hold_the_powers_of_two() {
        let values = geometric(1, 1 << 20);
        assert!(values.len() < MOST_POINTS && values.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((0..=20).all(|power| values.contains(&(1 << power))));
        assert_eq!(geometric(3, 8), [3, 4, 5, 6, 7, 8]);
        assert_eq!(geometric(9, 4), [9]);
        assert!(geometric(1, u64::MAX).len() < MOST_POINTS);
    }
}
