//! The chart's own properties: what always holds, what never does, what stays reachable, what eventually holds.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::checks::by_hand;
use super::ends::Goals;
use super::judgment::{Judge, first_refuted, untried_of};
use crate::chart::model::Property;
use crate::diagnostic::code::Code;
use crate::engine::fault::Fault;
use crate::explore::decision_tree::Witness;
use crate::explore::graph::path_to;
use crate::explore::imagined_world::Question;
use crate::explore::moves::{Edge, Outcomes};
use crate::explore::plain::plain;
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::{Search, Transition};
use crate::explore::state::Memo;
use crate::explore::trace::words;
use crate::expr::source::Expr;

/// Finds where each property of the chart holds.
pub(super) fn truths(search: &mut Search) -> Vec<Truth> {
    let chart = Arc::clone(&search.moves.tree.chart);
    let claims = chart
        .properties
        .iter()
        .map(|property| property.claims().next());
    let truth = |claim: Option<(&str, &Expr)>| match claim {
        Some((key, expr)) => Truth::of(search, &expr.0, key != "never"),
        None => Truth::default(),
    };
    let mut truths: Vec<Truth> = claims.map(truth).collect();
    for (property, truth) in chart.properties.iter().zip(&mut truths) {
        if let (Some(step), Some((key, expr))) = (&property.step, property.claims().next()) {
            truth.look_behind(search, &chart.places_of(step), &expr.0, key != "never");
        }
    }
    truths
}

