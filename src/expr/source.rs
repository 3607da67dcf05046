//! Expressions, texts and values as a chart declares them. This is data; nothing is evaluated here. The reference and
//! the schema call each type by its title.

use schemars::JsonSchema;
use serde::Deserialize;

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

/// A value to assign, or a default.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a value is a boolean, an integer, a string or a list of strings"
)]
pub enum Literal {
    Boolean(bool),
    Integer(i64),
    Text(Text),
    /// A list of strings, as written.
    List(Vec<String>),
    /// Null, which `clear` assigns. No literal in a chart is parsed as this.
    #[serde(skip)]
    Null,
}
