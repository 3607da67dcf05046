//! The journal: one JSON line for each decision, one for each review that has ended, and one for each gate.
//!
//! It says what happened and why: the line of a decision has every rule that was tried, and what its guard looked at.
//! Of messages, it contains why a command was refused, why a stop was allowed without a rule and what was named to the user,
//! and for the review of a session's change the beginnings of the user's prompts; of reviews and gates, the titles of findings and command lines; of the
//! environment, nothing. It is a fact about this machine and is kept in the [store](super). A line that cannot be written changes no answer.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::facts::{ENTER, Entry, Fact, Facts, Left, RUN, Said};
use super::lines::{Folded, Version};
use super::{Store, facts, lines};
use crate::chart::Chart;
use crate::clock;
use crate::engine::decision::{self, Answer, Decision, Ended};
use crate::engine::event::{Event, Trigger};
use crate::engine::spent::PastReview;
use crate::hash::{self, IndexMap};
use crate::text::plain_line;

/// A review that a command asked for: decided by the rules for a stop, at which nobody is sent back.
pub(crate) const REVIEW: &str = "review";

/// The file of the journal of a home, and what its lines are about.
const HOME: &str = ".home";

/// The most characters of a reason.
const LENGTH: usize = 300;

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "lowercase")]
pub(crate) enum Line {
    Decision(DecisionLine),
    Review(ReviewLine),
    Gate(GateLine),
}

/// An event, and the decision about it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct DecisionLine {
    /// The time, in RFC 3339.
    pub(crate) at: String,
    pub(crate) instance: String,
    /// `Stop`, `enter create-tasks`, `run pause`, `next`; a stop that a command asks about is a [`REVIEW`].
    pub(crate) event: String,
    pub(crate) session: Option<String>,
    /// The rules that were tried, in order.
    #[serde(default)]
    pub(crate) rules: Vec<TriedLine>,
    /// The run that the decision is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) review: Option<Counted>,
    /// The fields that changed, with their values before and after.
    #[serde(default)]
    pub(crate) changed: IndexMap<String, [Json; 2]>,
    /// `block`, `allow`, `pass` (no rule answered), `action`, `refuse`, or `none` (nothing could be decided).
    pub(crate) answer: String,
    /// The answer to `next`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<String>,
    /// What was named to the user: changes by others, and what let a cycle end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) named: Vec<String>,
    /// Why nothing could be decided, or why that was the answer if no rule says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stuck: Option<String>,
    /// How it leaves the state, if it has written that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wrote: Option<Box<Left>>,
}

/// A rule that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TriedLine {
    /// Its place in the chart: `on.Stop[2]`.
    pub(crate) rule: String,
    /// What it does, if it fired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) about: Option<String>,
    pub(crate) fired: bool,
    /// What its guard looked at.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) saw: IndexMap<String, Json>,
}

/// A run, as the decision took it into account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) verdict: Option<String>,
    /// The gate that failed before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<String>,
    /// It does not count, because someone had changed the state in the meantime.
    pub(crate) superseded: bool,
}

/// A run of a reviewer that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReviewLine {
    /// What decisions depend on.
    #[serde(flatten)]
    pub(crate) run: PastReview,
    /// A hash of the review that it wrote, if that can be read: one with another hash has changed since.
    pub(crate) sha256: Option<String>,
    /// The reviewer, as named by the chart.
    pub(crate) by: Option<String>,
    /// The files that it was about, each with a number for its content.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) subject: IndexMap<String, u64>,
    /// The code that it saw, if it was about code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<Code>,
}

/// The code that a reviewer saw.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Code {
    /// The commit that was checked out.
    pub(crate) head: Option<String>,
    /// What the tree was compared with.
    pub(crate) base: String,
    pub(crate) tree: String,
    /// The mode and the object before and after, and the name of each file that differs; or one hash over all these lines.
    pub(crate) files: Vec<String>,
}

/// A gate that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GateLine {
    /// When it ended.
    pub(crate) at: String,
    pub(crate) instance: String,
    /// The review that it ran before.
    pub(crate) cycle: String,
    pub(crate) n: i64,
    /// The command line.
    pub(crate) command: String,
    /// Its exit code, if it ended by itself.
    pub(crate) exit: Option<i32>,
    /// How it failed.
    pub(crate) error: Option<String>,
    /// How many seconds it took.
    pub(crate) seconds: u64,
}

/// Returns the current time in the form of the journal.
pub(crate) fn now() -> String {
    let time = UNIX_EPOCH + clock::since_1970();
    humantime::format_rfc3339_millis(time).to_string()
}

/// Returns the lines about all instances, oldest first.
pub(crate) fn read_all(store: &Store) -> Vec<Line> {
    let names = lines::names(store).into_iter();
    let mut lines: Vec<Line> = names.flat_map(|name| read(store, &name, |_| true)).collect();
    lines.sort_by(|a, b| a.at().cmp(b.at()));
    lines
}

/// A line that is read.
#[derive(Deserialize)]
#[serde(untagged)]
enum Readable {
    Line(Box<Line>),
    Entry(Entry),
}

