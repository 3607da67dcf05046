//! What many keys hold: the names of files, lines with holes, and assignments.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::expr::source::Literal;
use crate::hash::IndexMap;

/// A file name with holes: `{base}-review-{n:int}.md`. It renders a name and matches one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "pattern")]
pub struct FilePattern(pub String);

/// A line of text with holes: `- **Status**: {status}`. Emphasis does not count.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "line pattern")]
pub struct LineText(pub String);

/// Assignments: context field → value.
pub type Assign = IndexMap<String, Literal>;
