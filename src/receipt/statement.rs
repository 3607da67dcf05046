//! A receipt as a statement of in-toto, and the file of an instance that has one in each line.
//!
//! Each line has the hash of its statement, and each statement the hash of the line from which it goes on. Whoever changes one has to make
//! all that follow again, and cannot make the signatures.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::charts::Whole;
use super::{ReviewEntry, Sealed};
use crate::engine::context::Context;
use crate::engine::replayable::Known;
use crate::hash::{self, IndexMap};
use crate::project::change::Blobs;
use crate::text::shown;

/// The file in an instance's directory.
pub(crate) const FILE: &str = "receipts.jsonl";

/// The type of every statement of in-toto.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// The type of a receipt.
const RECEIPT: &str = "urn:taskie:receipt:v1";

/// A statement about one or more artifacts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Statement {
    #[serde(rename = "_type")]
    pub(crate) kind: String,
    pub(crate) subject: Vec<Subject>,
    #[serde(rename = "predicateType")]
    pub(crate) predicate_type: String,
    pub(crate) predicate: Predicate,
}

/// What a statement is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) digest: IndexMap<String, String>,
}

impl Subject {
    pub(crate) fn new(name: &str, algorithm: &str, digest: &str) -> Self {
        Self {
            name: name.to_owned(),
            digest: [(algorithm.to_owned(), digest.to_owned())].into_iter().collect(),
        }
    }
}

/// What happened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Predicate {
    /// The version of the program that wrote it.
    pub(crate) taskie: String,
    /// The chart's word for an instance, and the instance's name.
    pub(crate) noun: String,
    pub(crate) name: String,
    /// The hash of the line from which it goes on; none in the first one.
    pub(crate) previous: Option<String>,
    /// The hashes of the last lines of other branches that were merged. They are united with it here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) merges: Vec<String>,
    /// The charts that no line before has, by their hashes.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) charts: IndexMap<String, Whole>,
    /// The settings at its end.
    pub(crate) settings: Context,
    /// What the user has ruled about findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rulings: Vec<String>,
    /// What a reader should know: reviews that were skipped, limits that were raised, changes by someone else.
    pub(crate) remarks: Vec<String>,
    /// Questions to the world, with the answers.
    pub(crate) world: Vec<Known>,
    pub(crate) entries: Vec<Sealed>,
    /// The files of a commit, each with the review that has seen it as it is there; none if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) covered: Option<Blobs>,
}

impl Predicate {
    /// Returns the hashes of the lines that must be before it.
    pub(crate) fn follows(&self) -> impl Iterator<Item = &String> {
        self.previous.iter().chain(&self.merges)
    }
}

impl Statement {
    pub(crate) fn new(subject: Vec<Subject>, predicate: Predicate) -> Self {
        Self { kind: STATEMENT.to_owned(), subject, predicate_type: RECEIPT.to_owned(), predicate }
    }

    /// Returns why it is no receipt, if it is none.
    pub(crate) fn flaw(&self) -> Option<String> {
        let is_receipt = self.kind == STATEMENT && self.predicate_type == RECEIPT;
        (!is_receipt).then(|| {
            let kind = &self.predicate_type;
            format!("it is a statement of type `{kind}`, not `{RECEIPT}`")
        })
    }
}

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line<'l> {
    #[serde(borrow)]
    statement: &'l RawValue,
    pub(crate) sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) signature: Option<String>,
}

impl<'l> Line<'l> {
    /// Reads a line; the error says what is wrong.
    pub(crate) fn parse(text: &'l str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("it is no receipt: {error}"))
    }

    /// Returns the text of its statement.
    pub(crate) fn text(&self) -> &'l str {
        self.statement.get()
    }

    /// Returns the statement; the error says what is wrong.
    pub(crate) fn statement(&self) -> Result<Statement, String> {
        if hash::of(self.text().as_bytes()) != self.sha256 {
            return Err("it was changed: its hash is another one".to_owned());
        }
        let statement: Statement = serde_json::from_str(self.text())
            .map_err(|error| format!("its statement cannot be read: {error}"))?;
        match statement.flaw() {
            Some(flaw) => Err(flaw),
            None => Ok(statement),
        }
    }

    /// Returns the statement if it is exactly what this version writes: what is left out, and what nobody knows, would decide
    /// nothing here, and something for another reader. The error says what is wrong.
    pub(super) fn whole_statement(&self) -> Result<Statement, String> {
        let statement = self.statement()?;
        let written = serde_json::to_value(&statement).ok();
        match written == serde_json::from_str(self.text()).ok() {
            true => Ok(statement),
            false => Err(format!(
                "it has a key too many, or one is missing (it names taskie {} as its writer)",
                shown(&statement.predicate.taskie)
            )),
        }
    }

    /// Returns the line as it is written.
    pub(crate) fn write(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

/// Returns the line of a statement, and its hash.
pub(crate) fn line(statement: &Statement) -> serde_json::Result<(String, String)> {
    let text = serde_json::to_string(statement)?;
    let sha256 = hash::of(text.as_bytes());
    let line = format!("{{\"statement\":{text},\"sha256\":\"{sha256}\"}}");
    Ok((line, sha256))
}

/// Returns the text of the file in an instance's directory; empty if there is none. One that cannot be read is an error, and
/// nothing may be written in its place.
pub(crate) fn read(dir: &Path) -> io::Result<String> {
    let text = crate::disk::read_regular(&dir.join(FILE))?;
    Ok(String::from_utf8_lossy(&text.unwrap_or_default()).into_owned())
}

/// Returns what some reviews were about: the last tree, or else the last review itself.
pub(crate) fn subject<'r>(
    reviews: impl DoubleEndedIterator<Item = &'r ReviewEntry>,
) -> Vec<Subject> {
    let mut file = None;
    for review in reviews.rev() {
        if let Some(tree) = &review.tree {
            return vec![Subject::new("work tree", "gitTree", &tree.tree)];
        }
        if let (None, Some(sha256)) = (&file, &review.review) {
            file = Some(Subject::new(&review.file, "sha256", sha256));
        }
    }
    file.into_iter().collect()
}
