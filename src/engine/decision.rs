//! A decision: data that the shell carries out, and that can be shown to a person.

use serde_json::Value as Json;

use super::context::Context;
use super::saw::Saw;
use crate::hash::IndexMap;
use crate::host::reply::Reply;
use crate::reviewer::finding::Found;

/// The result of one call of `decide`.
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

/// What to write and what to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// The rules that fired, in order.
    pub fired: Vec<Fired>,
    /// The rules that were tried, in order.
    pub tried: Vec<Tried>,
    /// Context fields to write, all in one atomic write.
    pub patch: IndexMap<String, Json>,
    /// Changes to files, made in this order and before the state is written.
    pub effects: Vec<Effect>,
    /// For the user.
    pub messages: Vec<String>,
    /// For the agent.
    pub says: Vec<String>,
    /// The run that the decision is about.
    pub ended: Option<Ended>,
    /// The answer to the event.
    pub answer: Answer,
}

impl Decision {
    /// Returns whether it changes neither state nor files.
    pub fn writes_nothing(&self) -> bool {
        self.patch.is_empty() && self.effects.is_empty()
    }

    /// Writes the fields into a context, and returns those that it had, with their previous values.
    pub(crate) fn apply(&self, context: &mut Context) -> Context {
        let mut before = Context::default();
        for (name, value) in &self.patch {
            let old = context.insert(name.clone(), value.clone());
            before.extend(old.map(|old| (name.clone(), old)));
        }
        before
    }

    /// Returns the answer to the host's `event`; `quiet` is the chart's.
    pub fn into_reply(self, event: &str, quiet: bool) -> Reply {
        let mut reply = Reply::silent(event, quiet);
        reply.has_passed = self.advances();
        if let Answer::Block(reason) = self.answer {
            reply.block = Some(reason);
        }
        (reply.messages, reply.says) = (self.messages, self.says);
        reply
    }

    /// Returns whether a cycle has passed, or is left as if it had.
    pub fn advances(&self) -> bool {
        self.fired.iter().any(|fired| fired.advance.is_some())
    }

    /// Returns whether its run does not count.
    pub fn is_set_aside(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| ended.superseded)
    }

    /// Returns why its run failed, if it did.
    pub fn failure(&self) -> Option<&str> {
        self.ended.as_ref()?.outcome.verdict_and_error().1
    }
}

/// A change outside the state. Paths are relative to the project's root and inside the chart's home.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Creates a file; an error if it exists.
    Write { path: String, text: String },
    /// Writes a file in place of what is there; creates it if necessary.
    Replace { path: String, text: String },
    /// Adds a line to a file that doesn't contain it; creates the file if necessary.
    Ensure { path: String, line: String },
    /// Renames a file; an error if the new name is taken.
    Rename { from: String, to: String },
    /// Removes an instance's directory with everything in it.
    Remove { path: String },
    /// Ends the review that is running for an instance's directory; an error if there is none.
    Cancel { path: String },
}

impl Step {
    /// Returns the decision, if it is one.
    pub(crate) fn decision(self) -> Option<Decision> {
        match self {
            Self::Done(decision) => Some(decision),
            Self::Invoke(_) => None,
        }
    }

    /// Returns the fields that it writes; `None` if it is no decision, or if it refuses.
    pub(crate) fn patch(self) -> Option<Context> {
        let decision = self.decision()?;
        (!matches!(decision.answer, Answer::Refuse(_))).then_some(decision.patch)
    }

    /// Returns why the run that was due failed, if it did.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Done(decision) => decision.failure(),
            Self::Invoke(_) => None,
        }
    }
}

impl Effect {
    /// Returns the path that it is about; the new one if there are two.
    pub fn path(&self) -> &str {
        match self {
            Self::Write { path, .. }
            | Self::Replace { path, .. }
            | Self::Ensure { path, .. }
            | Self::Remove { path }
            | Self::Cancel { path } => path,
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

/// A rule that was tried, and the result of its guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Its place, as in [`Fired`].
    pub place: String,
    /// Whether its guard was true.
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
    /// The stop is blocked: the agent continues, with this text.
    Block(String),
    /// The answer to `next`: what to do now, and why.
    Action { action: String, why: String },
    /// The command or the phase does not apply, and why.
    Refuse(String),
}

impl Answer {
    /// Returns the word for it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Allow => "allow",
            Self::Block(_) => "block",
            Self::Action { .. } => "action",
            Self::Refuse(_) => "refuse",
        }
    }
}

