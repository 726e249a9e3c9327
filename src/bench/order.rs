//! The order of what is shown, and names by their place.
//!
//! Several tables are in the same order. A sort and a map of its own for each would weigh more than all that they sort,
//! so here is one of each for all.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

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
    sorted(keys.enumerate().map(|(at, (size, name))| Key { size, name, at }).collect())
}

/// Places of keys in order. A heap is a fifth of the size of the standard sort in WebAssembly.
#[inline(never)]
fn sorted(keys: Vec<Key<'_>>) -> Vec<usize> {
    BinaryHeap::from(keys).into_sorted_vec().into_iter().map(|key| key.at).collect()
}

/// The largest comes first; equal ones by their names, and those of one name as they were.
#[derive(Debug)]
struct Key<'a> {
    size: f64,
    name: &'a str,
    at: usize,
}

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_size = other.size.total_cmp(&self.size);
        by_size.then_with(|| self.name.cmp(other.name)).then_with(|| self.at.cmp(&other.at))
    }
}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key<'_> {}

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
