//! How a state is reached, as a counterexample that a person can follow: one numbered step for each event, with
//! the rules that fired and what changed. Repeated steps are shown once, and one that is still too long has a gap.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde_json::Value as Json;

use super::imagined_world::Question;
use crate::alike::runs;
use crate::hash::IndexMap;

/// Why a property does not hold, and the shortest way there.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Trace {
    /// What is wrong, in one sentence.
    pub(crate) claim: String,
    /// How things stand before the first step; `None` if it cannot be reached.
    pub(crate) start: Option<String>,
    pub(crate) steps: Vec<TraceStep>,
    /// The number of the step that comes again after the last, and so on without end.
    pub(crate) again: Option<usize>,
}

/// One event of a counterexample.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct TraceStep {
    /// What happened, in words.
    pub(crate) event: String,
    /// The review that it ran, and how that ended: `plan-review 2 gives PASS`.
    pub(crate) review: Option<String>,
    /// What else was the case that the decision looked at.
    pub(crate) given: Vec<String>,
    /// The rules that fired, in order.
    pub(crate) fired: Vec<String>,
    pub(crate) changes: Vec<Change>,
    /// The agent was not let go.
    pub(crate) blocked: bool,
}

/// A part of a counterexample: a step by its index, or a note between steps.
enum Part {
    Step(usize),
    Note(String),
}

/// A field that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub(crate) field: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} → {}", self.field, self.before, self.after)
    }
}

impl Trace {
    /// Returns what is wrong, where no way can be shown because there is none.
    pub(crate) fn absent(claim: String) -> Self {
        Self { claim, ..Self::default() }
    }

    /// Returns the way there, a numbered step for each event; `None` where there is no way to show. `name` is what a
    /// rule at some place (`on.Stop[2]`) is called.
    pub(crate) fn in_words(&self, name: &dyn Fn(&str) -> String) -> Option<String> {
        let start = self.start.as_ref()?;
        // An endless loop is shown in full, so that its first step has a number.
        let count = self.steps.len();
        let way = self.again.map_or(count, |step| step.saturating_sub(1));
        let way = way.min(count);
        let keys: Vec<String> = self.steps[..way].iter().map(TraceStep::key).collect();
        let mut parts = Vec::new();
        for run in runs(&keys) {
            let steps = run.start..run.start + run.length;
            parts.extend(steps.clone().map(Part::Step));
            if run.times > 1 {
                let end = run.start + run.length * run.times;
                parts.push(Part::Note(self.repeated(&steps, run.times - 1, end)));
            }
        }
        parts.extend((way..count).map(Part::Step));
        let lines = |part: &Part| match part {
            Part::Step(step) => self.steps[*step].tell(&str::to_owned).lines().count(),
            Part::Note(note) => note.lines().count(),
        };
        let left_out = middle(&parts, lines);
        let gap = Part::Note(format!("… {} more steps …", left_out.len()));
        if !left_out.is_empty() {
            parts.splice(left_out, [gap]);
        }
        let mut text = format!("0. {start}");
        // What a rule is about is said when it fires for the first time.
        let named = RefCell::new(HashSet::new());
        let name = |place: &str| match named.borrow_mut().insert(place.to_owned()) {
            true => name(place),
            false => place.to_owned(),
        };
        for part in parts {
            text.push('\n');
            text.push_str(&match part {
                Part::Step(step) => format!("{}. {}", step + 1, self.steps[step].tell(&name)),
                Part::Note(note) => note,
            });
        }
        if let Some(step) = self.again {
            text.push_str(&format!("\nAnd again from step {step}, without end."));
        }
        Some(text)
    }

    /// Says that steps are repeated this many times, until the step before `end`, and what that changes.
    fn repeated(&self, steps: &Range<usize>, times: usize, end: usize) -> String {
        let which = match steps.len() {
            1 => format!("step {} is", steps.end),
            _ => format!("steps {} to {} are", steps.start + 1, steps.end),
        };
        let mut changes: IndexMap<&str, Change> = IndexMap::default();
        let repeated = self.steps[steps.end..end].iter();
        for change in repeated.flat_map(|step| &step.changes) {
            let known = changes.entry(&change.field);
            let known = known.or_insert_with(|| change.clone());
            known.after.clone_from(&change.after);
        }
        let changes = changes.values().filter(|it| it.before != it.after);
        let changes: Vec<String> = changes.map(Change::to_string).collect();
        let changes = match changes.is_empty() {
            true => String::new(),
            false => format!("\n   {}", changes.join(", ")),
        };
        format!("… {which} repeated {times} times, up to step {end}.{changes}")
    }

    /// Returns the phases on the path; `state` is the field that holds the phase.
    pub(crate) fn phases(&self, state: &str) -> impl Iterator<Item = &str> {
        let changes = self.steps.iter().flat_map(|step| &step.changes);
        let changes = changes.filter(move |change| change.field == state);
        changes.map(|change| change.after.as_str())
    }
}

impl TraceStep {
    /// Returns what makes two steps the same in a loop: the event, the review, and what fires.
    fn key(&self) -> String {
        format!("{} {:?} {:?}", self.event, self.review, self.fired)
    }

    /// Describes the step, and what the rules are called that fire.
    fn tell(&self, name: &dyn Fn(&str) -> String) -> String {
        let mut shown = self.event.clone();
        if let Some(review) = &self.review {
            shown.push_str(&format!("; {review}"));
        }
        if !self.given.is_empty() {
            shown.push_str(&format!(" ({})", self.given.join(", ")));
        }
        shown.push('.');
        if !self.fired.is_empty() {
            let fired: Vec<String> = self.fired.iter().map(|place| name(place)).collect();
            shown.push_str(&format!("\n   fires: {}", fired.join(", ")));
        }
        if !self.changes.is_empty() {
            let changes: Vec<String> = self.changes.iter().map(Change::to_string).collect();
            shown.push_str(&format!("\n   {}", changes.join(", ")));
        }
        if self.blocked {
            shown.push_str("\n   the agent is blocked");
        }
        shown
    }
}

/// Returns what was chosen, in words; `None` for what was left out.
pub(super) fn words(question: &Question, value: &Json) -> Option<String> {
    match question {
        Question::Answered { answer, .. } if *value == true => Some(format!("{answer} is there")),
        Question::Answered { answer, .. } => Some(format!("{answer} is not there")),
        Question::Choice(choice) => (!value.is_null()).then(|| choice.in_words(value)),
        _ => None,
    }
}

/// The most lines of a counterexample, before long ones are wrapped: it fits a screen.
const SCREEN: usize = 24;

/// Returns the parts in the middle that are left out of a counterexample that is longer than a screen.
pub(super) fn middle<P>(parts: &[P], lines: impl Fn(&P) -> usize) -> Range<usize> {
    let lines: Vec<usize> = parts.iter().map(lines).collect();
    // The end is where it goes wrong: more is kept of it than of the beginning.
    let start = parts.len() / 4;
    let mut end = start;
    let mut sum: usize = lines.iter().sum();
    while sum > SCREEN && end + 1 < parts.len() {
        sum -= lines[end];
        end += 1;
    }
    start..end
}
