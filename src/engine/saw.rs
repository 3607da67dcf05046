//! The name that a guard looked up last, with its value, short enough to be kept for each decision.

use crate::text::cut;
use minijinja::value::{Value, ValueKind};
use serde_json::{Value as Json, json};

/// The most characters of a string.
const TEXT: usize = 80;

/// A dotted name and its value; `None` if nothing was looked up.
pub type Saw = Option<(String, Json)>;

/// Returns a value in short form: of a list and a record how many items it has, and of a private string the length.
pub(super) fn short(value: &Value, is_private: bool) -> Json {
    if let (true, Some(text)) = (is_private, value.as_str()) {
        return json!({ "characters": text.chars().count() });
    }
    match value.kind() {
        ValueKind::Bool => Json::from(value.is_true()),
        ValueKind::Number => serde_json::to_value(value).unwrap_or_default(),
        ValueKind::String => Json::from(cut(value.as_str().unwrap_or_default().to_owned(), TEXT)),
        ValueKind::None | ValueKind::Undefined => Json::Null,
        ValueKind::Seq | ValueKind::Iterable => {
            json!({ "items": value.try_iter().into_iter().flatten().count() })
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
            (Value::from(vec!["a", "b", "c", "d"]), json!({ "items": 4 })),
            (rows, json!({ "items": 2 })),
        ];
        for (value, expected) in cases {
            assert_eq!(short(&value, false), expected, "{value}");
        }
    }
}
