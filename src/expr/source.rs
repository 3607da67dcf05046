//! Expressions, texts and values as a chart declares them. This is data; nothing is evaluated here. The reference and
//! the schema call each type by its title.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

/// A bare expression: `next_phase == 'complete'`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "expression")]
pub struct Expr(pub String);

/// A text with holes: `Task {{ current_task }}`. One that is a single `{{ … }}` keeps its type.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "text")]
pub struct Text(pub String);

impl AsRef<str> for Expr {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// A value to assign, or a default.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "Json")]
#[schemars(untagged, !try_from)]
pub enum Literal {
    Text(Text),
    Boolean(bool),
    Integer(i64),
    /// A list of strings, as written.
    List(Vec<String>),
}

/// By hand, because an attempt at each type makes an error, and every stop reads some.
impl TryFrom<Json> for Literal {
    type Error = &'static str;

    fn try_from(json: Json) -> Result<Self, Self::Error> {
        Ok(match json {
            Json::String(text) => Self::Text(Text(text)),
            Json::Bool(value) => Self::Boolean(value),
            json if let Some(value) = json.as_i64() => Self::Integer(value),
            json => Self::List(
                serde_json::from_value(json)
                    .map_err(|_| "this is no boolean, integer, string or list of strings")?,
            ),
        })
    }
}

impl Literal {
    /// Returns the text, if it is one.
    pub fn text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}
