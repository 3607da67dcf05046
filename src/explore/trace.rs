//! How a state is reached, as a counterexample that a person can follow: one numbered step for each event, with
//! the rules that fired and what changed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;

use serde_json::Value as Json;

use super::fold;
use super::imagined_world::Question;
use super::moves::{Actor, Move};
use super::plain::plain;
use super::search::{Search, Transition};
use crate::engine::decision::{Invocation, Outcome};
use crate::engine::event::Trigger;
use crate::hash::IndexMap;

/// Why a property does not hold, and the shortest way there.
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceStep {
    /// What happened, in words.
    pub(crate) event: String,
    /// The review that it ran, and how that ended: `plan-review 2`, `gives PASS`.
    pub(crate) review: Option<(String, String)>,
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
    /// Its value before; `None` if the user sets it.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.before {
            Some(before) => write!(out, "{}: {before} → {}", self.field, self.after),
            None => write!(out, "{}: {}", self.field, self.after),
        }
    }
}

impl Trace {
    /// Returns what is wrong, where no way can be shown because there is none.
    pub(crate) fn absent(claim: String) -> Self {
        Self {
            claim,
            start: None,
            steps: Vec::new(),
            again: None,
        }
    }

    /// Returns the way there, a numbered step for each event; `None` where there is no way to show. `name` is what a
    /// rule at some place (`on.Stop[2]`) is called.
    pub(crate) fn in_words(&self, name: &dyn Fn(&str) -> String) -> Option<String> {
        let start = self.start.as_ref()?;
        // An endless loop is shown in full, so that its first step has a number.
        let way = self
            .again
            .map_or(self.steps.len(), |step| step.saturating_sub(1));
        let way = way.min(self.steps.len());
        let keys: Vec<String> = self.steps[..way].iter().map(TraceStep::key).collect();
        let mut parts = Vec::new();
        for run in fold::runs(&keys) {
            let steps = run.start..run.start + run.length;
            parts.extend(steps.clone().map(Part::Step));
            if run.times > 1 {
                let end = run.start + run.length * run.times;
                parts.push(Part::Note(self.repeated(steps, run.times - 1, end)));
            }
        }
        parts.extend((way..self.steps.len()).map(Part::Step));
        let lines = |part: &Part| match part {
            Part::Step(step) => self.steps[*step].tell(&str::to_owned).lines().count(),
            Part::Note(note) => note.lines().count(),
        };
        let left_out = fold::middle(&parts, lines);
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
    fn repeated(&self, steps: Range<usize>, times: usize, end: usize) -> String {
        let which = match steps.len() {
            1 => format!("step {} is", steps.end),
            _ => format!("steps {} to {} are", steps.start + 1, steps.end),
        };
        let steps_again = steps.end..end;
        // By field, its value before the first repetition and after the last one.
        let mut changes: IndexMap<&str, (Option<&str>, &str)> = IndexMap::default();
        for change in self.steps[steps.start..end]
            .iter()
            .flat_map(|step| &step.changes)
        {
            changes.entry(&change.field).or_default().1 = &change.after;
        }
        for change in self.steps[steps].iter().flat_map(|step| &step.changes) {
            changes.entry(&change.field).or_default().0 = Some(&change.after);
        }
        let changes = changes.iter().filter_map(|(field, (before, after))| {
            let before = before.filter(|before| before != after)?;
            Some(format!("{field}: {before} → {after}"))
        });
        let changes: Vec<String> = changes.collect();
        let changes = match changes.is_empty() {
            true => String::new(),
            false => format!("\n   {}", changes.join(", ")),
        };
        let ends = self.steps[steps_again].iter();
        let ends = ends.filter_map(|step| Some(step.review.as_ref()?.1.as_str()));
        let ends: Vec<&str> = ends.collect();
        let reviews = match ends.first() {
            None => String::new(),
            Some(first) if ends.iter().all(|end| end == first) => {
                format!("; each review {first}")
            }
            Some(_) => format!("; the reviews: {}", ends.join(", ").replace("gives ", "")),
        };
        format!("… {which} repeated {times} times, up to step {end}{reviews}.{changes}")
    }

    /// Returns the phases that it goes through; `state` is the field that holds the phase.
    pub(crate) fn phases(&self, state: &str) -> impl Iterator<Item = &str> {
        let changes = self.steps.iter().flat_map(|step| &step.changes);
        let changes = changes.filter(move |change| change.field == state);
        changes.map(|change| change.after.as_str())
    }

    /// Returns what is wrong at the end of a path from the first state; `set` is what the user has set, as far as the
    /// claim says it.
    pub(crate) fn along(
        search: &Search,
        claim: String,
        path: &[Transition],
        given: &dyn Fn(usize) -> Vec<String>,
        set: &[(usize, u32)],
    ) -> Self {
        let tree = &search.moves.tree;
        let mut parameters: HashMap<usize, u32> = HashMap::new();
        let steps = path.iter().map(|at| {
            let mut step = TraceStep::of(search, *at, given(at.edge));
            let edge = &search.edges[at.edge];
            // A parameter is shown where a decision looks at it and it has changed.
            let needs = edge.needs.iter().map(|(field, values)| {
                let set = set.iter().find(|(set, _)| set == field);
                let kept = parameters
                    .get(field)
                    .or(set.map(|(_, value)| value))
                    .copied();
                let kept = kept.filter(|value| tree.has(*values, *value));
                (*field, kept.unwrap_or_else(|| tree.likely(*field, *values)))
            });
            // What the claim says is shown where it is looked at first.
            let looked_at = search.needs.get(at.from).copied().unwrap_or_default();
            let others = set.iter().filter(|(field, _)| {
                let is_needed = edge.needs.iter().any(|(needed, _)| needed == field);
                !is_needed && looked_at >> (*field).min(127) & 1 == 1
            });
            let others = others.filter(|(field, _)| !parameters.contains_key(field));
            for (field, value) in needs.chain(others.copied()).collect::<Vec<_>>() {
                let Some((name, default)) = tree.default_of(field) else {
                    continue;
                };
                let value = (value, tree.value(value));
                let before = parameters.insert(field, value.0);
                if before.map_or(default, |before| tree.value(before)) != value.1 {
                    step.given
                        .insert(0, format!("{name} is {}", plain(value.1)));
                }
            }
            for (field, value) in &edge.sets {
                parameters.insert(*field, *value);
                if let Some((name, _)) = tree.default_of(*field) {
                    step.changes.push(Change {
                        field: name.to_owned(),
                        before: None,
                        after: tree.answer_of(*value).to_string(),
                    });
                }
            }
            step
        });
        let steps = steps.collect();
        Self {
            claim,
            start: Some(opening(search)),
            steps,
            again: None,
        }
    }
}

/// Returns how things stand at the start.
fn opening(search: &Search) -> String {
    let state = &search.moves.tree.chart.state;
    let held = search
        .field(state)
        .map(|field| plain(search.value(0, field)))
        .unwrap_or_default();
    format!("Nothing is written yet: {state} is {held}.")
}

impl TraceStep {
    /// Returns what makes two steps the same in a loop: the event, and what fires.
    fn key(&self) -> String {
        let review = self.review.as_ref().map(|(review, _)| review.as_str());
        format!(
            "{} {} {:?}",
            self.event,
            review.unwrap_or_default(),
            self.fired
        )
    }

