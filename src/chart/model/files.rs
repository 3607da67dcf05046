//! What a chart looks at in the instance's directory: sets of files, and rows of files.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::value::{FilePattern, LineText, SetPattern};
use crate::files::pattern::{Captures, Pattern};
use crate::hash::IndexMap;

/// A set of files: their patterns, or a table that also says which of their lines to read.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub enum FileSet {
    Names(Vec<SetPattern>),
    Read(ReadFiles),
}

/// By hand, so that an error is about the pattern that is wrong.
impl<'de> Deserialize<'de> for FileSet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(EitherSet)
    }
}

struct EitherSet;

impl<'de> Visitor<'de> for EitherSet {
    type Value = FileSet;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of patterns, or a table with `names` and `line`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<FileSet, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(FileSet::Names)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FileSet, A::Error> {
        ReadFiles::deserialize(MapAccessDeserializer::new(map)).map(FileSet::Read)
    }
}

/// A set of files whose lines are read.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFiles {
    /// Patterns of file names, in the instance's directory. One that starts with `!` excludes.
    pub names: Vec<SetPattern>,
    /// The lines that match are the `lines` of each file.
    pub line: LineText,
}

impl FileSet {
    /// Returns its patterns, those that exclude, too.
    pub fn patterns(&self) -> &[SetPattern] {
        match self {
            Self::Names(names) => names,
            Self::Read(read) => &read.names,
        }
    }

    /// Returns the patterns of the names that it includes.
    pub fn included(&self) -> impl Iterator<Item = &Pattern> {
        self.patterns().iter().filter(|pattern| !pattern.excludes).map(|pattern| &pattern.pattern)
    }

    /// Returns the pattern for `lines` of a file.
    pub fn line(&self) -> Option<&Pattern> {
        match self {
            Self::Names(_) => None,
            Self::Read(read) => Some(&read.line),
        }
    }

    /// Returns the captures of the first pattern that includes `name`; `None` if none does or one excludes it.
    pub fn matches(&self, name: &str) -> Option<Captures<'_>> {
        let captures = self.included().find_map(|pattern| pattern.matches(name))?;
        let mut excluding = self.patterns().iter().filter(|pattern| pattern.excludes);
        let is_taken = excluding.any(|pattern| pattern.pattern.matches(name).is_some());
        (!is_taken).then_some(captures)
    }

    /// Returns whether the set includes files in subfolders.
    pub fn is_nested(&self) -> bool {
        self.included().any(Pattern::is_nested)
    }
}

/// The heading of a column, or several that mean the same.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a column is a heading, or a list of headings")]
pub enum Headings {
    One(String),
    Several(Vec<String>),
}

impl Headings {
    /// Returns all of them.
    pub fn list(&self) -> &[String] {
        match self {
            Self::One(heading) => std::slice::from_ref(heading),
            Self::Several(headings) => headings,
        }
    }
}

/// Rows of a file: of a Markdown table by the headings of its columns, or the lines that match a pattern.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The file, in the instance's directory.
    pub file: FilePattern,
    /// Required unless there is `line`. For a Markdown table: the heading of each field's column, or a list of headings,
    /// of which the first one that exists counts. `id` names the row: letters, digits, `_`, `-` and single dots. A row with
    /// another id, or with that of another row, counts as open. `status` says whether the row is finished: `done`, `complete`,
    /// `completed`, `cancelled`, `postponed`, `skipped` and `[x]`, whatever its case, emphasis, signs and what is in
    /// parentheses after it. One that is neither of these nor a usual word for open work is named to the user.
    pub columns: Option<IndexMap<String, Headings>>,
    /// Required unless there are `columns`. For other files: each line that matches is a row.
    pub line: Option<LineText>,
    /// The file that belongs to a row.
    pub path: Option<FilePattern>,
}

impl Table {
    /// Returns the columns, each with its headings.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &[String])> + Clone {
        let columns = self.columns.iter().flatten();
        columns.map(|(field, headings)| (field.as_str(), headings.list()))
    }

    /// Returns the fields of a row that the chart names: the columns, or the holes.
    pub fn fields(&self) -> Vec<&str> {
        let holes = self.line.iter().flat_map(|line| line.holes());
        self.columns().map(|(field, _)| field).chain(holes.map(|(hole, _)| hole)).collect()
    }

    /// Returns whether its rows can be finished.
    pub fn has_status(&self) -> bool {
        self.fields().contains(&"status")
    }

    /// Returns whether a line of a file looks like a row.
    pub fn may_be_row(&self, line: &str) -> bool {
        match &self.line {
            None => line.trim_start().starts_with('|'),
            Some(pattern) => pattern.matches(line).is_some(),
        }
    }
}
