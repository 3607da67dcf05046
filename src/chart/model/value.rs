//! What many keys hold: the names of files, lines with holes, and assignments.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error as _};

use crate::expr::source::Literal;
use crate::files::pattern::Pattern;
use crate::hash::IndexMap;

/// A file name with holes: `{base}-review-{n:int}.md`. It renders a name and matches one.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(transparent, title = "pattern")]
pub struct FilePattern(pub String, #[schemars(skip)] Pattern);

impl Deref for FilePattern {
    type Target = Pattern;

    fn deref(&self) -> &Pattern {
        &self.1
    }
}

impl<'de> Deserialize<'de> for FilePattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let pattern = Pattern::parse(&text).map_err(D::Error::custom)?;
        Ok(Self(text, pattern))
    }
}

/// A file name with holes, or with `!` before it, which takes names away.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(transparent, title = "pattern")]
pub struct SetPattern {
    text: String,
    #[schemars(skip)]
    pub excludes: bool,
    #[schemars(skip)]
    pub pattern: Pattern,
}

impl<'de> Deserialize<'de> for SetPattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let pattern = Pattern::parse(text.strip_prefix('!').unwrap_or(&text));
        let pattern = pattern.map_err(D::Error::custom)?;
        Ok(Self { excludes: text.starts_with('!'), pattern, text })
    }
}

/// A line of text with holes: `- **Status**: {status}`. Emphasis does not count.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(transparent, title = "line pattern")]
pub struct LineText(String, #[schemars(skip)] Pattern);

impl Deref for LineText {
    type Target = Pattern;

    fn deref(&self) -> &Pattern {
        &self.1
    }
}

impl<'de> Deserialize<'de> for LineText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let pattern = Pattern::line(&text).map_err(D::Error::custom)?;
        Ok(Self(text, pattern))
    }
}

/// Assignments: context field → value.
pub type Assign = IndexMap<String, Literal>;
