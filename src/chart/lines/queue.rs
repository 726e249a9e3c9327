//! Heights for names that must not touch.

/// Heights at least `pitch` apart within bounds, in order, as near as they get to those asked for, which ascend: the
/// least-squares fit that pools what is too close (isotonic regression by pooling adjacent violators). More than fit
/// between the bounds run out at the bottom.
pub(super) fn spread(wanted: &[f64], pitch: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    // Heights less their place in the queue must not fall; a pool is the sum of these and their number.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    let mean = |(sum, length): (f64, usize)| sum / length as f64;
    for (place, height) in wanted.iter().enumerate() {
        let mut pool = (height - pitch * place as f64, 1);
        while let Some(before) = pools.last().copied().filter(|before| mean(*before) > mean(pool)) {
            pool = (pool.0 + before.0, pool.1 + before.1);
            pools.pop();
        }
        pools.push(pool);
    }
    let room = bottom - pitch * wanted.len().saturating_sub(1) as f64;
    let mut heights = Vec::with_capacity(wanted.len());
    for pool in pools {
        let level = mean(pool).min(room).max(top);
        let before = heights.len();
        heights.extend((before..before + pool.1).map(|place| level + pitch * place as f64));
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_near_as_they_get() {
        let spread = |wanted: &[f64]| spread(wanted, 10.0, (0.0, 100.0));
        assert_eq!(spread(&[]), Vec::<f64>::new());
        assert_eq!(spread(&[5.0, 20.0, 90.0]), [5.0, 20.0, 90.0]);
        assert_eq!(spread(&[50.0, 50.0, 50.0]), [40.0, 50.0, 60.0]);
        assert_eq!(spread(&[20.0, 50.0, 52.0]), [20.0, 46.0, 56.0]);
        assert_eq!(spread(&[0.0, 1.0]), [0.0, 10.0], "held at the top");
        assert_eq!(spread(&[99.0, 100.0]), [90.0, 100.0], "held at the bottom");
    }
}
