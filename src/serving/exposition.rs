//! The text format of Prometheus metrics pages, `OpenMetrics` included: `name{label="value"} number [timestamp]`.
//!
//! Comments (`# HELP`, `# TYPE`, `# EOF`, ...), timestamps and exemplars are skipped. A line that is not valid is kept
//! beside the samples with its number, and the rest still counts: pages are pasted in parts.

use crate::decimal;

/// A metrics page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Its samples, in order.
    pub samples: Vec<Sample>,
    /// Lines that are no sample and no comment.
    pub bad: Vec<BadLine>,
}

/// One number of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The metric.
    pub name: String,
    /// Labels in order, their escapes resolved.
    pub labels: Vec<(String, String)>,
    /// The value; may be `NaN` or infinite.
    pub value: f64,
    /// The line, from 1.
    pub line: usize,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Line {line}: {problem}")]
pub struct BadLine {
    /// Which, from 1.
    pub line: usize,
    /// What was found and expected, as a sentence.
    pub problem: String,
}

impl Sample {
    /// The value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }
}

/// Reads a page. Never fails: what is not valid is in [`Page::bad`].
#[must_use]
pub fn read(text: &str) -> Page {
    let mut page = Page::default();
    for (line, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match sample(text) {
            Ok((name, labels, value)) => page.samples.push(Sample { name, labels, value, line }),
            Err(problem) => page.bad.push(BadLine { line, problem }),
        }
    }
    page
}

type Labels = Vec<(String, String)>;

type Parts = (String, Labels, f64);

fn sample(text: &str) -> Result<Parts, String> {
    let (name, rest) = split_name(text, |c| c == ':');
    if name.is_empty() {
        return Err(format!("found {}; expected a metric's name.", start_of(text)));
    }
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None if rest.starts_with([' ', '\t']) => (Vec::new(), rest),
        None => return Err(format!("found {}; expected `{{` or a space after the name.", start_of(rest))),
    };
    // An exemplar follows in `OpenMetrics`.
    let numbers = rest.split_once(" #").map_or(rest, |(numbers, _)| numbers);
    let mut words = numbers.split_whitespace();
    let value = words.next().ok_or("the line ends early; expected a number after the name.")?;
    let value = number(value).ok_or_else(|| format!("found {}; expected a number.", start_of(value)))?;
    if let Some(time) = words.next()
        && number(time).is_none()
    {
        return Err(format!("found {}; expected a timestamp or nothing after the number.", start_of(time)));
    }
    match words.next() {
        Some(word) => Err(format!("found {}; expected nothing after the timestamp.", start_of(word))),
        None => Ok((name.to_owned(), labels, value)),
    }
}

/// A value as the format writes it.
#[must_use]
pub fn number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    if unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity") {
        return Some(sign * f64::INFINITY);
    }
    if unsigned.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    decimal::parse(text)
}

/// Labels from behind the opening brace, and what follows the closing one.
fn labels(mut rest: &str) -> Result<(Labels, &str), String> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return Ok((labels, after));
        }
        let (name, after) = split_name(rest, |_| false);
        if name.is_empty() {
            return Err(format!("found {}; expected a label's name or `}}`.", start_of(rest)));
        }
        let quoted = after.trim_start().strip_prefix('=').and_then(|after| after.trim_start().strip_prefix('"'));
        let Some(quoted) = quoted else {
            return Err(format!("found {} after the label `{name}`; expected `=\"`.", start_of(after)));
        };
        let Some((value, after)) = label_value(quoted) else {
            return Err(format!("the value of the label `{name}` does not end; expected a closing `\"`."));
        };
        labels.push((name.to_owned(), value));
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.starts_with('}') => {}
            None => return Err(format!("found {} after a label; expected `,` or `}}`.", start_of(rest))),
        }
    }
}

/// A label's value from behind its opening quote, and what follows the closing one.
fn label_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                escaped @ ('\\' | '"') => value.push(escaped),
                // Not in the format, but read as it stands elsewhere too.
                other => value.extend(['\\', other]),
            },
            c => value.push(c),
        }
    }
    None
}

/// A name and what follows it.
fn split_name(text: &str, also: fn(char) -> bool) -> (&str, &str) {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || also(c));
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || also(c);
    let end = if starts { text.find(|c: char| !inside(c)).unwrap_or(text.len()) } else { 0 };
    text.split_at_checked(end).unwrap_or(("", text))
}

fn start_of(text: &str) -> String {
    if text.is_empty() { "the end of the line".to_owned() } else { crate::format::quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn reads(line: &str, name: &str, labels: &[(&str, &str)], value: f64) {
        let page = read(line);
        assert_eq!(page.bad, []);
        let [sample] = &*page.samples else { panic!("one sample") };
        let found: Vec<_> = sample.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!((sample.name.as_str(), &*found), (name, labels));
        assert!(sample.value.to_bits() == value.to_bits() || (sample.value.is_nan() && value.is_nan()), "{sample:?}");
    }

    #[test]
    fn samples() {
        reads("up 1", "up", &[], 1.0);
        reads("vllm:x_total{engine=\"0\",} 1.2345e+15", "vllm:x_total", &[("engine", "0")], 1.2345e15);
        reads(
            r#"a { b = "c\"\\\n}" , d="" }  +Inf 1700000000000"#,
            "a",
            &[("b", "c\"\\\n}"), ("d", "")],
            f64::INFINITY,
        );
        reads("a{} -Inf", "a", &[], f64::NEG_INFINITY);
        reads("a NaN 1.5", "a", &[], f64::NAN);
        reads("a_bucket{le=\"+Inf\"} 3 # {trace_id=\"x\"} 0.5 1.5", "a_bucket", &[("le", "+Inf")], 3.0);
        let page = read("# HELP a b\n# TYPE a counter\n\na 1\r\n# EOF\n");
        assert_eq!((page.samples.len(), page.samples[0].line, page.bad.len()), (1, 4, 0));
    }

    #[track_caller]
    fn bad(line: &str, expected: &str) {
        let page = read(&format!("up 1\n{line}"));
        assert_eq!(page.samples.len(), 1);
        assert_eq!(page.bad[0].to_string(), format!("Line 2: {expected}"));
    }

    #[test]
    fn lines_that_are_not_valid_are_named() {
        bad("1up 1", "found `1up 1`; expected a metric's name.");
        bad("up", "found the end of the line; expected `{` or a space after the name.");
        bad("up{a=\"1\"}", "the line ends early; expected a number after the name.");
        bad("up one", "found `one`; expected a number.");
        bad("up 1 x", "found `x`; expected a timestamp or nothing after the number.");
        bad("up 1 2 3", "found `3`; expected nothing after the timestamp.");
        bad("up{a} 1", "found `} 1` after the label `a`; expected `=\"`.");
        bad("up{a=\"1} 1", "the value of the label `a` does not end; expected a closing `\"`.");
        bad("up{a=\"1\" b=\"2\"} 1", "found `b=\"2\"} 1` after a label; expected `,` or `}`.");
        bad("up{0=\"1\"} 1", "found `0=\"1\"} 1`; expected a label's name or `}`.");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"([a-z:_{}=",\\# 0-9.eINa+-]|\n){0,80}|\PC{0,40}"#) {
            let _ = read(&text);
        }
    }
}