impl Judge<'_> {
    /// Judges each property of the chart.
    pub(super) fn own_properties(&self, truths: &[Truth]) -> Vec<PropertyResult> {
        let properties = self.chart.properties.iter().enumerate();
        properties
            .zip(truths)
            .filter_map(|((index, property), truth)| self.own(index, property, truth))
            .collect()
    }

    fn own(&self, index: usize, property: &Property, truth: &Truth) -> Option<PropertyResult> {
        let name = &property.about;
        let (key, expr) = property.claims().next()?;
        let expr = &expr.0;
        let path = steps!["properties", index, key];
        if let Some((state, fault)) = &truth.fault {
            let verdict = self.at(fault.to_string(), *state, path);
            return Some(PropertyResult::new(name, Code::NoDecision, verdict));
        }
        let detail = match &property.step {
            Some(step) => format!("after {step}, {key} {expr}"),
            None => format!("{key} {expr}"),
        };
        let refuted = |claim: String, expected: bool| {
            let breaches = truth.breaches.iter();
            let verdicts = breaches.map(|Breach { state, by, choices }| {
                let step = by.as_slice();
                let standing = self.replay.borrow_mut().reach(self.search, *state);
                let holds = standing.and_then(|standing| {
                    let mut replay = self.replay.borrow_mut();
                    let standing = replay.follow(self.search, &standing, step)?;
                    replay.holds(self.search, &standing, expr, choices)
                });
                if holds == Some(!expected) {
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
                self.comes_to(&goals, expr, detail.clone(), &path)
            }
            _ => {
                let claim =
                    |_: usize, words: &str| format!("from here no path leads to `{expr}`{words}");
                let goals = Goals {
                    perhaps: &truth.states(|holds| holds.sometimes),
                    surely: &truth.states(|holds| holds.surely),
                };
                self.within_reach(&goals, detail.clone(), claim, |_| path.clone())
            }
        };
        // What was tried says nothing about values that were not; but a way that was found is one.
        let verdict = match (verdict, self.open_condition(expr)) {
            (Verdict::Proved { .. }, Some(open)) if key != "reachable" => {
                untried_of(&format!("`{detail}` holds"), &open)
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
                Question::Field(name) => Some(format!("{name} is {}", plain(value))),
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
        let all = self.search.moves.tree.ground.domain.untried_by(expr);
        (!all.is_empty()).then_some(all)
    }
}

/// Where a condition holds.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// Per state.
    holds: Vec<Holds>,
    /// Where it is not as the property says.
    breaches: Vec<Breach>,
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

impl Holds {
    /// Returns whether it is not as a property says.
    fn is_breach(self, expected: bool) -> bool {
        match expected {
            true => !self.always,
            false => self.sometimes,
        }
    }
}

/// Where a property is not as it says.
#[derive(Debug)]
struct Breach {
    state: usize,
    /// The step behind which it is so, of a claim about steps.
    by: Option<Transition>,
    choices: Witness,
}

/// The number of breaches that are looked at to find one that is real.
const BREACHES: usize = 20;

impl Truth {
    fn of(search: &mut Search, condition: &str, expected: bool) -> Self {
        let mut truth = Self::default();
        let mut known: Memo<Holds> = Memo::default();
        let what = search.moves.condition(condition, &by_hand());
        for state in 0..search.states.len() {
            let found = known.get(search.states.get(state), &[]);
            let found = found.map(|(found, _)| *found);
            let is_wanting = truth.breaches.len() < BREACHES;
            if let Some(found) = found.filter(|it| !(is_wanting && it.is_breach(expected))) {
                truth.holds.push(found);
                continue;
            }
            let situation = search.states.get(state).to_situation();
            let (results, looks) = search.moves.holds(what, &by_hand(), situation.as_ref());
            if let Some(fault) = results.iter().find_map(|(result, _)| result.as_ref().err()) {
                truth.fault = Some((state, fault.clone()));
                break;
            }
            let tree = &search.moves.tree;
            let holds = |(result, _): &Outcomes| *result == Ok(true);
            let surely = |one: &Outcomes| holds(one) && !tree.is_witness_assumed(&one.1);
            let found = Holds {
                always: results.iter().all(holds),
                sometimes: results.iter().any(holds),
                surely: results.iter().any(surely),
            };
            let breaches = results.iter().filter(|one| holds(one) != expected);
            truth
                .breaches
                .extend(breaches.take(4).map(|(_, choices)| Breach {
                    state,
                    by: None,
                    choices: choices.clone(),
                }));
            known.put(situation.as_ref(), &[], &looks, found);
            truth.holds.push(found);
        }
        truth
    }

    /// Looks at the states behind steps instead, with settings that the step allows.
    fn look_behind(
        &mut self,
        search: &mut Search,
        places: &[String],
        condition: &str,
        expected: bool,
    ) {
        self.breaches.clear();
        let steps = search.transitions_of(places);
        let what = search.moves.condition(condition, &by_hand());
        for step in steps {
            let to = search.target(step);
            // A fault in the midst ends what is known of the states.
            let is_breach = (self.holds.get(to)).is_some_and(|holds| holds.is_breach(expected));
            if !is_breach || self.breaches.len() >= BREACHES {
                continue;
            }
            let situation = search.states.get(to).to_situation();
            let (results, _) = search.moves.holds(what, &by_hand(), situation.as_ref());
            let tree = &search.moves.tree;
            let Edge { needs, sets, .. } = &search.edges[step.edge];
            let fits = |choices: &Witness| {
                choices.iter().all(|(question, value)| {
                    let field = tree.field_asked(*question);
                    // What the step sets is so behind it, whatever it needed.
                    if let Some((_, set)) = sets.iter().find(|(set, _)| Some(*set) == field) {
                        return set == value;
                    }
                    let mut needed = needs.iter().filter(|(need, _)| Some(*need) == field);
                    needed.all(|(_, set)| tree.has(*set, *value))
                })
            };
            let breaches = results.into_iter();
            let breaches =
                breaches.filter(|(holds, choices)| *holds != Ok(expected) && fits(choices));
            self.breaches
                .extend(breaches.take(4).map(|(_, choices)| Breach {
                    state: step.from,
                    by: Some(step),
                    choices,
                }));
        }
    }

    /// Returns of each state whether this is so there.
    fn states(&self, is_so: impl Fn(&Holds) -> bool) -> Vec<bool> {
        self.holds.iter().map(is_so).collect()
    }
}
