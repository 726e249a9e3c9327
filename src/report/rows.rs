//! The rows of the operations table: components, the operations in them, and their terms.

use super::{Roof, Summary};
use crate::estimate::{Breakdown, Component, Part, Term};

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

/// The rows of a breakdown.
#[must_use]
pub fn rows<'a>(breakdown: &'a Breakdown, roof: Option<&Roof>) -> Vec<PartRows<'a>> {
    breakdown.parts.iter().map(|part| part_rows(part, roof)).collect()
}

fn part_rows<'a>(part: &'a Part, roof: Option<&Roof>) -> PartRows<'a> {
    let mut grouped: Vec<(&'static str, Vec<&Term>)> = Vec::new();
    for term in &part.terms {
        match grouped.iter_mut().find(|(name, _)| *name == term.def.operation) {
            Some((_, terms)) => terms.push(term),
            None => grouped.push((term.def.operation, vec![term])),
        }
    }
    let operations = grouped
        .into_iter()
        .map(|(name, terms)| {
            let cost = terms.iter().map(|term| term.cost()).sum();
            OperationRow { name, summary: Summary::of(cost, roof), terms }
        })
        .collect();
    PartRows { component: part.component, summary: Summary::of(part.cost(), roof), operations, part }
}
