//! Putting short lists in order.

use std::cmp::Ordering;

/// Sorts in place, equal items kept in order. A chart's lists are a few dozen long, where insertion is quick; the
/// standard sort would cost the page 4 KB of WebAssembly for each type.
pub(crate) fn sort<T>(items: &mut [T], by: impl Fn(&T, &T) -> Ordering) {
    for end in 1..items.len() {
        let mut at = end;
        while let Some([before, item]) = items.get(at.wrapping_sub(1)..=at)
            && by(before, item) == Ordering::Greater
        {
            items.swap(at - 1, at);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_and_keeps_the_order_of_equals() {
        let mut items = [(3, 'a'), (1, 'b'), (3, 'c'), (2, 'd'), (1, 'e')];
        sort(&mut items, |a, b| a.0.cmp(&b.0));
        assert_eq!(items, [(1, 'b'), (1, 'e'), (2, 'd'), (3, 'a'), (3, 'c')]);
        sort(&mut items[..1], |a, b| a.0.cmp(&b.0));
        sort(&mut items[..0], |a, b| a.0.cmp(&b.0));
    }
}
