//! The answer to a question of a decision: a value, or what is known of one; and values in words.

use std::sync::LazyLock;

use serde_json::{Map, Value as Json};

use crate::expr::ExprError;

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    Value(Json),
    /// Of an expression that was assumed to have any result: the one that it has with the values that were chosen.
    AsItIs,
    /// The text can be rendered, whatever it says.
    Made,
    /// The expression fails; with its error if it was evaluated on its own.
    Fails(Option<Box<ExprError>>),
    /// Of a context field: any value that it may hold.
    Unknown,
}

/// What expressions see of a field whose value is unknown. No type of field holds an object, so it is no chart's value.
static UNKNOWN: LazyLock<Json> = LazyLock::new(|| Json::Object(Map::new()));

static NULL: Json = Json::Null;

impl Answer {
    /// Returns the value; null where there is none.
    pub(crate) fn value(&self) -> &Json {
        match self {
            Self::Value(value) => value,
            _ => &NULL,
        }
    }

    /// Returns what expressions see of a field that holds this.
    pub(crate) fn seen(&self) -> &Json {
        match self {
            Self::Value(value) => value,
            _ => &UNKNOWN,
        }
    }

    /// Returns what a field holds that a decision has assigned this.
    pub(crate) fn held(value: Json) -> Self {
        match value {
            Json::Object(_) => Self::Unknown,
            value => Self::Value(value),
        }
    }
}

/// Returns a value as a person writes it: a text without quotes, unless it would not be seen.
pub(crate) fn plain(value: &Json) -> String {
    match value.as_str() {
        Some("") => "''".to_owned(),
        Some(text) => text.to_owned(),
        None => value.to_string(),
    }
}

impl From<bool> for Answer {
    fn from(value: bool) -> Self {
        Self::Value(Json::Bool(value))
    }
}
