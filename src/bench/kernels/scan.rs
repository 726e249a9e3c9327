//! Where a JSON value ends, found without reading it: brackets are counted, strings are stepped over.

/// How deep inside a value the scan is. Only the number of brackets counts, not their kind: what is used of a value is
/// read by a real parser afterwards.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nest {
    depth: u32,
    in_string: bool,
    escaped: bool,
}

impl Nest {
    /// Goes on with the next bytes of a value that begins with a bracket or a quote. Returns how many belong to it once
    /// its last one is among them.
    pub(super) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                if self.in_string || self.depth > 0 {
                    continue;
                }
                return Some(at + 1);
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn ends(text: &str, expected: Option<usize>) {
        assert_eq!(Nest::default().end(text.as_bytes()), expected, "{text}");
        let mut nest = Nest::default();
        let one_by_one = text.bytes().position(|byte| nest.end(&[byte]).is_some()).map(|at| at + 1);
        assert_eq!(one_by_one, expected, "{text}");
    }

    #[test]
    fn ends_are_found_whatever_is_inside() {
        ends("{}, 1", Some(2));
        ends(r#"{"a": [1, {"b": "}"}]} x"#, Some(22));
        ends(r#"["\"]", "\\"]]"#, Some(13));
        ends(r#""a\"b" ]"#, Some(6));
        ends("[[]", None);
        ends(r#"{"a"#, None);
    }
}
