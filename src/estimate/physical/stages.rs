//! Which layers a pipeline stage has.

/// The layers of a stage: from, up to. As in vLLM what does not divide goes to the stages before the last, one layer
/// each, from behind.
#[must_use]
pub fn layers(layers: u64, stages: u64, stage: u64) -> (u64, u64) {
    let stages = stages.max(1);
    let (each, rest) = (layers / stages, layers % stages);
    // Of the stages before this one, those that have one layer more: the last `rest` before the last stage.
    let first_long = (stages - 1).saturating_sub(rest);
    let more = |stage: u64| stage.saturating_sub(first_long).min(rest);
    let from = |stage: u64| stage * each + more(stage);
    (from(stage), from(stage + 1).min(layers))
}

#[cfg(test)]
mod tests {
    use super::layers;

    #[test]
    fn the_rest_goes_before_the_last_stage() {
        let sizes = |all: u64, stages: u64| -> Vec<u64> {
            (0..stages).map(|stage| layers(all, stages, stage)).map(|(from, to)| to - from).collect()
        };
        assert_eq!(sizes(6, 2), [3, 3]);
        assert_eq!(sizes(61, 4), [15, 15, 16, 15]);
        assert_eq!(sizes(62, 4), [15, 16, 16, 15]);
        assert_eq!(sizes(63, 4), [16, 16, 16, 15]);
        assert_eq!(sizes(2, 4), [0, 1, 1, 0]);
    }
}
