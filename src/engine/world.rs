//! Everything that a decision may look at besides the event, as questions. A world always gives the same answer to a
//! question.

use minijinja::value::Value;
use serde_json::Value as Json;

use super::fault::Fault;

/// A question about the world.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// `scope`: `started`, `name`, `path`, `home`.
    Scope,
    /// `files.NAME`: a list of records with `name`, `path` and the captures of the holes.
    Files(String),
    /// `tables.NAME`: a record with `rows`, `open`, `prose`, `unread`, `lines`, `exists`.
    Table(String),
    /// Whether both files exist and the first is not older than the second.
    Answers { answer: String, review: String },
    /// `config.NAME`, checked against its type, or its default.
    Config(String),
    /// Whether the last `rounds` reviews of a cycle read exactly what is there now, and agree.
    Stalled {
        cycle: String,
        /// The name of its reviews, with `{n}` for the number.
        files: String,
        /// How many of them count.
        count: i64,
        /// The files that the next one reads.
        subject: Vec<String>,
        rounds: usize,
    },
    /// `findings`, or `cycle.findings`: a list of records with `id`, `last`, `severity`, `state`, `again` and `text`.
    Findings {
        /// The name of the reviews of the cycle that is not over, with `{n}` for the number.
        files: Option<String>,
        /// How many of them count.
        count: i64,
        /// Only those of this cycle.
        is_of_cycle: bool,
    },
    /// `rulings`: what the user has ruled about findings, a list of texts.
    Rulings,
    /// `driver`: who drives the instance, from the point of view of the session: `this`, `other`, or none.
    Driver {
        /// The session of the event.
        session: Option<String>,
    },
    /// `postponed`: until when no reviewer of this invocation can run, in words; none if one can.
    Postponed(String),
    /// `spent`: what reviews cost, and which budget is used up.
    Spent {
        /// The running cycle; empty if there is none.
        cycle: String,
        /// The name of its reviews, with `{n}` for the number.
        files: String,
        /// How many of them count.
        count: i64,
    },
    /// `git.dirty`: uncommitted changes outside the home; false outside git.
    Dirty,
    /// `git.base`: the commit up to which reviews of code that passed have seen everything, or at which the instance began; none
    /// if that is unknown.
    Base,
    /// `siblings`: the other instances, a list of records with `name`, `path`, `idle_hours`, `unreadable`, `context`
    /// and `files`. If the state cannot be read, every field of the context is none.
    Siblings,
    /// `now`: the time to the second, in a form for file names.
    Now,
    /// The names in a folder, from the project's root.
    Names(String),
    /// The text of the user's own prompt in the home; none if there is no such file.
    Prompt(String),
}

/// The answers to the questions.
pub trait World: std::fmt::Debug + Send + Sync {
    /// Returns one field of the context, or its default. A world may record which fields a decision reads.
    fn field(&self, name: &str) -> Option<&Json>;

    /// Returns the answer to `source`, always the same one in one world.
    fn look(&self, source: &Source) -> Result<Value, Fault>;
}
