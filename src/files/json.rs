//! JSON from outside: refused before it takes many times its size.

use std::fmt;

use serde_json::Value as Json;

/// The most values that a text may hold: each takes dozens of bytes, however short it is.
const MAX_VALUES: usize = 100_000;

/// Reads a text as JSON.
pub fn parse(text: &[u8]) -> Result<Json, Unread> {
    match has_too_many_values(text) {
        true => Err(Unread::TooManyValues),
        false => serde_json::from_slice(text).map_err(Unread::Invalid),
    }
}

/// Why a text is not read.
#[derive(Debug)]
pub enum Unread {
    TooManyValues,
    Invalid(serde_json::Error),
}

impl fmt::Display for Unread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyValues => write!(out, "it holds more than {MAX_VALUES} values"),
            Self::Invalid(error) => write!(out, "it is not valid JSON: {error}"),
        }
    }
}

/// Returns whether a text holds too many values to be read. Counts what separates them, without reading them.
fn has_too_many_values(text: &[u8]) -> bool {
    let (mut is_string, mut is_escaped) = (false, false);
    let separators = text.iter().filter(|byte| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match **byte {
            b'\\' if is_string => is_escaped = !was_escaped,
            b'"' if !was_escaped => is_string = !is_string,
            b',' | b'[' | b'{' => return !is_string,
            _ => {}
        }
        false
    });
    // Nothing shorter can hold as many.
    text.len() > MAX_VALUES && separators.count() > MAX_VALUES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_strings() {
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        for item in ["0", "[]", "{}", r#""a\\","b""#] {
            let too_long = list(item, MAX_VALUES + 1);
            let read = parse(too_long.as_bytes());
            assert!(matches!(read, Err(Unread::TooManyValues)), "{item}");
        }
        for item in [r#"",,,\",""#, r#""[{\\\"[""#] {
            let text = list(item, MAX_VALUES / 2);
            assert!(parse(text.as_bytes()).is_ok(), "{item}");
        }
    }
}
