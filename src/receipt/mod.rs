//! Receipts: what was reviewed and decided about an instance, in a form that others can check without this machine.
//!
//! [`Entry`] is one thing that happened. [`statement`] puts the entries of a cycle into one line of a file, and [`chain`] says how
//! the lines follow each other. [`replay`] makes the recorded decisions again, [`remarks`] says what a reader should know,
//! [`unpassed`] which cycles have not passed, and [`check`] compares a file with the work tree. [`seal`] puts entries into a
//! statement, [`charts`] the charts that decided, and [`signature`] signs it; [`elsewhere`] reads what other machines reviewed. What is recorded is data; `run` records it.

pub(crate) mod chain;
pub(crate) mod charts;
pub(crate) mod check;
pub(crate) mod elsewhere;
pub(crate) mod remarks;
pub(crate) mod replay;
pub(crate) mod seal;
pub(crate) mod signature;
pub(crate) mod statement;
pub(crate) mod unpassed;

use serde::{Deserialize, Serialize};

use crate::engine::context::Context;
use crate::engine::decision::{Effort, Ended, FailedGate, Invocation, Outcome};
use crate::engine::replayable::{Known, Occurred};
use crate::hash::IndexMap;
use crate::project::manifest::Manifest;
use crate::reviewer::finding::Found;

/// Something that happened to an instance. `W` is how the answers of the world are given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "lowercase")]
pub(crate) enum Entry<W> {
    Review(Box<ReviewEntry>),
    Decision(Box<DecisionEntry<W>>),
}

/// An entry as this machine keeps it until its cycle ends.
pub(crate) type Open = Entry<Vec<Known>>;

/// An entry of a receipt, which has each answer once.
pub(crate) type Sealed = Entry<Vec<usize>>;

/// Returns the line from which these entries go on: the first decision names it.
pub(crate) fn goes_on_from(open: &[Open]) -> Option<&String> {
    let first = open.iter().find_map(|entry| match entry {
        Entry::Decision(decision) => Some(decision),
        Entry::Review(_) => None,
    });
    first?.previous.as_ref()
}

/// A review that was due, and its result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReviewEntry {
    pub(crate) at: String,
    /// The hash of the chart.
    pub(crate) chart: String,
    pub(crate) cycle: String,
    pub(crate) n: i64,
    /// The name of the invocation in the chart.
    pub(crate) invocation: String,
    pub(crate) file: String,
    /// The files that it was about, each with the hash of its content.
    pub(crate) subject: IndexMap<String, String>,
    /// Those of them whose rows have a status, each with the hash of its content without that.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) without_status: IndexMap<String, String>,
    /// The answer to the review before it, if there is one: its file and its hash.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) answers: IndexMap<String, String>,
    /// The hash of the reviewer's command line, which has its prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prompt: Option<String>,
    /// The reviewer's program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// The hash of its file: the same program can be found in several places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program_sha256: Option<String>,
    /// What it prints as its version, if it is a host's own program: what it starts can be another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    pub(crate) by: Option<String>,
    /// The settings; in a receipt only where they are not those that the entries before say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settings: Option<Context>,
    /// Earlier reviews and answers that are no longer what they were when the review before began, each with the hash of what
    /// is there now; none if it is gone.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) edited: IndexMap<String, Option<String>>,
    /// The gates that ran before it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) gates: Vec<GateEntry>,
    pub(crate) verdict: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// How many times in a row the gate has failed that prevented it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<u64>,
    #[serde(flatten)]
    pub(crate) found: Found,
    /// The lines of files that say what gates run, or what its reviewer was to run.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) commands: IndexMap<String, Vec<String>>,
    /// What the user had decided about findings, line by line, each with who did it, if the machine that reviewed knew.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) rulings: IndexMap<String, Option<String>>,
    /// If it passed and was to show what it ran, and did not: those of the commands asked for that it does not say succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unrun: Option<Vec<String>>,
    /// The hash of the file that it wrote.
    pub(crate) review: Option<String>,
    pub(crate) seconds: u64,
    /// Millionths of a dollar.
    pub(crate) cost: Option<u64>,
    /// No reviewer was started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) not_started: bool,
    pub(crate) tokens: Option<u64>,
    /// The work tree that it saw, if it was about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tree: Option<Manifest>,
    /// The commit that was checked out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<String>,
}

