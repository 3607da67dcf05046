//! Nothing is there without effect: every phase is reached, every rule fires, every target is taken.

use std::collections::HashSet;

use super::blame::Blame;
use super::checks::CheckSeen;
use super::everywhere::Example;
use super::judgment::{Judge, untried_of};
use super::place::key_of_phase;
use crate::chart::Cycle;
use crate::diagnostic::code::Code;
use crate::explore::decision_tree::Target;
use crate::explore::graph::path_to;
use crate::explore::moves::Actor;
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::Shown;
use crate::explore::state::number;

/// What is claimed of rules, commands, targets and checks.
const FIRES: &str = "every rule can fire";

/// What is there to have an effect: how many, and the results about those that have none.
#[derive(Default)]
struct Expected {
    count: usize,
    results: Vec<PropertyResult>,
}

impl Expected {
    /// Adds one: what is said where it has no effect, and where that is in doubt.
    fn add(&mut self, is_there: bool, code: Code, absent: Verdict, doubtful: Option<Verdict>) {
        self.count += 1;
        let verdict = if is_there { doubtful } else { Some(absent) };
        let result = verdict.map(|verdict| PropertyResult::new(FIRES, code, verdict));
        self.results.extend(result);
    }
}

impl Judge<'_> {
    /// Judges whether every phase is reached, and entered where it has a guard.
    pub(super) fn phases(&self) -> Vec<PropertyResult> {
        let name = "every phase can be reached";
        let seen: HashSet<&str> = (0..self.search.states.len())
            .map(|state| self.phase(state))
            .collect();
        let mut results = Vec::new();
        for (phase, entry) in &self.chart.phases {
            let place = format!("phases.{phase}");
            let path = steps!["phases", &key_of_phase(self.chart, phase)];
            let is_guarded = entry.phase.guard.is_some();
            let mut code = Code::PhaseUnreachable;
            let verdict = if !seen.contains(phase.as_str()) {
                Some(self.absent(format!("the phase `{phase}` cannot be reached"), path))
            } else if let Some(verdict) = self.doubtful_phase(phase) {
                Some(verdict)
            } else {
                code = Code::PhaseNeverEntered;
                let claim = format!(
                    "the guard of the phase `{phase}` is never true: it is reached, but never entered"
                );
                match is_guarded && self.has_fired(&place) {
                    true => self.doubtful(&place, &format!("the phase `{phase}` is never entered")),
                    false => is_guarded.then(|| self.absent(claim, path)),
                }
            };
            let result = verdict.map(|verdict| PropertyResult::new(name, code, verdict));
            results.extend(result);
        }
        if results.is_empty() {
            // What has been seen is there, however far the search went.
            let verdict = Verdict::Proved {
                detail: format!("{} phases", self.chart.phases.len()),
            };
            results.push(PropertyResult::new(name, Code::PhaseUnreachable, verdict));
        }
        results
    }

    /// Judges whether every rule, command, advance target and check has an effect.
    pub(super) fn rules(&self) -> Vec<PropertyResult> {
        let mut expected = Expected::default();
        self.expect_rules(&mut expected);
        self.expect_commands_and_targets(&mut expected);
        self.expect_checks(&mut expected);
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            // What no move takes at all, and the rules that never fire, are reported above.
            let is_taken = (0..cycle.advance.len()).any(|index| {
                let target = Target { cycle: at, index };
                !self.search.examples(Shown::Advances(target)).is_empty()
            });
            let is_ended = self.advances_without_the_user(at) || self.is_ended_by_the_user(cycle);
            let mut rules = self.chart.on.values().flatten();
            if is_taken && !is_ended && !rules.any(|rule| rule.advance) {
                let claim = format!(
                    "cycles.{id}.advance is never taken without the user: only commands end `{id}`"
                );
                let verdict = self.absent(claim, steps!["cycles", id, "advance"]);
                expected
                    .results
                    .push(PropertyResult::new(FIRES, Code::TargetNeverTaken, verdict));
            }
        }
        let Expected { count, mut results } = expected;
        if results.is_empty() {
            let verdict = Verdict::Proved {
                detail: format!("{count} rules, commands, advance targets and checks"),
            };
            results.push(PropertyResult::new(FIRES, Code::RuleNeverFires, verdict));
        }
        results
    }

    /// Expects every rule to fire.
    fn expect_rules(&self, expected: &mut Expected) {
        for (list, rules) in &self.chart.on {
            for index in 0..rules.len() {
                let place = format!("on.{list}[{index}]");
                let blame = self.blames.get(&place);
                let why = blame.map(Blame::in_words).unwrap_or_default();
                let claim = format!("{place} never fires: {why}");
                // What waits for a phase that is never reached is a finding about the phase.
                let waits_for = |phase: &&String| {
                    blame.is_some_and(|blame| blame.is_of_phase(self.chart, phase))
                };
                let phase = self.chart.phases.keys().find(waits_for);
                let (code, path) = match phase {
                    Some(phase) => (
                        Code::PhaseUnreachable,
                        steps!["phases", &key_of_phase(self.chart, phase)],
                    ),
                    None => (Code::RuleNeverFires, steps!["on", list, index]),
                };
                expected.add(
                    self.has_fired(&place),
                    code,
                    self.absent(claim, path),
                    self.doubtful(&place, &format!("{place} never fires")),
                );
            }
        }
    }

    /// Expects every command to apply and every advance target to be taken.
    fn expect_commands_and_targets(&self, expected: &mut Expected) {
        for command in self.chart.commands.keys() {
            let place = format!("commands.{command}");
            let has_fired = self.has_fired(&place);
            let claim = format!("the command `{command}` applies nowhere");
            expected.add(
                has_fired,
                Code::CommandNeverApplies,
                self.absent(claim.clone(), steps!["commands", command]),
                self.doubtful(&place, &claim),
            );
        }
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            for (index, advance) in cycle.advance.iter().enumerate() {
                let target = &advance.target;
                let claim = format!(
                    "cycles.{id}.advance[{index}] is never taken: `{id}` never leads to `{target}` that way"
                );
                let path = steps!["cycles", id, "advance", index];
                let target = Target { cycle: at, index };
                expected.add(
                    !self.search.examples(Shown::Advances(target)).is_empty(),
                    Code::TargetNeverTaken,
                    self.absent(claim.clone(), path),
                    self.doubtful_steps(Shown::Advances(target), &claim),
                );
            }
        }
    }

    /// Expects every check to find something.
    fn expect_checks(&self, expected: &mut Expected) {
        for seen in &self.checks {
            let CheckSeen { list, index, .. } = seen;
            let claim = format!("checks.{list}[{index}] never finds anything");
            let is_open = !seen.open.is_empty();
            let absent = if is_open {
                untried_of(&claim, &seen.open)
            } else {
                self.absent(claim.clone(), steps!["checks", list, *index])
            };
            let is_real = || {
                seen.found
                    .iter()
                    .any(|at| self.finds(seen, at) == Some(Ok(true)))
            };
            let is_there = !seen.found.is_empty() || !seen.faults.is_empty();
            let doubtful = (is_there && seen.faults.is_empty() && !is_real())
                .then(|| self.undecided(&claim, &[]));
            expected.add(is_there, Code::CheckNeverFinds, absent, doubtful);
        }
    }

    /// Returns true where a review, or anything else but a command, can lead on from a cycle.
    fn advances_without_the_user(&self, at: usize) -> bool {
        let moves = &self.search.moves;
        self.search.edges.iter().any(|edge| {
            let is_of_the_user = moves.all[edge.mover].actor == Actor::User;
            !is_of_the_user && edge.advanced.iter().any(|target| target.cycle == at)
        })
    }

    /// Returns true for a cycle that ends when the user says so: its exit looks at what a command assigns.
    fn is_ended_by_the_user(&self, cycle: &Cycle) -> bool {
        let expressions = &self.search.moves.tree.ground.expressions;
        let names = self.chart.names_in(expressions, [cycle.exit.0.as_str()]);
        let mut commands = self.chart.commands.values();
        commands.any(|command| {
            let mut assigned = command.rule.assign.keys();
            assigned.any(|field| names.contains(field))
        })
    }

    /// Returns true where a rule has fired somewhere, if only to end in a fault.
    fn has_fired(&self, place: &str) -> bool {
        !self.search.steps_to(place).is_empty() || self.fails_at(place)
    }

    /// Returns true where the rule at a place ends in a fault.
    fn fails_at(&self, place: &str) -> bool {
        let faults = &self.search.moves.tree.faults;
        let mut met = self.search.faults();
        met.any(|fault| {
            let at = faults[fault as usize].place();
            let rest = at.as_deref().and_then(|at| at.strip_prefix(place));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Judges where no witness of a rule is real.
    fn doubtful(&self, place: &str, claim: &str) -> Option<Verdict> {
        if self.fails_at(place) {
            return None;
        }
        let place = self.search.moves.tree.places.get_index_of(place)?;
        self.doubtful_steps(Shown::Fires(number(place)), claim)
    }

    /// Judges where no example is real.
    fn doubtful_steps(&self, shown: Shown, claim: &str) -> Option<Verdict> {
        let steps = self.search.examples(shown);
        let is_doubtful = !steps.is_empty() && !self.is_real(steps);
        is_doubtful.then(|| self.undecided(claim, steps))
    }

    /// Judges where no witness of a phase is real.
    fn doubtful_phase(&self, phase: &str) -> Option<Verdict> {
        let states = (0..self.search.states.len()).filter(|state| self.phase(*state) == phase);
        let states: Vec<usize> = states.take(20).collect();
        let mut replay = self.replay.borrow_mut();
        if (states.iter()).any(|state| replay.reach(*state).is_some()) {
            return None;
        }
        drop(replay);
        let way = path_to(self.search, *states.first()?);
        Some(self.undecided(&format!("the phase `{phase}` cannot be reached"), &way))
    }

    /// Returns whether a check really finds something in a state; `None` where nobody knows, an error where it fails.
    pub(super) fn finds(&self, seen: &CheckSeen, at: &Example) -> Option<Result<bool, String>> {
        let mut replay = self.replay.borrow_mut();
        let standing = replay.reach(at.state)?;
        replay.finds(&standing, &seen.list, seen.index, &at.choices)
    }
}
