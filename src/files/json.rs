//! JSON from outside, which is refused before it takes many times its size, and the version of what is printed.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use crate::hash::IndexMap;
use crate::text::shown;

/// The most values that a text may hold: each takes dozens of bytes, however short it is.
const MAX_VALUES: usize = 100_000;

/// Reads a text as JSON. The error is the rest of a sentence about the text.
pub fn parse(text: &[u8]) -> Result<Json, String> {
    if has_too_many_values(text) {
        return Err(format!("it contains more than {MAX_VALUES} values"));
    }
    serde_json::from_slice(text).map_err(|error| match unreadable_field(text) {
        Some(field) => format!("`{}` cannot be read: {error}", shown(&field)),
        None => format!("it is not valid JSON: {error}"),
    })
}

/// Returns a text in which each escape of half a character stands for the sign of an unknown one: programs cut texts anywhere.
pub fn whole(text: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|sign| *sign == b'\\') {
        let (before, escape) = rest.split_at(at);
        whole.extend(before);
        let is_pair = |high: u16| {
            let low = escape.get(6..).and_then(half);
            high < 0xdc00 && low.is_some_and(|low| low >= 0xdc00)
        };
        let length = match half(escape) {
            Some(high) if is_pair(high) => 12,
            Some(_) => 6,
            None => escape.len().min(2),
        };
        match length {
            6 => whole.extend(br"\ufffd"),
            _ => whole.extend(&escape[..length]),
        }
        rest = &escape[length..];
    }
    whole.extend(rest);
    whole
}

/// Returns the half of a character that an escape at the start of a text stands for.
fn half(text: &[u8]) -> Option<u16> {
    let digits = str::from_utf8(text.get(..6)?.strip_prefix(br"\u")?).ok()?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| (0xd800..0xe000).contains(unit))
}

/// Returns an object that is printed for programs: with the version of the format before its fields. The version changes
/// when a field is removed or changes its meaning.
pub fn versioned(fields: Json) -> Json {
    let mut object = Map::from_iter([("version".to_owned(), Json::from(1))]);
    if let Json::Object(fields) = fields {
        object.extend(fields);
    }
    Json::Object(object)
}

/// Returns the first field of an object that is JSON and still cannot be read, because of a number that is out of range or
/// of too many levels.
fn unreadable_field(text: &[u8]) -> Option<String> {
    let fields: IndexMap<String, &RawValue> = serde_json::from_slice(text).ok()?;
    let is_unreadable = |raw: &RawValue| serde_json::from_str::<Json>(raw.get()).is_err();
    let mut fields = fields.into_iter();
    let found = fields.find(|(_, raw)| is_unreadable(raw));
    found.map(|(field, _)| field)
}

/// Returns a key that an object has twice. Readers disagree about which of the two counts.
pub fn repeated_key(text: &[u8]) -> Option<String> {
    let Keys(repeated) = serde_json::from_slice(text).ok()?;
    repeated
}

/// The first key of an object that is there a second time.
struct Keys(Option<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Self(None))
    }
}

impl<'de> Visitor<'de> for Keys {
    type Value = Self;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(mut self, mut map: M) -> Result<Self, M::Error> {
        let mut seen = HashSet::new();
        while let Some((key, _)) = map.next_entry::<String, IgnoredAny>()? {
            if !seen.insert(key.clone()) && self.0.is_none() {
                self.0 = Some(key);
            }
        }
        Ok(self)
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
    // Nothing shorter can hold more values.
    text.len() > MAX_VALUES && separators.count() > MAX_VALUES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_range_is_refused_by_the_name_of_its_field() {
        let read = |text: &str| parse(text.as_bytes());
        assert_eq!(
            read(r#"{"a": 1, "b": [2, -1e999]}"#),
            Err("`b` cannot be read: number out of range at line 1 column 24".to_owned())
        );
        assert_eq!(
            read("1e999"),
            Err("it is not valid JSON: number out of range at line 1 column 5".to_owned())
        );
    }

    #[test]
    fn halves_of_characters() {
        for (text, expected) in [
            (r#""\ud83d\ude00 \ud83d""#, "\u{1f600} \u{fffd}"),
            (r#""\ude00\ud83d\ud83d\ude00""#, "\u{fffd}\u{fffd}\u{1f600}"),
            (r#""\\ud83d \\\ud83d\n""#, "\\ud83d \\\u{fffd}\n"),
        ] {
            assert_eq!(parse(&whole(text.as_bytes())).unwrap(), Json::from(expected), "{text}");
        }
        assert_eq!(whole(br"\ud83"), br"\ud83");
        assert_eq!(whole(br"\"), br"\");
    }

    #[test]
    fn values_are_counted_outside_strings() {
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        for item in ["0", "[]", "{}", r#""a\\","b""#] {
            let too_long = list(item, MAX_VALUES + 1);
            let read = parse(too_long.as_bytes());
            assert!(read.is_err_and(|why| why.ends_with("values")), "{item}");
        }
        for item in [r#"",,,\",""#, r#""[{\\\"[""#] {
            let text = list(item, MAX_VALUES / 2);
            assert!(parse(text.as_bytes()).is_ok(), "{item}");
        }
    }
}
