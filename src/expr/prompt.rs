//! Prompts that a user may replace: plain text in which `{{name}}` is filled in and nothing else is special.
//!
//! A user's file is not a template of the engine: it can run nothing, look at nothing else, and cannot be wrong.

use std::ops::Range;

/// Returns the names between `{{` and `}}`, in order, with repetitions.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    holes(text).map(|(name, _)| name)
}

/// Returns the text with its holes filled; a hole without a `value` stays. Whitespace at the end of the file is not
/// part of the message, so it is cut off.
pub fn fill<E>(
    text: &str,
    mut value: impl FnMut(&str) -> Option<Result<String, E>>,
) -> Result<String, E> {
    let text = text.trim_end();
    let (mut filled, mut end) = (String::with_capacity(text.len()), 0);
    for (name, place) in holes(text) {
        if let Some(value) = value(name) {
            filled.push_str(&text[end..place.start]);
            filled.push_str(&value?);
            end = place.end;
        }
    }
    filled.push_str(&text[end..]);
    Ok(filled)
}

/// Returns the holes of a text: the name in each, and its place.
fn holes(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut end = 0;
    text.match_indices('{').filter_map(move |(at, _)| {
        let inside = text[at..].strip_prefix("{{").filter(|_| at >= end)?;
        let (inside, _) = inside.split_once("}}")?;
        let name = inside.trim();
        let is_name = !name.is_empty() && name.bytes().all(is_part);
        // A `{{` that starts no hole is part of the text.
        is_name.then(|| {
            end = at + "{{}}".len() + inside.len();
            (name, at..end)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names_are_filled_in() {
        let cases = [
            ("", ""),
            ("a {{x}} b {{ x }}{{x}}\n\n", "a 1 b 11"),
            ("{{y}} {{ x.y }} {{", "{{y}} {{ x.y }} {{"),
            ("{{{x}}} {x} {{}} {{x", "{1} {x} {{}} {{x"),
            ("{% if x %}{{ x | upper }}ü{{x}}", "{% if x %}{{ x | upper }}ü1"),
        ];
        for (text, expected) in cases {
            let value = |name: &str| (name == "x").then(|| Ok::<_, ()>("1".to_owned()));
            assert_eq!(fill(text, value), Ok(expected.to_owned()), "{text}");
        }
        let found: Vec<&str> = names("{{a}}{{ b }}{{c d}}{{ {{e}}").collect();
        assert_eq!(found, ["a", "b", "e"]);
    }

    #[test]
    fn what_is_filled_in_is_not_looked_into() {
        let value = |_: &str| Some(Ok::<_, ()>("{{x}}".to_owned()));
        assert_eq!(fill("{{x}}{{x}}", value), Ok("{{x}}{{x}}".to_owned()));
    }
}
