//! The names that a guard looked at, with their values, short enough to be kept for each decision.

use crate::hash::IndexMap;
use crate::text::cut;
use minijinja::value::{Value, ValueKind};
use serde_json::{Map, Value as Json, json};

/// The most characters of a string.
const TEXT: usize = 80;

/// The most items of a list that are shown.
const ITEMS: usize = 3;

/// The most entries of a record.
const ENTRIES: usize = 12;

/// Dotted names and their values.
pub type Saw = IndexMap<String, Json>;

/// Returns the values in short form; of a private string, only the length.
pub(super) fn short(values: IndexMap<String, Value>, is_private: impl Fn(&str) -> bool) -> Saw {
    values
        .into_iter()
        .map(|(name, value)| {
            let short = match value.as_str() {
                Some(text) if is_private(&name) => json!({ "characters": text.chars().count() }),
                _ => whole(&value),
            };
            (name, short)
        })
        .collect()
}

/// Returns a short value; a record is shown with its fields.
fn whole(value: &Value) -> Json {
    if value.kind() != ValueKind::Map {
        return part(value);
    }
    let entries = value.try_iter().into_iter().flatten().take(ENTRIES);
    let entries = entries.map(|key| {
        let entry = value.get_item(&key).unwrap_or_default();
        (cut(key.to_string(), TEXT), part(&entry))
    });
    Json::Object(entries.collect::<Map<_, _>>())
}

/// Returns a short value that is part of another: only the first items of a list, and nothing of a record.
fn part(value: &Value) -> Json {
    match value.kind() {
        ValueKind::Bool => Json::from(value.is_true()),
        ValueKind::Number => serde_json::to_value(value).unwrap_or_default(),
        ValueKind::String => Json::from(cut(value.as_str().unwrap_or_default().to_owned(), TEXT)),
        ValueKind::None | ValueKind::Undefined => Json::Null,
        ValueKind::Seq | ValueKind::Iterable => {
            let all = value.try_iter().into_iter().flatten();
            let (mut items, mut first) = (0, Vec::new());
            for item in all {
                if items < ITEMS && item.kind() != ValueKind::Map {
                    first.push(Json::from(cut(item.to_string(), TEXT)));
                }
                items += 1;
            }
            match first.is_empty() {
                true => json!({ "items": items }),
                false => json!({ "items": items, "first": first }),
            }
        }
        ValueKind::Map => json!({ "items": value.len() }),
        _ => Json::from(cut(value.to_string(), TEXT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_short() {
        let long = "x".repeat(200);
        let rows = Value::from(vec![Value::from_pairs([("id", "1")]); 2]);
        let cases = [
            (Value::from(true), json!(true)),
            (Value::from(3), json!(3)),
            (Value::from(()), json!(null)),
            (Value::from("a"), json!("a")),
            (Value::from(long.as_str()), json!(format!("{}…", "x".repeat(80)))),
            (Value::from(Vec::<Value>::new()), json!({ "items": 0 })),
            (
                Value::from(vec!["a", "b", "c", "d"]),
                json!({ "items": 4, "first": ["a", "b", "c"] }),
            ),
            (rows.clone(), json!({ "items": 2 })),
            (
                Value::from_pairs([("exists", Value::from(true)), ("rows", rows)]),
                json!({ "exists": true, "rows": { "items": 2 } }),
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(whole(&value), expected, "{value}");
        }
    }
}
