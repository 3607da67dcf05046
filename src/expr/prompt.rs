//! Prompts that a user may replace: plain text in which `{{name}}` is filled in and nothing else is special.
//!
//! A user's file is not a template of the engine: it can run nothing, look at nothing else, and cannot be wrong.

/// Returns the names between `{{` and `}}`, in order, with repetitions.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Hole { name, .. } => Some(name),
        Piece::Text(_) => None,
    })
}

/// Returns the text with its holes filled; a hole without a `value` stays. Whitespace at the end of the file is not
/// part of the message, so it is cut off.
pub fn fill<E>(
    text: &str,
    mut value: impl FnMut(&str) -> Option<Result<String, E>>,
) -> Result<String, E> {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text.trim_end()) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Hole { name, whole } => match value(name) {
                Some(value) => filled.push_str(&value?),
                None => filled.push_str(whole),
            },
        }
    }
    Ok(filled)
}

enum Piece<'t> {
    Text(&'t str),
    Hole { name: &'t str, whole: &'t str },
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, length) = match rest.strip_prefix("{{").and_then(hole) {
            Some((name, length)) => (
                Piece::Hole {
                    name,
                    whole: &rest[..length + 2],
                },
                length + 2,
            ),
            None => {
                // A `{{` that starts no hole is part of the text.
                let opened = usize::from(rest.starts_with("{{"));
                let end = rest[opened..]
                    .find("{{")
                    .map_or(rest.len(), |at| at + opened);
                (Piece::Text(&rest[..end]), end)
            }
        };
        rest = &rest[length..];
        Some(piece)
    })
}

/// Returns the name that follows a `{{`, and its length including the `}}`.
fn hole(rest: &str) -> Option<(&str, usize)> {
    let end = rest.find("}}")?;
    let name = rest[..end].trim();
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, end + 2))
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
            (
                "{% if x %}{{ x | upper }}ü{{x}}",
                "{% if x %}{{ x | upper }}ü1",
            ),
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
