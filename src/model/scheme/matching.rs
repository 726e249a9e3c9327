//! Patterns that quantizations name modules with: plain names, shell wildcards, and enough of regular expressions.

/// Whether a text matches a wildcard pattern, `*` standing for any text.
#[must_use]
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    if !pattern.contains('*') {
        return rest.is_empty();
    }
    let mut last = "";
    for part in parts {
        last = part;
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = if part.is_empty() { rest } else { after };
    }
    last.is_empty() || text.ends_with(last)
}

/// The most steps that a match takes: beyond them a pattern counts as not matching.
const MOST_STEPS: u32 = 2_000;

/// Whether a text, from its beginning on, matches a regular expression: literals, `.`, classes, escapes, groups with
/// alternatives, `*`, `+`, `?`, `^`, `$`. As in Python's `match` the expression need not reach the text's end.
#[must_use]
pub fn regex(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let mut steps = MOST_STEPS;
    alternatives(&pattern, &text, &mut steps, &mut |_, _| true)
}

type Then<'a> = &'a mut dyn FnMut(&[char], &mut u32) -> bool;

/// Any of the alternatives, then the rest.
fn alternatives(pattern: &[char], text: &[char], steps: &mut u32, then: Then<'_>) -> bool {
    let (mut depth, mut class, mut from, mut at) = (0_u32, false, 0, 0);
    while let Some(&c) = pattern.get(at) {
        match c {
            '\\' => at += 1,
            '[' => class = true,
            ']' => class = false,
            '(' if !class => depth += 1,
            ')' if !class => depth = depth.saturating_sub(1),
            '|' if depth == 0 && !class => {
                if sequence(pattern.get(from..at).unwrap_or_default(), text, steps, then) {
                    return true;
                }
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    sequence(pattern.get(from..).unwrap_or_default(), text, steps, then)
}

fn sequence(pattern: &[char], text: &[char], steps: &mut u32, then: Then<'_>) -> bool {
    *steps = steps.saturating_sub(1);
    if *steps == 0 {
        return false;
    }
    let Some(&first) = pattern.first() else { return then(text, steps) };
    if first == '^' {
        return sequence(pattern.get(1..).unwrap_or_default(), text, steps, then);
    }
    if first == '$' {
        return text.is_empty() && sequence(pattern.get(1..).unwrap_or_default(), text, steps, then);
    }
    let length = atom(pattern);
    let (one, rest) = pattern.split_at_checked(length).unwrap_or((pattern, &[]));
    let (low, high, rest) = match rest.first() {
        Some('*') => (0, usize::MAX, rest.get(1..).unwrap_or_default()),
        Some('+') => (1, usize::MAX, rest.get(1..).unwrap_or_default()),
        Some('?') => (0, 1, rest.get(1..).unwrap_or_default()),
        _ => (1, 1, rest),
    };
    let rest = if low == 1 && high == 1 { rest } else { rest.strip_prefix(&['?'][..]).unwrap_or(rest) };
    repeat(one, (low, high), rest, text, steps, then)
}

fn repeat(
    one: &[char],
    (low, high): (usize, usize),
    rest: &[char],
    text: &[char],
    steps: &mut u32,
    then: Then<'_>,
) -> bool {
    if low == 0 && sequence(rest, text, steps, then) {
        return true;
    }
    if high == 0 || *steps == 0 {
        return false;
    }
    if let Some(inner) = one.strip_prefix(&['('][..]).and_then(|inner| inner.strip_suffix(&[')'][..])) {
        let inner = inner.strip_prefix(&['?', ':'][..]).unwrap_or(inner);
        return alternatives(inner, text, steps, &mut |left, steps| {
            left.len() < text.len() && repeat(one, (low.saturating_sub(1), high - 1), rest, left, steps, then)
        });
    }
    let Some((&c, left)) = text.split_first() else { return false };
    single(one, c) && repeat(one, (low.saturating_sub(1), high - 1), rest, left, steps, then)
}

/// How many characters of a pattern its first piece takes.
fn atom(pattern: &[char]) -> usize {
    let close = |open: char, end: char| {
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(&c) = pattern.get(at) {
            match c {
                '\\' => at += 1,
                c if c == open && (open != '[' || at == 0) => depth += 1,
                c if c == end => {
                    depth -= 1;
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        pattern.len()
    };
    match pattern.first() {
        Some('\\') => 2.min(pattern.len()),
        Some('(') => close('(', ')'),
        Some('[') => close('[', ']'),
        _ => 1,
    }
}

/// Whether a character matches a piece that stands for one.
fn single(one: &[char], c: char) -> bool {
    match one {
        ['.'] => true,
        ['\\', 'd'] => c.is_ascii_digit(),
        ['\\', 'w'] => c.is_ascii_alphanumeric() || c == '_',
        ['\\', literal] => c == *literal,
        ['[', '^', inner @ .., ']'] => !class(inner, c),
        ['[', inner @ .., ']'] => class(inner, c),
        [literal] => c == *literal,
        _ => false,
    }
}

fn class(inner: &[char], c: char) -> bool {
    let mut rest = inner;
    loop {
        rest = match rest {
            [] => return false,
            ['\\', 'd', left @ ..] if c.is_ascii_digit() || left.is_empty() => return c.is_ascii_digit(),
            [from, '-', to, left @ ..] => {
                if (*from..=*to).contains(&c) {
                    return true;
                }
                left
            }
            [literal, left @ ..] => {
                if *literal == c {
                    return true;
                }
                left
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards() {
        for (pattern, text, expected) in [
            ("layers.0*", "layers.0.mlp", true),
            ("layers.1.*", "layers.10.mlp", false),
            ("layers.*.self_attn", "layers.7.self_attn", true),
            ("*lm_head", "model.lm_head", true),
            ("*lm_head", "lm_head.weight", false),
            ("lm_head", "lm_head", true),
            ("lm_head", "lm_head2", false),
            ("*", "", true),
        ] {
            assert_eq!(wildcard(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn regular_expressions() {
        for (pattern, text, expected) in [
            (".*self_attn.*", "model.layers.3.self_attn.q_proj", true),
            (r".*mlp\.(gate|up|gate_up|down)_proj.*", "model.layers.0.mlp.up_proj", true),
            (r".*mlp\.(gate|up|gate_up|down)_proj.*", "model.layers.0.mlp.experts.0.up_proj", false),
            (".*attn.*(fused_wqa_wkv|wq_b|wo_a|wo_b)$", "layers.1.attn.wo_b", true),
            (".*attn.*(fused_wqa_wkv|wq_b|wo_a|wo_b)$", "layers.1.attn.wo_bx", false),
            (r"model\.layers\.[0-2]\..*", "model.layers.2.mlp", true),
            (r"model\.layers\.\d+\.mlp", "model.layers.12.mlp.gate", true),
            ("(a|b)+c?$", "abab", true),
            ("vision_tower.*", "model.layers.0", false),
            ("(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(regex(pattern, text), expected, "{pattern} {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_pattern_panics(pattern in r"[a-c.*+?()\[\]|\\^$-]{0,24}", text in "[a-c]{0,24}") {
            let _ = (regex(&pattern, &text), wildcard(&pattern, &text));
        }
    }
}
