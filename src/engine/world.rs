//! What a decision may look at besides the event, as questions: one world gives one answer to each.

use minijinja::value::Value;

use super::context::Context;
use super::fault::Fault;

/// A question about the world.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// `scope`: `started`, `name`, `path`, `home`.
    Scope,
    /// `files.NAME`: a list of records with `name`, `path` and what the holes matched.
    Files(String),
    /// `tables.NAME`: a record with `rows`, `open`, `head`, `prose`, `lines`, `exists`.
    Table(String),
    /// Whether both files exist and the first is not older than the second.
    Answers { answer: String, review: String },
}

/// The answers to the questions.
pub(crate) trait World: std::fmt::Debug + Send + Sync {
    /// The typed fields of `state.json`, with defaults where keys are absent.
    fn context(&self) -> &Context;

    /// The answer to `source`: always the same one in one world.
    fn look(&self, source: &Source) -> Result<Value, Fault>;
}
