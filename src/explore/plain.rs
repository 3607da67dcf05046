//! Values in words.

use serde_json::Value as Json;

/// Returns a value as a person writes it: a text without quotes, unless it would not be seen.
pub(crate) fn plain(value: &Json) -> String {
    match value.as_str() {
        Some("") => "''".to_owned(),
        Some(text) => text.to_owned(),
        None => value.to_string(),
    }
}