/// Returns the lines of a file that are `wanted`.
fn read(store: &Store, file: &str, wanted: impl Fn(&str) -> bool) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for entry in lines::read(store, file, wanted) {
        match entry {
            Readable::Line(line) => lines.push(*line),
            Readable::Entry(Entry { fact: Fact::Dropped, .. }) => {
                let is_it = |line: &Line| matches!(line, Line::Decision(it) if it.wrote.is_some());
                // Nothing of it was written.
                lines.iter().rposition(is_it).map(|at| lines.remove(at));
            }
            Readable::Entry(Entry { fact: Fact::Aside { why }, .. }) => {
                let last = lines.iter_mut().rev().find_map(|line| match line {
                    Line::Review(review) => Some(review),
                    _ => None,
                });
                last.into_iter().for_each(|review| review.run.aside = Some(why.clone()));
            }
            Readable::Entry(_) => {}
        }
    }
    lines
}

/// Returns whether a line says something about a review that has ended.
fn is_of_review(line: &str) -> bool {
    [r#"{"line":"review""#, r#"{"line":"aside""#].iter().any(|start| line.starts_with(start))
}

/// The journal of one instance.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(super) store: Store,
    /// The instance, which is also the name of the file.
    pub(crate) instance: String,
    known: Mutex<Known>,
}

/// What was known when the file was read last.
#[derive(Debug, Default)]
struct Known {
    version: Version,
    folded: Folded,
    /// Nobody has to look whether there is more.
    is_current: bool,
    /// The runs that have ended, if they were asked for since.
    reviews: Option<Vec<ReviewLine>>,
}

impl Journal {
    /// Returns the journal of `instance`.
    pub(crate) fn of(store: &Store, instance: &str) -> Self {
        let (store, instance) = (store.clone(), instance.to_owned());
        Self { store, instance, known: Mutex::default() }
    }

    /// Returns the journal of what is known in a home whatever the instance: the sessions, and the reviewers that cannot run.
    pub(super) fn of_home(store: &Store) -> Self {
        Self::of(store, HOME)
    }

    /// Returns the facts about the instance, as they were when this was asked first, or when somebody [looked
    /// again](Self::look_again).
    pub(crate) fn facts(&self) -> Arc<Facts> {
        let mut known = self.known();
        if !known.is_current {
            let has_read = !known.version.is_empty();
            if !has_read || known.version != lines::version(&self.store, &self.instance) {
                (known.version, known.folded) = lines::folded(&self.store, &self.instance);
                known.reviews = None;
            }
            known.is_current = true;
        }
        Arc::clone(&known.folded.facts)
    }

    /// From now on, what other processes have added counts, too.
    pub(crate) fn look_again(&self) {
        self.known().is_current = false;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a file in its place that is not believed, if nothing else is known.
    pub(crate) fn misfit(&self) -> Option<PathBuf> {
        let is_unknown = *self.facts() == Facts::default();
        is_unknown.then(|| lines::misfit(&self.store, &self.instance)).flatten()
    }

    /// Returns a folder in which it cannot be read, and why.
    pub(super) fn unreadable(&self) -> Option<(PathBuf, io::Error)> {
        lines::unreadable(&self.store, &self.instance)
    }

    /// Adds a line, unless it is about a decision that has done nothing and is the same as the last one.
    pub(crate) fn add(&self, line: &Line) -> io::Result<()> {
        if let Line::Decision(DecisionLine { wrote: None, review: None, .. }) = line
            && self.facts().last == facts::number(&serde_json::to_string(line)?)
        {
            return Ok(());
        }
        self.append(line, false)
    }

    /// Adds a line before anything that depends on it is written, and waits until the disk has it.
    pub(crate) fn add_first(&self, line: &Line) -> io::Result<()> {
        self.append(line, true)
    }

    /// Adds a fact.
    pub(crate) fn note(&self, fact: Fact) -> io::Result<()> {
        self.append(&Entry { at: now(), fact }, false)
    }

    /// Adds what the host has, if that is anything. Without that line, it is said again.
    pub(crate) fn say(&self, said: Said) {
        if said != Said::default() {
            let _ = self.note(Fact::Said(said));
        }
    }

    /// Adds that something is done once for the state with this text, or that this is forgotten.
    pub(crate) fn note_done(&self, what: &str, state: Option<&[u8]>) -> io::Result<()> {
        self.note(Fact::Done { what: what.to_owned(), state: state.map(hash::number) })
    }

    fn append(&self, line: &impl Serialize, is_kept: bool) -> io::Result<()> {
        lines::append(&self.store, &self.instance, &serde_json::to_vec(line)?, is_kept)?;
        let known = std::mem::take(&mut *self.known());
        lines::sum_up(&self.store, &self.instance, now(), known.folded);
        Ok(())
    }

    /// Returns the lines, oldest first.
    pub(crate) fn read(&self) -> Vec<Line> {
        read(&self.store, &self.instance, |_| true)
    }

    /// Returns the runs that have ended, oldest first.
    pub(crate) fn reviews(&self) -> Vec<ReviewLine> {
        let now = || {
            let lines = read(&self.store, &self.instance, is_of_review).into_iter();
            let reviews = lines.filter_map(|line| match line {
                Line::Review(review) => Some(review),
                Line::Decision(_) | Line::Gate(_) => None,
            });
            reviews.collect()
        };
        let mut known = self.known();
        match known.is_current {
            true => known.reviews.get_or_insert_with(now).clone(),
            false => now(),
        }
    }

    /// Returns the same as the engine sees them.
    pub(crate) fn runs(&self) -> Vec<PastReview> {
        self.reviews().into_iter().map(|review| review.run).collect()
    }

    /// Returns the review that has ended with a verdict about which nothing is decided: the process that ran it was killed.
    pub(crate) fn undecided(&self) -> Option<ReviewLine> {
        let last = || self.reviews().pop();
        let last = self.facts().is_undecided.then(last).flatten();
        last.filter(|review| review.run.failure().is_none() && review.run.seen.is_some())
    }

    /// Returns how many gates have failed since the last review ran, or the last command.
    pub(crate) fn failed_gates(&self) -> usize {
        let lines = self.read();
        let since = lines.iter().rev().take_while(|line| match line {
            Line::Review(_) => false,
            Line::Decision(decided) => !decided.is_of_command(),
            Line::Gate(_) => true,
        });
        let is_failed = |line: &&Line| matches!(line, Line::Gate(gate) if gate.error.is_some());
        since.filter(is_failed).count()
    }
}

impl Line {
    /// Returns the decision, if the line is about one.
    pub(crate) fn into_decision(self) -> Option<DecisionLine> {
        match self {
            Self::Decision(decided) => Some(decided),
            Self::Review(_) | Self::Gate(_) => None,
        }
    }

