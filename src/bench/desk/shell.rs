//! What of the desk's fields depends on what it knows; all else of them stands in the page's HTML, as it never changes.

use crate::model::quantization::formats;
use crate::model::scheme::Scheme;
use std::fmt::Write as _;

/// The options for the format of weights, for the places of `%formats%` in the page's HTML.
#[must_use]
pub fn format_options() -> String {
    let mut options = String::new();
    for (name, format) in formats().filter_map(|name| Some((name, Scheme::named_or_none(name)?))) {
        let _ = write!(options, "<option value=\"{name}\">{name} · {}</option>", format.name);
    }
    options
}
