//! Conditions, taken apart.

/// Returns the parts of a condition between its outermost `and`s, as written; if it has none, the whole condition.
/// (The parser's spans don't say where an operand begins, and tokens cost more: every stop asks.)
pub(crate) fn conjuncts(source: &str) -> Vec<&str> {
    let whole = source.trim();
    if !source.contains("and") {
        return vec![whole];
    }
    let bytes = source.as_bytes();
    // A character that is not ASCII can be part of a name only.
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let is_word = |at: usize, word: &str| {
        let (before, rest) = bytes.split_at(at);
        let is_part = |byte: Option<&u8>| byte.is_some_and(is_name);
        rest.starts_with(word.as_bytes())
            && !is_part(rest.get(word.len()))
            && !is_part(before.last())
    };
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quote) = (0, 0, None);
    for (at, byte) in source.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth -= 1,
            (None, b'o') if depth == 0 && is_word(at, "or") => return vec![whole],
            (None, b'i') if depth == 0 && is_word(at, "if") => return vec![whole],
            (None, b'a') if depth == 0 && is_word(at, "and") => {
                parts.push(source[start..at].trim());
                start = at + "and".len();
            }
            (None, _) => {}
        }
    }
    parts.push(source[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_taken_apart_at_its_outermost_ands() {
        let cases: &[(&str, &[&str])] = &[
            ("a", &["a"]),
            ("not a.b and c == 'x and y'", &["not a.b", "c == 'x and y'"]),
            ("a and\n  b > 1 and c | length > 2", &["a", "b > 1", "c | length > 2"]),
            ("a or b and c", &["a or b and c"]),
            ("a is not none and b not in [1, 2]", &["a is not none", "b not in [1, 2]"]),
            ("a and (b or c)", &["a", "(b or c)"]),
            ("(a and b) and x.brand", &["(a and b)", "x.brand"]),
            ("and_more and orders and iffy", &["and_more", "orders", "iffy"]),
            ("grand and 'ü and' == b", &["grand", "'ü and' == b"]),
            ("a if b and c else d", &["a if b and c else d"]),
        ];
        for (source, parts) in cases {
            assert_eq!(conjuncts(source), *parts, "{source}");
        }
    }
}
