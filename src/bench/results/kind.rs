//! What a dropped file is, told from a glance at its text.

/// A kind of file that has to do with `vllm bench forward`, or is often at hand beside one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// The output of `--output-json`.
    Results,
    /// A kernel summary, `CASE.rankR.kernels.json`.
    Kernels,
    /// A shapes file for `--shapes`.
    Shapes,
    /// A Chrome trace.
    Trace,
    /// A model's `config.json`.
    Config,
    /// A list of something else.
    List,
    /// Anything else.
    Other,
}

impl FileKind {
    /// The kind, by the first letters of a text and the keys in it; a text of a known kind can still be malformed.
    /// Takes a few searches for a fixed text, so a file of many megabytes is no trouble.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        let has = |key: &str| text.contains(key);
        match text.as_bytes().first() {
            Some(b'[') if starts_with_a_case(text) || (has("\"median_us\"") && has("\"requests\"")) => Self::Results,
            Some(b'[') => Self::List,
            Some(b'{') if has("\"traceEvents\"") => Self::Trace,
            Some(b'{') if has("\"kernels\"") && has("\"busy_us\"") => Self::Kernels,
            Some(b'{') if has("\"cases\"") && has("\"requests\"") => Self::Shapes,
            Some(b'{') if has("\"model_type\"") || has("\"architectures\"") => Self::Config,
            Some(_) if text.starts_with("cases:") || text.contains("\ncases:") => Self::Shapes,
            _ => Self::Other,
        }
    }

    /// Whether a text is to be read with [`read`](super::read).
    #[must_use]
    pub fn is_results(self) -> bool {
        self == Self::Results
    }

    /// The kind in words, with its article.
    #[must_use]
    pub fn article(self) -> &'static str {
        match self {
            Self::Results => "a result file",
            Self::Kernels => "a kernel summary (`CASE.rankR.kernels.json`)",
            Self::Shapes => "a shapes file (for `--shapes`)",
            Self::Trace => "a Chrome trace",
            Self::Config => "a model's config.json",
            Self::List => "a list, but not of measured cases",
            Self::Other => "another kind of file",
        }
    }
}

/// Whether a list begins with an object whose first key is `case`.
fn starts_with_a_case(text: &str) -> bool {
    let white = [' ', '\t', '\r', '\n'];
    let inner = text.strip_prefix('[').map(|rest| rest.trim_start_matches(white));
    let first = inner.and_then(|rest| rest.strip_prefix('{')).map(|rest| rest.trim_start_matches(white));
    first.is_some_and(|rest| rest.starts_with("\"case\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(text: &str, expected: FileKind) {
        assert_eq!(FileKind::of(text), expected, "{text}");
    }

    #[test]
    fn kinds_by_a_glance() {
        is(r#"[{"case": "decode", "requ"#, FileKind::Results);
        is("\u{feff}\n[ {\n \"requests\": [], \"median_us\": 1}]", FileKind::Results);
        is(r#"{"trace": "x", "busy_us": 1, "kernels": []}"#, FileKind::Kernels);
        is(r#"{"cases": [{"name": "a", "requests": [{"query_len": 1}]}]}"#, FileKind::Shapes);
        is("# shapes\ncases:\n- name: a", FileKind::Shapes);
        is(r#"{"traceEvents": []}"#, FileKind::Trace);
        is(r#"{"model_type": "llama"}"#, FileKind::Config);
        is("[1, 2]", FileKind::List);
        is("", FileKind::Other);
        is("decode=32*1@8192", FileKind::Other);
    }
}
