//! What a decision is: data that the shell carries out and a person can be shown.

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::saw::Saw;
use crate::files::clock::Moment;
use crate::host::reply::Reply;

/// The outcome of one call of `decide`.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and it is taken apart at once"
)]
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Run this, then decide again in a new world.
    Invoke(Box<Invocation>),
    /// Carry this out.
    Done(Decision),
}

/// What is to be written and said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// The rules that fired, in order.
    pub fired: Vec<Fired>,
    /// The rules that were tried, in order. Empty in the model checker, which asks for decisions by the million.
    pub tried: Vec<Tried>,
    /// Context fields to write, all in one atomic write.
    pub patch: IndexMap<String, Json>,
    /// What is to be done to files, in this order and before the state is written.
    pub effects: Vec<Effect>,
    /// For the user.
    pub messages: Vec<String>,
    /// For the agent.
    pub says: Vec<String>,
    /// The run that it is about.
    pub ended: Option<Ended>,
    /// The answer to the event.
    pub answer: Answer,
}

impl Decision {
    /// Returns true if it changes neither state nor files.
    pub fn writes_nothing(&self) -> bool {
        self.patch.is_empty() && self.effects.is_empty()
    }

    /// Returns the answer to the host's `event`; `quiet` is the chart's.
    pub fn into_reply(self, event: &str, quiet: bool) -> Reply {
        let block = match self.answer {
            Answer::Block(reason) => Some(reason),
            Answer::Pass | Answer::Allow | Answer::Action { .. } | Answer::Refuse(_) => None,
        };
        Reply::new(event, quiet, block, self.messages, self.says)
    }

    /// Returns why its run failed, if it did.
    pub fn failure(&self) -> Option<&str> {
        self.ended.as_ref()?.outcome.in_two().1
    }
}

/// Something to be done to a file. Paths are from the project's root and below the chart's home.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Makes a file; an error if it exists.
    Write { path: String, text: String },
    /// Adds a line to a file that has not got it; makes the file.
    Ensure { path: String, line: String },
    /// Renames a file; an error if the new name is taken.
    Rename { from: String, to: String },
    /// Removes an instance's directory with all that is in it.
    Remove { path: String },
}

impl Effect {
    /// Returns the path that it leaves behind or removes.
    pub fn path(&self) -> &str {
        match self {
            Self::Write { path, .. } | Self::Ensure { path, .. } | Self::Remove { path } => path,
            Self::Rename { to, .. } => to,
        }
    }
}

/// A rule that fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fired {
    /// Its place: `on.Stop[2]`, `phases.complete`.
    pub place: String,
    /// The cycle that it ended, and which of that cycle's advance targets it took.
    pub advance: Option<(String, usize)>,
}

/// A rule that was tried, and what its guard made of the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Where it stands, as in [`Fired`].
    pub place: String,
    /// True where its guard held.
    pub holds: bool,
    /// What the guard looked at.
    pub saw: Saw,
}

/// The answer to an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Answer {
    /// No rule answered: the event is allowed.
    #[default]
    Pass,
    /// The stop is allowed.
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
pub struct Invocation {
    /// Its name in the chart.
    pub name: String,
    /// The cycle it runs for.
    pub cycle: String,
    /// The number of the review.
    pub n: i64,
    /// The file it is to write, below the instance's directory.
    pub file: String,
    /// The files it reads, below the instance's directory: all must exist.
    pub subject: Vec<String>,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Where its stderr goes, below the instance's directory.
    pub log: String,
    /// Seconds until it is ended.
    pub timeout: u64,
}

impl Invocation {
    /// Returns true if `other` asks for the same review: same cycle, number, file and subject.
    pub fn is_same_request(&self, other: &Self) -> bool {
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

/// A run that has ended, as the second call of `decide` receives it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ended {
    /// What was run.
    pub invocation: Invocation,
    /// How it ended.
    pub outcome: Outcome,
    /// Someone entered a phase or ran a command meanwhile.
    pub superseded: bool,
    /// What it took. Only texts show it; no rule depends on it.
    pub effort: Effort,
}

impl Ended {
    /// Returns a run that nobody has superseded and whose effort is unknown.
    pub fn new(invocation: Invocation, outcome: Outcome) -> Self {
        Self {
            invocation,
            outcome,
            superseded: false,
            effort: Effort::default(),
        }
    }
}

/// What a run took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Effort {
    /// Who did it, as the chart says.
    pub by: Option<String>,
    pub seconds: u64,
    /// What it cost, in millionths of a dollar.
    pub cost: Option<u64>,
    /// How many tokens it took.
    pub tokens: Option<u64>,
    /// It failed, and until then every other one would.
    pub until: Option<Moment>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It wrote its file; with the verdict it gave, if it gave one.
    Ran { verdict: Option<String> },
    /// It failed, and why.
    Failed(String),
}

impl Outcome {
    /// The verdict, where it gave one, and why it failed, where it did.
    pub fn in_two(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Self::Ran { verdict } => (verdict.as_deref(), None),
            Self::Failed(why) => (None, Some(why)),
        }
    }
}
