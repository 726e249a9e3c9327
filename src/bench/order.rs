//! The order of what is shown, and names by their place.
//!
//! Several tables are in the same order. A sort and a map of its own for each would weigh more than all that they sort,
//! so here is one of each for all.

use std::collections::HashMap;

/// What is largest first; equal ones by their names, and those of one name as they were.
pub fn largest_first<T>(items: Vec<T>, key: impl Fn(&T) -> (f64, &str)) -> Vec<T> {
    let order = order(items.iter().map(key));
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| items.get_mut(at)?.take()).collect()
}

/// Values from the least to the largest.
#[must_use]
pub fn rising(values: &[f64]) -> Vec<f64> {
    let order = order(values.iter().map(|value| (*value, "")));
    order.into_iter().rev().filter_map(|at| values.get(at).copied()).collect()
}

fn order<'a>(keys: impl Iterator<Item = (f64, &'a str)>) -> Vec<usize> {
    let mut keys: Vec<_> = keys.enumerate().collect();
    sort(&mut keys);
    keys.into_iter().map(|(at, _)| at).collect()
}

#[inline(never)]
fn sort(keys: &mut [(usize, (f64, &str))]) {
    keys.sort_unstable_by(|(a, (one, first)), (b, (other, second))| {
        other.total_cmp(one).then_with(|| first.cmp(second)).then_with(|| a.cmp(b))
    });
}

/// Names, numbered as they first came.
#[derive(Debug, Default)]
pub struct Names(HashMap<String, usize>);

impl Names {
    /// The number of a name, which may be new.
    #[inline(never)]
    pub fn place(&mut self, name: &str) -> usize {
        match self.0.get(name) {
            Some(place) => *place,
            None => {
                let place = self.0.len();
                self.0.insert(name.to_owned(), place);
                place
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ones_are_in_the_order_of_their_names() {
        let items = vec![(1.0, "b", 0), (2.0, "z", 0), (1.0, "a", 1), (1.0, "a", 2), (-1.0, "", 0)];
        let sorted = largest_first(items, |(size, name, _)| (*size, name));
        assert_eq!(sorted, [(2.0, "z", 0), (1.0, "a", 1), (1.0, "a", 2), (1.0, "b", 0), (-1.0, "", 0)]);
        assert_eq!(rising(&[2.0, -1.0, 3.0, -1.0]), [-1.0, -1.0, 2.0, 3.0]);
    }

    #[test]
    fn names_keep_their_number() {
        let mut names = Names::default();
        assert_eq!(["a", "b", "a", "", "b"].map(|name| names.place(name)), [0, 1, 0, 2, 1]);
    }
}
