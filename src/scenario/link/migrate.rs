//! From what older versions wrote to what this one reads.
//!
//! A change of what is written that an older reader, or this one, would take for something else gets a new version and
//! a step here. A step takes a state of its version to the next; they fall through, so a step is written once and
//! never touched again. `tests/links.rs` keeps links of every version.

use crate::json::Node;

/// A step to the next version.
type Step = fn(Node) -> Node;

/// The steps: the first from version 1 to 2, and so on.
const STEPS: [Step; 0] = [];

/// The version that is written.
pub const VERSION: usize = STEPS.len() + 1;

/// Takes a state of a version to the present one; `None` where the version is newer, or none.
#[must_use]
pub(in crate::scenario) fn to_present(state: Node, version: usize) -> Option<Node> {
    let steps = STEPS.get(version.checked_sub(1)?..)?;
    Some(steps.iter().fold(state, |state, step| step(state)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn versions_that_are_known_reach_the_present_one() {
        let state = parse("{}").unwrap().root;
        assert_eq!(to_present(state.clone(), VERSION), Some(state.clone()));
        assert_eq!(to_present(state.clone(), VERSION + 1), None);
        assert_eq!(to_present(state, 0), None);
    }
}