/// A gate that ran before a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GateEntry {
    pub(crate) command: String,
    pub(crate) exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// A decision that was carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DecisionEntry<W> {
    pub(crate) at: String,
    /// The hash of the chart.
    pub(crate) chart: String,
    /// The commit at which the record begins, or a cycle has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    /// The settings that it saw, where they are not those that the entries before it since the last receipt say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settings: Option<Context>,
    /// The hash of the line from which it goes on; only in the first decision after that, and in no receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) previous: Option<String>,
    /// The record of which session drives the instance was gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_claim_lost: bool,
    /// Files of this program in the instance's directory that another hand has changed; where the instance ends, also reviews
    /// and answers. Each has the hash of what was there; none if it was gone.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) edited: IndexMap<String, Option<String>>,
    /// What the user had decided about findings, as a review has it; only where the instance ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rulings: Option<IndexMap<String, Option<String>>>,
    /// Entries before it were found in the instance's directory, and not written by this machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_added_to: bool,
    /// This machine has entries of another checkout of the instance. They are not in this record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_elsewhere: bool,
    /// The answers to reviews that it wrote itself, each with its hash.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) wrote: IndexMap<String, String>,
    /// There was no state: with it, a session begins another change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) begins: bool,
    pub(crate) event: Occurred,
    /// The fields before it; in a receipt only where they are not what the decision before has left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<Context>,
    /// What it asked the world.
    pub(crate) world: W,
    /// It is about the review before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_reviewed: bool,
    /// That review did not count, because someone had changed the state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_superseded: bool,
    /// The fields that it saw as they were when the review began: they were changed while it ran.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) seen: Context,
    /// The command that was run during the review and took effect after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pause: Option<String>,
    /// That review was clean: with a worse verdict, the chart would have decided otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_clean: bool,
    /// The rules that fired.
    pub(crate) fired: Vec<String>,
    /// The fields that it wrote.
    pub(crate) changed: Context,
    /// `allow`, `block`, `pass`, `action` or `refuse`.
    pub(crate) answer: String,
}

impl<W> DecisionEntry<W> {
    /// Returns the fields after it, if it says those before it or they are the ones that were `left`.
    pub(crate) fn after(&self, left: Option<Context>) -> Option<Context> {
        let mut after = self.state.clone().or(left)?;
        after.extend(self.changed.clone());
        Some(after)
    }
}

impl ReviewEntry {
    /// Returns the run as a decision sees it.
    pub(crate) fn ended(&self, is_superseded: bool) -> Ended {
        let failed = self.gates.last().filter(|_| self.times.is_some());
        let outcome = match (&self.error, failed) {
            (Some(why), _) => Outcome::Failed(why.clone()),
            (None, Some(gate)) => Outcome::Gate(FailedGate {
                command: gate.command.clone(),
                why: gate.error.clone().unwrap_or_default(),
                output: String::new(),
                times: self.times.unwrap_or_default(),
            }),
            (None, None) => {
                Outcome::Ran { verdict: self.verdict.clone(), found: self.found.clone() }
            }
        };
        let invocation = Invocation {
            name: self.invocation.clone(),
            cycle: self.cycle.clone(),
            n: self.n,
            file: self.file.clone(),
            subject: self.subject.keys().cloned().collect(),
            ..Invocation::default()
        };
        Ended {
            superseded: is_superseded,
            effort: Effort {
                by: self.by.clone(),
                seconds: self.seconds,
                cost: self.cost,
                not_started: self.not_started,
                tokens: self.tokens,
                ..Effort::default()
            },
            ..Ended::new(invocation, outcome)
        }
    }
}

impl<W> Entry<W> {
    /// Returns when it happened.
    pub(crate) fn at(&self) -> &str {
        match self {
            Self::Review(review) => &review.at,
            Self::Decision(decision) => &decision.at,
        }
    }

    /// Returns the hash of the chart that counted.
    pub(crate) fn chart(&self) -> &str {
        match self {
            Self::Review(review) => &review.chart,
            Self::Decision(decision) => &decision.chart,
        }
    }

    /// Returns the commit at which the record begins, or a cycle has ended, if it is the decision about that.
    pub(crate) fn base(&self) -> Option<String> {
        match self {
            Self::Review(_) => None,
            Self::Decision(decision) => decision.base.clone(),
        }
    }

    /// Returns the answers to reviews that were there, or that it wrote itself, each with its hash.
    fn answers(&self) -> &IndexMap<String, String> {
        match self {
            Self::Review(review) => &review.answers,
            Self::Decision(decision) => &decision.wrote,
        }
    }

    /// Returns the files that another hand had changed, each with the hash of what was there; none if it was gone.
    pub(crate) fn edited(&self) -> &IndexMap<String, Option<String>> {
        match self {
            Self::Review(review) => &review.edited,
            Self::Decision(decision) => &decision.edited,
        }
    }

    /// Returns the settings that it says.
    pub(crate) fn settings(&self) -> Option<&Context> {
        match self {
            Self::Review(review) => review.settings.as_ref(),
            Self::Decision(decision) => decision.settings.as_ref(),
        }
    }

    /// Returns the review, if it is one.
    pub(crate) fn review(&self) -> Option<&ReviewEntry> {
        match self {
            Self::Review(review) => Some(review),
            Self::Decision(_) => None,
        }
    }
}
