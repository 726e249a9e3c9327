//! `rooflens presets`: the models that can be named instead of a file.

use crate::failure::{Failure, print};
use rooflens::export::aligned;
use rooflens::model::presets;

/// Lists them.
pub(crate) fn run() -> Result<(), Failure> {
    let head = ["ID", "NAME", "SOURCE", "READ"].map(str::to_owned);
    let presets = presets::builtin().iter();
    let rows = presets.map(|p| [p.id.clone(), p.name.clone(), p.source.clone(), p.as_of.clone()]);
    print(&aligned(&std::iter::once(head).chain(rows).collect::<Vec<_>>(), 4))
}