    /// Returns when the line was written, in RFC 3339.
    pub(crate) fn at(&self) -> &str {
        match self {
            Self::Decision(decided) => &decided.at,
            Self::Review(review) => &review.run.at,
            Self::Gate(gate) => &gate.at,
        }
    }
}

impl DecisionLine {
    /// Returns whether it is about a command, or a phase that is entered.
    pub(crate) fn is_of_command(&self) -> bool {
        [ENTER, RUN].iter().any(|start| self.event.starts_with(start))
    }

    /// The rules that fired, in order.
    pub(crate) fn fired(&self) -> impl Iterator<Item = &TriedLine> {
        self.rules.iter().filter(|rule| rule.fired)
    }

    /// Returns the line about an event of which nothing is decided yet.
    pub(crate) fn new(instance: &str, event: &Event) -> Self {
        Self {
            at: now(),
            instance: instance.to_owned(),
            event: match &event.trigger {
                Trigger::Hook(_) if event.is_stop() && !event.fields["terminal"].is_null() => {
                    REVIEW.to_owned()
                }
                Trigger::Hook(name) => name.clone(),
                Trigger::Enter { phase, .. } => format!("{ENTER}{phase}"),
                Trigger::Command(name) => format!("{RUN}{name}"),
            },
            session: event.session.clone(),
            answer: "none".to_owned(),
            ..Self::default()
        }
    }

    /// Adds what was decided, beside what was named. `before` holds the fields that it writes, as they were.
    pub(crate) fn fill(
        &mut self,
        chart: &Chart,
        decision: &Decision,
        before: &IndexMap<String, Json>,
    ) {
        let rules = decision.tried.iter().map(|tried| TriedLine::of(chart, tried));
        self.rules = rules.collect();
        self.review = decision.ended.as_ref().map(Counted::of);
        let changes = decision.patch.iter().filter_map(|(name, new)| {
            let old = before.get(name).cloned().unwrap_or_default();
            (old != *new).then(|| (name.clone(), [old, new.clone()]))
        });
        self.changed = changes.collect();
        if let Answer::Action { action, .. } = &decision.answer {
            self.action = Some(action.clone());
        }
        decision.answer.word().clone_into(&mut self.answer);
        let is_aside = self.review.as_ref().is_some_and(|review| review.superseded);
        let why = match &decision.answer {
            Answer::Refuse(why) => Some(why),
            Answer::Allow if is_aside || self.fired().next().is_none() => {
                let mut messages = decision.messages.iter();
                messages.find(|message| !self.named.contains(message))
            }
            _ => None,
        };
        self.stuck = why.map(|why| plain_line(why, LENGTH));
    }
}

impl TriedLine {
    /// Returns the part of a line that is about a rule.
    pub(crate) fn of(chart: &Chart, tried: &decision::Tried) -> Self {
        Self {
            rule: tried.place.clone(),
            about: chart.about(&tried.place).filter(|_| tried.holds).map(str::to_owned),
            fired: tried.holds,
            saw: tried.saw.iter().cloned().collect(),
        }
    }
}

impl Counted {
    fn of(ended: &Ended) -> Self {
        Self {
            verdict: ended.outcome.verdict_and_error().0.map(str::to_owned),
            gate: ended.outcome.failed_gate().map(|gate| gate.command.clone()),
            superseded: ended.superseded,
        }
    }
}
