//! The parser: one pass over the bytes, recursive with a bounded depth.

use super::{Document, JsonError, Member, Node, Span, Value};

/// The largest text that is read.
pub const MAX_BYTES: usize = 10 << 20;

/// The deepest nesting that is read. Real configs stay below 10; the bound keeps a hostile one off the stack.
pub const MAX_DEPTH: usize = 128;

/// A departure from JSON that was read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The text began with a byte-order mark.
    ByteOrderMark,
    /// A comma stood before a closing bracket.
    TrailingComma,
    /// `//` or `/* */` comments.
    Comment,
    /// A Markdown code fence around the text.
    Fence,
}

impl Repair {
    /// What was done about it, as a note for the reader.
    #[must_use]
    pub fn note(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "A byte-order mark at the start was skipped.",
            Self::TrailingComma => "A comma before a closing bracket was ignored: JSON does not allow one.",
            Self::Comment => "Comments were ignored: JSON does not have them.",
            Self::Fence => "The Markdown fence around the text was ignored.",
        }
    }
}

/// Reads a text.
///
/// # Errors
/// Where the text is neither JSON nor one of the departures in [`Repair`], is larger than [`MAX_BYTES`] or nests
/// deeper than [`MAX_DEPTH`].
pub fn parse(text: &str) -> Result<Document, JsonError> {
    parse_up_to(text, MAX_BYTES)
}

/// Reads a text of at most `limit` bytes: measurements are larger than configs.
///
/// # Errors
/// As [`parse`], with that limit.
pub fn parse_up_to(text: &str, limit: usize) -> Result<Document, JsonError> {
    if text.len() > limit {
        let expected = format!("at most {} MiB", limit >> 20);
        return Err(JsonError::new(text, 0, format!("{} bytes", text.len()), expected));
    }
    let mut parser = Parser { text, at: 0, depth: 0, repairs: Vec::new() };
    match parser.whole() {
        Ok(root) => Ok(Document { root, repairs: parser.repairs }),
        Err(error) => Err(*error),
    }
}

/// An error, boxed: results are passed through many hands, and small ones make small code.
type Fail = Box<JsonError>;

