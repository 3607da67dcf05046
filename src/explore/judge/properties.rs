//! The chart's own properties: what always holds, what never does, what stays reachable, what eventually holds.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::checks::{Example, everywhere};
use super::judgment::{Judge, first_refuted, untried_of};
use crate::chart::model::Property;
use crate::diagnostic::code::Code;
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::explore::answer::plain;
use crate::explore::decision_tree::{Progress, Witness};
use crate::explore::graph::path_to;
use crate::explore::imagined_world::Question;
use crate::explore::moves::{Edge, Outcome, by_hand};
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::{Search, Transition};
use crate::explore::state::Looks;
use crate::explore::trace::words;

/// Finds where each property of the chart holds.
pub(super) fn truths(search: &mut Search) -> Vec<Truth> {
    let chart = Arc::clone(&search.moves.tree.chart);
    let properties = chart.properties.iter();
    let truths = properties.map(|property| match property.claims().next() {
        Some((key, expr)) => Truth::of(search, property, &expr.0, key != "never"),
        None => Truth::default(),
    });
    truths.collect()
}

impl Judge<'_> {
    /// Judges each property of the chart.
    pub(super) fn own_properties(&self, truths: &[Truth]) -> Vec<PropertyResult> {
        let properties = self.chart.properties.iter().zip(truths).enumerate();
        let own = |(index, (property, truth))| self.own(index, property, truth);
        properties.filter_map(own).collect()
    }

    /// Judges a property of the chart.
    fn own(&self, index: usize, property: &Property, truth: &Truth) -> Option<PropertyResult> {
        let name = &property.about;
        let (key, expr) = property.claims().next()?;
        let expr = &expr.0;
        let path = steps!["properties", index, key];
        if let Some((state, fault)) = &truth.fault {
            let verdict = self.along(fault.to_string(), *state, &[], path);
            return Some(PropertyResult::new(name, Code::NoDecision, verdict));
        }
        let detail = match &property.step {
            Some(step) => format!("after {step}, {key} {expr}"),
            None => format!("{key} {expr}"),
        };
        let refuted = |claim: String, expected: bool| {
            let breaches = truth.breaches.iter();
            let verdicts = breaches.map(|Example { state, by, choices }| {
                let step = by.as_slice();
                let names = self.replay.borrow_mut().names_at(*state, step, choices);
                let holds = |names: Arc<Names>| names.expressions.holds(expr, &names.root()).ok();
                if names.and_then(holds) == Some(!expected) {
                    let claim = format!("{claim}{}", self.given(choices));
                    return self.along(claim, *state, step, path.clone());
                }
                match self.open_condition(expr) {
                    Some(open) => untried_of(&claim, &open),
                    None => self.undecided(&claim, &path_to(self.search, *state)),
                }
            });
            first_refuted(verdicts).unwrap_or_else(|| self.holds(detail.clone()))
        };
        let verdict = match key {
            "always" => refuted(format!("`{expr}` does not hold here"), true),
            "never" => refuted(format!("`{expr}` holds here"), false),
            "eventually" => {
                let goals = truth.states(|holds| holds.always);
                self.decided(self.comes_to(&goals, expr, detail.clone(), &path))
            }
            _ => {
                let claim =
                    |_: usize, words: &str| format!("from here no path leads to `{expr}`{words}");
                let perhaps = truth.states(|holds| holds.sometimes);
                let surely = truth.states(|holds| holds.surely);
                let path = |_| path.clone();
                let reach = self.within_reach(&perhaps, &surely, detail.clone(), claim, path);
                self.decided(reach)
            }
        };
        // What was tried says nothing about values that were not; but a way that was found is one.
        let verdict = match (verdict, self.open_condition(expr)) {
            (Verdict::Proved(_), Some(open)) if key != "reachable" => {
                untried_of(&format!("`{detail}` holds"), &open)
            }
            // Whether the goal is on a path that was replayed is open, too.
            (Verdict::Refuted { .. }, Some(open)) if key == "eventually" => {
                untried_of(&format!("`{detail}` does not hold"), &open)
            }
            (verdict, _) => verdict,
        };
        Some(PropertyResult::new(name, Code::PropertyRefuted, verdict))
    }

    /// Returns what was chosen for a condition, in words: ` (config.limit is 2)`.
    fn given(&self, choices: &Witness) -> String {
        let tree = &self.search.moves.tree;
        let words = choices.iter().filter_map(|(question, value)| {
            let value = tree.value(*value);
            match tree.question(*question) {
                Question::Field(field) => {
                    Some(format!("{} is {}", tree.name_of(*field), plain(value)))
                }
                question => words(question, value),
            }
        });
        let words: Vec<String> = words.collect();
        match words.is_empty() {
            true => String::new(),
            false => format!(" ({})", words.join(", ")),
        }
    }

    /// Returns the inputs of a condition of which not every value that matters is tried.
    fn open_condition(&self, expr: &str) -> Option<BTreeSet<String>> {
        let all = self.search.moves.tree.domain.untried_by(expr);
        (!all.is_empty()).then_some(all)
    }
}