    fn tell(&self, name: &dyn Fn(&str) -> String) -> String {
        let mut shown = self.event.clone();
        if let Some((review, end)) = &self.review {
            shown.push_str(&format!("; {review} {end}"));
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

    fn of(search: &Search, step: Transition, given: Vec<String>) -> Self {
        let tree = &search.moves.tree;
        let edge = &search.edges[step.edge];
        let chart = &tree.chart;
        let Move { trigger, actor } = &search.moves.all[edge.mover];
        let event = match trigger {
            Some(Trigger::Hook(name)) => format!("The event {name}"),
            Some(Trigger::Enter { phase, .. }) => format!("The agent enters {phase}"),
            Some(Trigger::Command(name)) => format!("The user runs {name}"),
            None => {
                let question = edge.answered.map(|(question, _)| tree.question(question));
                let answer = match question {
                    Some(Question::Answered { answer, .. }) => answer,
                    _ => "the answer",
                };
                match actor {
                    Actor::Agent => format!("The agent writes {answer}"),
                    Actor::Host | Actor::User => format!("The user deletes {answer}"),
                }
            }
        };
        let review = edge.review.map(|run| {
            let run = &tree.runs[run as usize];
            let end = match &run.outcome {
                Outcome::Ran { verdict, .. } => {
                    format!("gives {}", verdict.as_deref().unwrap_or("no verdict"))
                }
                Outcome::Failed(_) => "fails".to_owned(),
                Outcome::Gate(gate) => {
                    let end = format!("does not start: a gate fails, {} in a row", gate.times);
                    return (run.invocation.cycle.clone(), end);
                }
            };
            let Invocation { cycle, n, .. } = &run.invocation;
            (format!("{cycle} {n}"), end)
        });
        let changes = edge.assigned.iter().filter_map(|(field, value)| {
            let before = search.states.get(step.from).fields()[*field];
            let name = chart.context.get_index(*field)?.0;
            let top = tree.ground.domain.tops.get(name);
            let shown = |value: u32| {
                let value = tree.answer_of(value);
                let more = if top.is_some() && value.value().as_i64() == top.copied() {
                    " or more"
                } else {
                    ""
                };
                format!("{value}{more}")
            };
            (before != *value).then(|| Change {
                field: name.clone(),
                before: Some(shown(before)),
                after: shown(*value),
            })
        });
        Self {
            event,
            review,
            given,
            fired: edge
                .fired
                .iter()
                .map(|place| tree.places[*place as usize].clone())
                .collect(),
            changes: changes.collect(),
            blocked: edge.block,
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.claim)?;
        match self.in_words(&str::to_owned) {
            Some(text) => write!(out, "\n{text}"),
            None => Ok(()),
        }
    }
}

/// Returns what was chosen, in words; `None` for what was left out.
pub(super) fn words(question: &Question, value: &Json) -> Option<String> {
    match question {
        Question::Answered { answer, .. } if *value == true => Some(format!("{answer} is there")),
        Question::Answered { answer, .. } => Some(format!("{answer} is not there")),
        Question::Choice(choice) => (!value.is_null()).then(|| choice.in_words(value)),
        Question::Field(_)
        | Question::Started
        | Question::Assumed { .. }
        | Question::Outcome { .. } => None,
    }
}