/// A letter or digit of a word; what is not ASCII only ever stands in a word that is wrong.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || (!c.is_ascii() && !c.is_whitespace())
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    repairs: Vec<Repair>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn repaired(&mut self, repair: Repair) {
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    fn fail<T>(&self, found: impl Into<String>, expected: impl Into<String>) -> Result<T, Fail> {
        Err(Box::new(JsonError::new(self.text, self.at, found, expected)))
    }

    /// What stands at the current place, in words.
    fn found(&self) -> String {
        let rest = self.rest();
        let word: String =
            rest.chars().take_while(|c| is_letter(*c) || matches!(c, '_' | '.' | '+' | '-')).take(24).collect();
        match (rest.chars().next(), word.is_empty()) {
            (None, _) => "the end of the text".to_owned(),
            (Some(c), true) if c.is_control() => format!("the control character U+{:04X}", c as u32),
            (Some(c), true) => format!("`{c}`"),
            _ => format!("`{word}`"),
        }
    }

    fn whole(&mut self) -> Result<Node, Fail> {
        self.open()?;
        let root = self.value()?;
        self.close()?;
        Ok(root)
    }

    fn open(&mut self) -> Result<(), Fail> {
        if self.skip("\u{feff}") {
            self.repaired(Repair::ByteOrderMark);
        }
        self.space()?;
        if self.skip("```") {
            self.repaired(Repair::Fence);
            let info = self.rest().find('\n').unwrap_or(self.rest().len());
            self.at += info;
            self.space()?;
        }
        if self.rest().is_empty() {
            return self.fail("the end of the text", "a JSON object such as a model's config.json");
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Fail> {
        self.space()?;
        if self.repairs.contains(&Repair::Fence) && self.skip("```") {
            self.space()?;
        }
        if self.rest().is_empty() { Ok(()) } else { self.fail(self.found(), "nothing after the JSON value") }
    }

    /// Skips white space and comments.
    fn space(&mut self) -> Result<(), Fail> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.at += 1;
            }
            // A no-break space comes with text copied from web pages.
            if self.skip("\u{a0}") {
                continue;
            }
            if self.rest().starts_with("//") {
                self.repaired(Repair::Comment);
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.rest().starts_with("/*") {
                let Some(length) = self.rest().find("*/") else {
                    return self.fail("a comment that does not end", "`*/`");
                };
                self.repaired(Repair::Comment);
                self.at += length + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Result<Node, Fail> {
        self.space()?;
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { value, span: Span { start, end: self.at } })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Fail>) -> Result<Value, Fail> {
        if self.depth == MAX_DEPTH {
            return self.fail("one more level of nesting", format!("at most {MAX_DEPTH} levels"));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn word(&mut self) -> Result<Value, Fail> {
        let word: String = self.rest().chars().take_while(|c| is_letter(*c) || *c == '_').collect();
        let value = match word.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => {
                let hint = match (word.as_str(), self.peek()) {
                    ("True" | "False" | "None", _) => " (Python's literals: JSON writes true, false, null)",
                    (_, Some(b'\'')) => " (JSON strings stand in double quotes)",
                    _ => "",
                };
                return self.fail(self.found(), format!("a value{hint}"));
            }
        };
        self.at += word.len();
        self.ends_here()?;
        Ok(value)
    }

    /// A literal or a number must not run into more of a word (`true.`, `12abc`).
    fn ends_here(&self) -> Result<(), Fail> {
        match self.rest().chars().next() {
            Some(c) if is_letter(c) || matches!(c, '_' | '.' | '+' | '-') => {
                self.fail(self.found(), "`,` or a closing bracket")
            }
            _ => Ok(()),
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Value, Fail> {
        let start = self.at;
        let negative = self.skip("-");
        if self.skip("Infinity") {
            self.ends_here()?;
            return Ok(Value::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
        }
        if !negative && self.skip("NaN") {
            self.ends_here()?;
            return Ok(Value::Float(f64::NAN));
        }
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 {
            return self.fail(self.found(), if negative { "a digit after `-`" } else { "a value" });
        }
        if leading_zero && whole > 1 {
            self.at = start;
            return self.fail(self.found(), "a number without leading zeros");
        }
        let mut integral = true;
        if self.skip(".") {
            integral = false;
            if self.digits() == 0 {
                return self.fail(self.found(), "a digit after the decimal point");
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integral = false;
            self.at += 1;
            let _sign = self.skip("+") || self.skip("-");
            if self.digits() == 0 {
                return self.fail(self.found(), "a digit in the exponent");
            }
        }
        self.ends_here()?;
        let text = self.text.get(start..self.at).unwrap_or_default();
        match if integral { text.parse::<i128>().ok() } else { None } {
            Some(value) => Ok(Value::Int(value)),
            None => Ok(Value::Float(crate::decimal::parse(text).unwrap_or(f64::NAN))),
        }
    }

    fn list(&mut self) -> Result<Value, Fail> {
        let mut items = Vec::new();
        loop {
            self.space()?;
            if self.skip("]") {
                if !items.is_empty() {
                    self.repaired(Repair::TrailingComma);
                }
                return Ok(Value::List(items));
            }
            items.push(self.value()?);
            self.space()?;
            if self.skip("]") {
                return Ok(Value::List(items));
            }
            if !self.skip(",") {
                return self.fail(self.found(), "`,` or `]`");
            }
        }
    }

    fn object(&mut self) -> Result<Value, Fail> {
        let mut members = Vec::new();
        loop {
            self.space()?;
            if self.skip("}") {
                if !members.is_empty() {
                    self.repaired(Repair::TrailingComma);
                }
                return Ok(Value::Object(members));
            }
            let start = self.at;
            if self.peek() != Some(b'"') {
                let expected =
                    if members.is_empty() { "a key in double quotes or `}`" } else { "a key in double quotes" };
                return self.fail(self.found(), expected);
            }
            let key = self.string()?;
            let key_span = Span { start, end: self.at };
            self.space()?;
            if !self.skip(":") {
                return self.fail(self.found(), format!("`:` after the key {key:?}"));
            }
            let node = self.value()?;
            members.push(Member { key, key_span, node });
            self.space()?;
            if self.skip("}") {
                return Ok(Value::Object(members));
            }
            if !self.skip(",") {
                return self.fail(self.found(), "`,` or `}`");
            }
        }
    }

    fn string(&mut self) -> Result<String, Fail> {
        let opening = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let run = self.rest().bytes().position(|b| b == b'"' || b == b'\\' || b < 0x20);
            let Some(run) = run else {
                self.at = opening;
                return self.fail("a string that does not end", "a closing `\"`");
            };
            out.push_str(self.rest().get(..run).unwrap_or_default());
            self.at += run;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => return self.fail(self.found(), "a closing `\"` (a line break inside a string is written \\n)"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fail> {
        let expected = "an escape: one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four hexadecimal digits";
        let escape = self.text.as_bytes().get(self.at + 1).copied();
        let c = match escape {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(expected),
            _ => return self.fail("a lone `\\`", expected),
        };
        self.at += 2;
        Ok(c)
    }

    /// `\uXXXX`, two of them where they form a surrogate pair; a lone surrogate becomes U+FFFD.
    fn unicode(&mut self, expected: &str) -> Result<char, Fail> {
        let Some(first) = self.hex() else {
            return self.fail("a `\\u` without four hexadecimal digits", expected);
        };
        self.at += 6;
        if (0xd800..0xdc00).contains(&first)
            && let Some(second @ 0xdc00..0xe000) = self.hex()
        {
            self.at += 6;
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&self) -> Option<u32> {
        let digits = self.rest().strip_prefix("\\u")?.get(..4)?;
        if digits.bytes().all(|b| b.is_ascii_hexdigit()) { u32::from_str_radix(digits, 16).ok() } else { None }
    }
}