/// A process to run, with all texts rendered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Invocation {
    /// The reviewer's name in the chart.
    pub name: String,
    /// The reviewer and its model, as the chart names them.
    pub by: String,
    /// The cycle that it runs for.
    pub cycle: String,
    /// The number of the review.
    pub n: i64,
    /// The file that it must write, in the instance's directory.
    pub file: String,
    /// The files that it reads, in the instance's directory: all must exist.
    pub subject: Vec<String>,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its time limit in seconds.
    pub timeout: u64,
    /// The command lines that must succeed before it is started, in order.
    pub gates: Vec<String>,
}

impl Invocation {
    /// Returns whether `other` asks for the same review: same cycle, number, file and subject.
    pub fn is_same_request(&self, other: &Self) -> bool {
        (&self.name, &self.cycle, self.n, &self.file, &self.subject)
            == (&other.name, &other.cycle, other.n, &other.file, &other.subject)
    }
}

/// A run that has ended, as the second call of `decide` receives it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ended {
    /// What was run.
    pub invocation: Invocation,
    /// How it ended.
    pub outcome: Outcome,
    /// It does not count: the state no longer asks for it.
    pub superseded: bool,
    /// What it cost. Only texts show it; no rule depends on it.
    pub effort: Effort,
}

impl Ended {
    /// Returns a run that counts and whose effort is unknown.
    pub fn new(invocation: Invocation, outcome: Outcome) -> Self {
        Self { invocation, outcome, superseded: false, effort: Effort::default() }
    }

    /// Returns the verdict and the findings, as sentences that end a message.
    pub(crate) fn result(&self) -> Option<String> {
        let Outcome::Ran { verdict, found } = &self.outcome else {
            return None;
        };
        let named = found.named(&self.invocation.file);
        let named: Vec<String> = named.map(|(id, finding)| finding.in_words(&id)).collect();
        let verdict = verdict.as_deref().unwrap_or("missing");
        Some(match named.is_empty() {
            true => format!("The verdict is {verdict}."),
            false => format!(
                "The verdict is {verdict}, and these are the findings:\n\n- {}",
                named.join("\n- ")
            ),
        })
    }
}

/// The time and money that a run took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Effort {
    /// The reviewer, as named by the chart.
    pub by: Option<String>,
    pub seconds: u64,
    /// What it cost, in millionths of a dollar.
    pub cost: Option<u64>,
    /// No reviewer was started: something was missing, or its verdict could not count.
    pub not_started: bool,
    /// It failed, and until then no other one is tried, in seconds since 1970.
    pub until: Option<u64>,
}

impl Effort {
    /// Adds what the run before this one took. The cost of both is known only if that of each is.
    pub fn follow(&mut self, before: Self) {
        let by: Vec<String> = before.by.into_iter().chain(self.by.take()).collect();
        self.by = Some(by.join(" and ")).filter(|by| !by.is_empty());
        self.seconds += before.seconds;
        self.cost = self.cost.zip(before.cost).map(|(cost, before)| cost + before);
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It wrote its file, gave this verdict, if any, and found this.
    Ran { verdict: Option<String>, found: Found },
    /// It failed, and why.
    Failed(String),
    /// It was not started, because a gate failed.
    Gate(FailedGate),
}

/// A gate that failed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FailedGate {
    /// The command line.
    pub command: String,
    /// How it failed: `exited with code 1`.
    pub why: String,
    /// The last lines of its output.
    pub output: String,
    /// How many gates have failed since a review ran, or the last command.
    pub times: usize,
}

impl Outcome {
    /// Returns the verdict, if there is one, and the reason for a failure, if it failed.
    pub fn verdict_and_error(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Self::Ran { verdict, .. } => (verdict.as_deref(), None),
            Self::Failed(why) => (None, Some(why)),
            Self::Gate(_) => (None, None),
        }
    }

    /// Returns the gate that failed, if one did.
    pub fn failed_gate(&self) -> Option<&FailedGate> {
        match self {
            Self::Gate(gate) => Some(gate),
            Self::Ran { .. } | Self::Failed(_) => None,
        }
    }

    /// Returns what it found; nothing if it failed.
    pub fn found(&self) -> Found {
        match self {
            Self::Ran { found, .. } => found.clone(),
            Self::Failed(_) | Self::Gate(_) => Found::default(),
        }
    }
}
