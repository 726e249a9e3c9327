//! The rows of the operations table: components, the operations in them, and their terms.

use super::{Roof, Summary};
use crate::estimate::{Breakdown, Component, Part, Term};
use crate::hardware::Accelerator;

/// A component with its operations.
#[derive(Clone, Debug)]
pub struct PartRows<'a> {
    /// Which component.
    pub component: Component,
    /// Its sums.
    pub summary: Summary,
    /// Its operations, in order.
    pub operations: Vec<OperationRow<'a>>,
    /// The part itself, for the values behind its formulas.
    pub part: &'a Part,
}

/// An operation: the terms that run as one step on the GPU.
#[derive(Clone, Debug)]
pub struct OperationRow<'a> {
    /// Its name.
    pub name: &'static str,
    /// Its sums.
    pub summary: Summary,
    /// Its terms, in order.
    pub terms: Vec<&'a Term>,
}

/// What rows are put in order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// FLOPs.
    Flops,
    /// Bytes read.
    Read,
    /// Bytes written.
    Written,
    /// FLOPs per byte; what moves nothing comes last.
    Intensity,
}

impl SortBy {
    /// All of them, in the order of the columns.
    pub const ALL: [Self; 4] = [Self::Flops, Self::Read, Self::Written, Self::Intensity];

    fn of(self, summary: &Summary) -> f64 {
        let cost = &summary.cost;
        match self {
            Self::Flops => cost.flops.as_f64(),
            Self::Read => cost.read.as_f64(),
            Self::Written => cost.write.as_f64(),
            Self::Intensity => summary.intensity.map_or(-1.0, |intensity| intensity.0),
        }
    }
}

/// Puts components, and the operations in each, in order: the largest first, or the smallest.
pub fn sort(rows: &mut [PartRows<'_>], by: SortBy, ascending: bool) {
    let order = |a: &Summary, b: &Summary| {
        let order = by.of(b).total_cmp(&by.of(a));
        if ascending { order.reverse() } else { order }
    };
    crate::chart::order::sort(rows, |a, b| order(&a.summary, &b.summary));
    for part in rows {
        crate::chart::order::sort(&mut part.operations, |a, b| order(&a.summary, &b.summary));
    }
}

/// The rows of a breakdown. On an accelerator, operations whose numbers are known are
/// held against the roof of those.
#[must_use]
pub fn rows<'a>(breakdown: &'a Breakdown, roof: Option<&Roof>, accelerator: Option<&Accelerator>) -> Vec<PartRows<'a>> {
    breakdown.parts.iter().map(|part| part_rows(part, roof, accelerator)).collect()
}

fn part_rows<'a>(part: &'a Part, roof: Option<&Roof>, accelerator: Option<&Accelerator>) -> PartRows<'a> {
    let mut grouped: Vec<(&'static str, Vec<&Term>)> = Vec::new();
    for term in &part.terms {
        match grouped.iter_mut().find(|(name, _)| *name == term.def.operation) {
            Some((_, terms)) => terms.push(term),
            None => grouped.push((term.def.operation, vec![term])),
        }
    }
    let operations = grouped
        .into_iter()
        .map(|(name, terms)| OperationRow { name, summary: Summary::over(&terms, part, roof, accelerator), terms })
        .collect();
    let summary = Summary::of_part(part, roof, accelerator);
    PartRows { component: part.component, summary, operations, part }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    fn order(by: SortBy, ascending: bool) -> String {
        let case = fixtures::example();
        let entry = case.entry(0);
        let mut rows = rows(entry.per_gpu, None, None);
        sort(&mut rows, by, ascending);
        let names = rows.iter().map(|part| {
            let operations: Vec<_> = part.operations.iter().map(|operation| operation.name).collect();
            format!("{}: {}", part.component.title(), operations.join(", "))
        });
        names.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn components_and_their_operations_are_put_in_order() {
        insta::assert_snapshot!(order(SortBy::Read, false), @"FFN: routed experts, shared experts, dense FFN; MLA attention: attention, Q projection, KV down-projection, output projection, KV up-projection; LM head: LM head");
        insta::assert_snapshot!(order(SortBy::Read, true), @"LM head: LM head; MLA attention: KV up-projection, output projection, KV down-projection, Q projection, attention; FFN: dense FFN, shared experts, routed experts");
        insta::assert_snapshot!(order(SortBy::Intensity, false), @"MLA attention: attention, output projection, Q projection, KV down-projection, KV up-projection; FFN: dense FFN, shared experts, routed experts; LM head: LM head");
    }
}