/// Where a condition holds.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// Per state.
    holds: Vec<Holds>,
    /// Where it is not as the property says.
    breaches: Vec<Example>,
    /// The first state in which it has no value.
    fault: Option<(usize, Fault)>,
}

/// Whether a condition holds in a state.
#[derive(Debug, Clone, Copy)]
struct Holds {
    /// Under all choices that it looks at.
    always: bool,
    /// Under some.
    sometimes: bool,
    /// Under some of which nothing is assumed.
    surely: bool,
}

/// The number of breaches that are looked at to find one that is real.
const BREACHES: usize = 20;

/// The number of these that are taken from one state.
const CHOICES: usize = 4;

impl Truth {
    /// Finds where a condition holds that a property expects to be so.
    fn of(search: &mut Search, property: &Property, condition: &str, expected: bool) -> Self {
        let tree = &mut search.moves.tree;
        let what = tree.condition(condition, &by_hand());
        let mut fault = None;
        let holds = everywhere(search, what, &by_hand(), |search, state, outcomes| {
            let found = outcomes.iter().find_map(|it| it.result.clone().err());
            fault = found.map(|error| (state, Fault::at("properties")(error)));
            let tree = &search.moves.tree;
            let holds = |outcome: &Outcome| outcome.result == Ok(true);
            let surely = |outcome: &Outcome| {
                holds(outcome) && tree.assumed_by(&outcome.choices).next().is_none()
            };
            fault.is_none().then(|| Holds {
                always: outcomes.iter().all(holds),
                sometimes: outcomes.iter().any(holds),
                surely: outcomes.iter().any(surely),
            })
        });
        // Behind a step with settings that the step allows, or in any state.
        let steps: Vec<Option<Transition>> = match &property.step {
            Some(step) => {
                let places = search.moves.tree.chart.places_of(step);
                let steps = search.transitions_of(&places).into_iter();
                steps.map(Some).collect()
            }
            None => vec![None; holds.len()],
        };
        let mut breaches = Vec::new();
        for (at, by) in steps.into_iter().enumerate() {
            let state = by.map_or(at, |step| step.to);
            // A fault in the midst ends what is known of the states.
            let is_breach = holds.get(state).is_some_and(|holds| match expected {
                true => !holds.always,
                false => holds.sometimes,
            });
            if !is_breach || breaches.len() >= BREACHES {
                continue;
            }
            let trigger = by_hand();
            let at = Progress::of(what, &trigger, &search.states[state]);
            let outcomes = search.moves.outcomes(&at, &mut Looks::default());
            let is_breach = |it: &Outcome| it.result != Ok(expected) && fits(search, by, it);
            let outcomes = outcomes.into_iter().filter(is_breach).take(CHOICES);
            breaches.extend(outcomes.map(|it| Example {
                state: by.map_or(state, |step| step.from),
                by,
                choices: it.choices,
            }));
        }
        Self { holds, fault, breaches }
    }

    /// Returns of each state whether this is so there.
    fn states(&self, is_so: impl Fn(&Holds) -> bool) -> Vec<bool> {
        self.holds.iter().map(is_so).collect()
    }
}

/// Returns whether what was chosen is possible behind a step.
fn fits(search: &Search, by: Option<Transition>, outcome: &Outcome) -> bool {
    let tree = &search.moves.tree;
    let Some(step) = by else { return true };
    let Edge { needs, sets, .. } = &search.edges[step.edge];
    outcome.choices.iter().all(|(question, value)| {
        let field = tree.field_asked(*question);
        // What the step sets is so behind it, whatever it needed.
        if let Some((_, set)) = sets.iter().find(|(set, _)| Some(*set) == field) {
            return set == value;
        }
        let mut needed = needs.iter().filter(|(need, _)| Some(*need) == field);
        needed.all(|(_, set)| tree.has(*set, *value))
    })
}
