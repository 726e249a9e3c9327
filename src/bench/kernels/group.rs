//! Kernel time by component.
//!
//! Every kernel of the file is in exactly one row. What no rule matches is a row of its own, and so is busy time that
//! the file does not list kernels for: nothing is left out silently.

use super::rules::Rules;
use super::summary::{Kernel, Summary, share};
use crate::bench::order::{Names, largest_first};

/// How much of the busy time a file may lack in its list before that is a row: sums of rounded figures differ by less.
const ROUNDING: f64 = 1e-3;

/// Kernel time by component.
#[derive(Clone, Debug, PartialEq)]
pub struct Grouping<'a> {
    /// The components, the one that took longest first.
    pub groups: Vec<Group<'a>>,
    /// What no rule matches; there even if that is nothing.
    pub unmatched: Group<'a>,
    /// Busy time beyond the kernels that the file lists, in µs, where that is more than rounding.
    pub unlisted_us: Option<f64>,
    /// The busy time, in µs.
    pub busy_us: f64,
}

/// A component.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group<'a> {
    /// Its name; empty for what no rule matches.
    pub component: &'a str,
    /// The time of its kernels, in µs.
    pub us: f64,
    /// Their launches.
    pub calls: f64,
    /// The kernels, the one that took longest first.
    pub kernels: Vec<&'a Kernel>,
}

/// Sorts the kernels of a summary into components.
#[must_use]
pub fn group<'a>(summary: &'a Summary, rules: &'a Rules) -> Grouping<'a> {
    let (mut names, mut groups) = (Names::default(), Vec::new());
    let mut unmatched = Group::default();
    for kernel in &summary.kernels {
        let group = match rules.component(&kernel.name) {
            Some(component) => {
                let place = names.place(component);
                if place == groups.len() {
                    groups.push(Group { component, ..Group::default() });
                }
                groups.get_mut(place)
            }
            None => None,
        };
        let group = group.unwrap_or(&mut unmatched);
        group.us += kernel.us;
        group.calls += kernel.calls;
        group.kernels.push(kernel);
    }
    let groups = largest_first(groups, |group| (group.us, group.component));
    let listed: f64 = groups.iter().map(|group| group.us).sum::<f64>() + unmatched.us;
    let unlisted = Some(summary.busy_us - listed).filter(|us| *us > summary.busy_us * ROUNDING);
    Grouping { groups, unmatched, unlisted_us: unlisted, busy_us: summary.busy_us }
}

impl Grouping<'_> {
    /// A time as a part of the busy time; none where there was none.
    #[must_use]
    pub fn share(&self, us: f64) -> Option<f64> {
        share(us, self.busy_us)
    }

    /// The components, then what no rule matches.
    pub fn rows(&self) -> impl Iterator<Item = &Group<'_>> {
        self.groups.iter().chain([&self.unmatched])
    }
}

impl Group<'_> {
    /// What the row is called.
    #[must_use]
    pub fn title(&self) -> &str {
        if self.component.is_empty() { "unmatched" } else { self.component }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: &str = include_str!("../../../tests/bench/decode.rank0.kernels.json");

    #[test]
    fn components_and_what_no_rule_matches() {
        let summary = Summary::read(A).unwrap();
        let rules = Rules::default();
        let grouping = group(&summary, &rules);
        let rows: Vec<_> = grouping.rows().map(|group| (group.title(), group.us, group.calls)).collect();
        let expected = [
            ("GEMM/FFN", 100.0, 4.0),
            ("attention", 40.0, 2.0),
            ("communication", 30.0, 2.0),
            ("unmatched", 20.5, 4.0),
        ];
        assert_eq!(rows, expected);
        let names: Vec<_> = grouping.unmatched.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["only_in_a_kernel", "tie_b", "tie_a"]);
        assert_eq!(grouping.unlisted_us, None);
        assert_eq!(grouping.share(95.25), Some(0.5));
    }

    #[test]
    fn time_that_the_file_does_not_list_is_not_hidden() {
        let mut summary = Summary::read(A).unwrap();
        summary.kernels.truncate(2);
        let rules = Rules::default();
        let grouping = group(&summary, &rules);
        assert_eq!((grouping.unmatched.us, grouping.unlisted_us), (0.0, Some(50.5)));
        summary.busy_us = 140.1;
        assert_eq!(group(&summary, &rules).unlisted_us, None);
        summary.busy_us = 0.0;
        assert_eq!(group(&summary, &rules).share(1.0), None);
    }

    proptest! {
        #[test]
        fn every_kernel_is_in_one_row(text in "([ab]: [xyz*]{1,3}\n){0,4}", names in prop::collection::vec("[xyzw]{0,4}", 0..8)) {
            let rules = Rules::parse(&text).unwrap();
            let mut summary = Summary::read(A).unwrap();
            let kernel = |name: &String| Kernel { name: name.clone(), us: 1.0, pct: None, calls: 2.0, example: None };
            summary.kernels = names.iter().map(kernel).collect();
            let grouping = group(&summary, &rules);
            prop_assert_eq!(grouping.rows().map(|group| group.kernels.len()).sum::<usize>(), names.len());
            let calls: Vec<f64> = vec![grouping.rows().map(|group| group.calls).sum()];
            prop_assert_eq!(calls, vec![2.0 * names.len() as f64]);
        }
    }
}
