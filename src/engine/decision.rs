//! What a decision is: data that the shell carries out and a person can be shown.

use indexmap::IndexMap;
use serde_json::Value as Json;

/// The outcome of one call of `decide`.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and it is taken apart at once"
)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Run this, then decide again in the world read anew.
    Invoke(Box<Invocation>),
    /// Carry this out.
    Done(Decision),
}

/// What is to be written and said.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Decision {
    /// The rules that fired, in order.
    pub(crate) fired: Vec<Fired>,
    /// Context fields to write, all in one atomic write.
    pub(crate) patch: IndexMap<String, Json>,
    /// What is to be done to files, in this order and before the state is written.
    pub(crate) effects: Vec<Effect>,
    /// For the user.
    pub(crate) messages: Vec<String>,
    /// For the agent.
    pub(crate) says: Vec<String>,
    /// The run that it is about.
    pub(crate) ended: Option<Ended>,
    /// The answer to the event.
    pub(crate) answer: Answer,
}

impl Decision {
    /// True where it changes neither state nor files.
    pub(crate) fn writes_nothing(&self) -> bool {
        self.patch.is_empty() && self.effects.is_empty()
    }

    /// Why the run that it is about failed, where it did.
    pub(crate) fn failure(&self) -> Option<&str> {
        match &self.ended.as_ref()?.outcome {
            Outcome::Failed(why) => Some(why),
            Outcome::Ran { .. } => None,
        }
    }
}

/// Something to be done to a file. Paths are from the project's root and below the chart's home.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Effect {
    /// Makes a file; an error where there is one.
    Write { path: String, text: String },
    /// Adds a line to a file that has not got it; makes the file.
    Ensure { path: String, line: String },
    /// Renames a file; an error where the other name is taken.
    Rename { from: String, to: String },
    /// Removes an instance's directory with all that is in it.
    Remove { path: String },
}

/// A rule that fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fired {
    /// Where it stands: `on.Stop[2]`, `phases.complete`.
    pub(crate) place: String,
    /// The cycle that it ended, and which of that cycle's advance targets it took.
    pub(crate) advance: Option<(String, usize)>,
}

/// The answer to an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    /// No rule answered: the event takes its course.
    #[default]
    Pass,
    /// The stop goes through.
    Allow,
    /// The agent goes on, with this text.
    Block(String),
    /// What to do now, and why.
    Action { action: String, why: String },
    /// The command or the phase does not apply, and why.
    Refuse(String),
}

/// A process to run, with all texts rendered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Invocation {
    /// Its name in the chart.
    pub(crate) name: String,
    /// The cycle it runs for.
    pub(crate) cycle: String,
    /// The number of the review.
    pub(crate) n: i64,
    /// The file it is to write, below the instance's directory.
    pub(crate) file: String,
    /// The files it reads, below the instance's directory: all must exist.
    pub(crate) subject: Vec<String>,
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// Where its stderr goes, below the instance's directory.
    pub(crate) log: String,
}

impl Invocation {
    /// True where `other` asks for the very same review: same cycle, number, file and subject.
    pub(crate) fn is_same_request(&self, other: &Self) -> bool {
        (&self.name, &self.cycle, self.n, &self.file, &self.subject)
            == (
                &other.name,
                &other.cycle,
                other.n,
                &other.file,
                &other.subject,
            )
    }
}

/// A run that has ended, as the second call of `decide` is told.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Ended {
    /// What was run.
    pub(crate) invocation: Invocation,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// Someone entered a phase or ran a command meanwhile.
    pub(crate) superseded: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// It wrote its file; with the verdict it gave, if it gave one.
    Ran { verdict: Option<String> },
    /// It failed, and why.
    Failed(String),
}
