//! A comparison as a file: what a link holds, as JSON to read and edit.
//!
//! The same JSON as in a link ([`super::link`] says what stands in it), indented, and with the version under
//! `rooflens`. One form for both, so that they cannot drift apart and migrate together.

use super::link::{Misfit, Opened, VERSION, decode, encode, migrate};
use super::state::Comparison;
use crate::json::{JsonError, Member, Node, Position, Span, Value, parse};
use crate::model::presets::Preset;

/// The key that holds the version, and tells such a file from others.
pub(super) const MARK: &str = "rooflens";

/// A file that was not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The text is no JSON.
    #[error("This file is not JSON: {0}.")]
    Json(#[from] JsonError),
    /// Something else.
    #[error("This is no comparison: expected an object with the key `{MARK}` and a version, such as 1.")]
    NotAComparison,
    /// Made by a newer version.
    #[error(
        "This file was made by a newer version ({0}); this page reads {VERSION}. Reload the page to get the newest."
    )]
    Newer(i128),
    /// Not what this version reads.
    #[error("This file cannot be opened: {at}, {misfit}")]
    Misfit {
        /// Where in the text.
        at: Position,
        /// What is wrong.
        misfit: Misfit,
    },
}

/// The comparison as the text of a file.
#[must_use]
pub fn to_file(comparison: &Comparison, presets: &[Preset]) -> String {
    let mut root = encode::write(comparison, presets);
    if let Value::Object(members) = &mut root.value {
        let node = encode::count(VERSION as u64);
        members.insert(0, Member { key: MARK.to_owned(), key_span: Span::default(), node });
    }
    root.to_text() + "\n"
}

/// The comparison of a file's text. `presets` are those that the page offers; a file of any other model is refused.
///
/// # Errors
/// See [`FileError`].
pub fn from_file(text: &str, presets: &[Preset]) -> Result<Opened, FileError> {
    let root = parse(text)?.root;
    let Some(Value::Int(version)) = root.get(MARK).map(|node| &node.value) else {
        return Err(FileError::NotAComparison);
    };
    let version = *version;
    if version < 1 {
        return Err(FileError::NotAComparison);
    }
    let present = usize::try_from(version).ok().and_then(|version| migrate::to_present(root, version));
    let root: Node = present.ok_or(FileError::Newer(version))?;
    let at = |misfit: Box<Misfit>| FileError::Misfit { at: Position::of(text, misfit.span.start), misfit: *misfit };
    decode::read(&root, presets, &[MARK]).map_err(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::presets::builtin;
    use crate::scenario::state::Scenario;

    fn example() -> Comparison {
        let mut comparison = Comparison::of(Scenario::example().unwrap());
        let copy = comparison.duplicate(0).unwrap();
        comparison.edit(copy, crate::scenario::state::Section::Layout, |scenario| scenario.layout.ep = true);
        comparison
    }

    #[test]
    fn a_file_reads_well_and_back() {
        let text = to_file(&example(), builtin());
        insta::assert_snapshot!(text, @r#"
        {
          "rooflens": 1,
          "scenarios": [
            {
              "model": "deepseek-v3",
              "tp": 8,
              "cases": ["mix=8192,32*1@8192"],
              "accelerator": "h200-sxm"
            },
            {
              "ep": true
            }
          ],
          "revisions": {
            "deepseek-v3": 3486341,
            "h200-sxm": 15204898
          }
        }
        "#);
        assert_eq!(from_file(&text, builtin()), Ok(Opened { comparison: example(), changed: Vec::new() }));
    }

    #[test]
    fn what_is_wrong_with_a_file_has_its_place() {
        let text = to_file(&example(), builtin());
        let errors = [
            ("\"tp\": 8", "\"tp\": 0"),
            ("\"ep\": true", "\"ep\": 1"),
            ("\"ep\": true", "\"eq\": true"),
            ("h200-sxm\"\n", "h2000-sxm\"\n"),
            ("\"deepseek-v3\",", "\"deepseek-v33\","),
            ("8192,32", "8192;32"),
            ("\"tp\": 8", "\"tp\": 8, \"precision\": \"fp7\""),
            ("\"tp\": 8", "\"tp\": 8, \"tp\": 8"),
            ("\"tp\": 8,", ""),
            ("\"model\": \"deepseek-v3\",", ""),
            ("\"rooflens\": 1", "\"rooflens\": 2"),
            ("\"rooflens\": 1,", ""),
            ("\"tp\": 8,", "\"tp\": 8"),
        ]
        .map(|(from, to)| {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            from_file(&changed, builtin()).map_or_else(|error| error.to_string(), |_| "opens".to_owned())
        });
        insta::assert_snapshot!(errors.join("\n"), @r#"
        This file cannot be opened: line 6, column 13, scenario 1, tp: found 0, expected a whole number from 1 to 65536.
        This file cannot be opened: line 11, column 13, scenario 2, ep: found 1, expected true or false.
        This file cannot be opened: line 11, column 7, scenario 2: found the key `eq`, expected a key that this version knows.
        This file cannot be opened: line 8, column 22, scenario 1, accelerator: found the string "h2000-sxm", expected the id of an accelerator of the list.
        This file cannot be opened: line 5, column 16, scenario 1, model: found the string "deepseek-v33", expected the id of a model that this version offers.
        This file cannot be opened: line 7, column 17, scenario 1, case 1: found the string "mix=8192;32*1@8192", expected a case: Request 1, `8192;32*1@8192`: Found `;32*1@8192`; expected [N*]Q[@K][c][:D] with plain whole numbers.
        This file cannot be opened: line 6, column 29, scenario 1, precision: found the string "fp7", expected a precision: one of `bf16`, `fp16`, `fp8`, `int8`, `fp4`.
        This file cannot be opened: line 6, column 16, scenario 1: found the key `tp`, expected each key once.
        opens
        This file cannot be opened: line 4, column 5, scenario 1: found nothing, expected the key `model`.
        This file was made by a newer version (2); this page reads 1. Reload the page to get the newest.
        This is no comparison: expected an object with the key `rooflens` and a version, such as 1.
        This file is not JSON: line 7, column 7: found `"`, expected `,` or `}`.
        "#);
    }
}
