//! Nothing is there without effect: every phase is reached, every rule fires, every target is taken.

use super::checks::{CheckSeen, Example};
use super::judgment::{Judge, key_of_phase, untried_of};
use crate::chart::Cycle;
use crate::chart::model::Advance;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Segment;
use crate::explore::decision_tree::Target;
use crate::explore::graph::path_to;
use crate::explore::moves::{Actor, Edge};
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::Transition;

/// What is claimed of rules, commands, targets and checks.
const FIRES: &str = "every rule can fire";

/// A rule, a command, an advance target or a phase with a guard, which is there to have an effect.
struct Effect {
    code: Code,
    path: Vec<Segment>,
    /// What is said where it perhaps has none, and where it surely has none.
    claim: String,
    absent: String,
    /// Steps in which it has one; `None` where it fails, which is one, too.
    examples: Option<Vec<Transition>>,
}

impl Judge<'_> {
    /// Judges whether every phase is reached, and entered where it has a guard.
    pub(super) fn phases(&self) -> Vec<PropertyResult> {
        let name = "every phase can be reached";
        let mut results = Vec::new();
        for (phase, entry) in &self.chart.phases {
            let place = format!("phases.{phase}");
            let path = steps!["phases", &key_of_phase(self.chart, phase)];
            let unreached = self.unreached(phase, &path);
            let result = unreached.map(|it| PropertyResult::new(name, Code::PhaseUnreachable, it));
            results.extend(result.or_else(|| {
                entry.phase.guard.as_ref()?;
                let effect = Effect {
                    code: Code::PhaseNeverEntered,
                    path,
                    claim: format!("the phase `{phase}` is never entered"),
                    absent: format!(
                        "the guard of the phase `{phase}` is never true: it is reached, but never entered"
                    ),
                    examples: self.examples_at(&place),
                };
                self.without(name, &effect)
            }));
        }
        if results.is_empty() {
            // What has been seen is there, however far the search went.
            let verdict = Verdict::Proved(format!("{} phases", self.chart.phases.len()));
            results.push(PropertyResult::new(name, Code::PhaseUnreachable, verdict));
        }
        results
    }

    /// Judges whether every rule, command, advance target and check has an effect.
    pub(super) fn rules(&self) -> Vec<PropertyResult> {
        let effects = self.effects();
        let mut results: Vec<PropertyResult> =
            effects.iter().filter_map(|effect| self.without(FIRES, effect)).collect();
        results.extend(self.checks.iter().filter_map(|seen| self.check(seen)));
        results.extend(self.cycles_of_the_user());
        if results.is_empty() {
            let count = effects.len() + self.checks.len();
            let verdict =
                Verdict::Proved(format!("{count} rules, commands, advance targets and checks"));
            results.push(PropertyResult::new(FIRES, Code::RuleNeverFires, verdict));
        }
        results
    }

    /// Returns the rules, commands and advance targets.
    fn effects(&self) -> Vec<Effect> {
        let mut all = Vec::new();
        for (list, rules) in &self.chart.on {
            all.extend((0..rules.len()).map(|index| self.rule(list, index)));
        }
        for command in self.chart.commands.keys() {
            let place = format!("commands.{command}");
            let claim = format!("the command `{command}` never applies");
            all.push(Effect {
                code: Code::CommandNeverApplies,
                path: steps!["commands", command],
                absent: claim.clone(),
                claim,
                examples: self.examples_at(&place),
            });
        }
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            for (index, Advance { target, .. }) in cycle.advance.iter().enumerate() {
                let claim = format!(
                    "cycles.{id}.advance[{index}] is never taken: `{id}` never leads to `{target}` that way"
                );
                all.push(Effect {
                    code: Code::TargetNeverTaken,
                    path: steps!["cycles", id, "advance", index],
                    absent: claim.clone(),
                    claim,
                    examples: Some(self.advances(at, index)),
                });
            }
        }
        all
    }

    /// Returns a rule, which is there to fire.
    fn rule(&self, list: &str, index: usize) -> Effect {
        let place = format!("on.{list}[{index}]");
        let blame = self.blames.get(&place);
        let why = blame.map(|blame| blame.why.clone()).unwrap_or_default();
        // What waits for a phase that is never reached is a finding about the phase.
        let waits_for =
            |phase: &&String| blame.is_some_and(|blame| blame.is_of_phase(self.chart, phase));
        let phase = self.chart.phases.keys().find(waits_for);
        let phase = phase.map(|phase| steps!["phases", &key_of_phase(self.chart, phase)]);
        Effect {
            code: match phase {
                Some(_) => Code::PhaseUnreachable,
                None => Code::RuleNeverFires,
            },
            path: phase.unwrap_or_else(|| steps!["on", list, index]),
            claim: format!("{place} never fires"),
            absent: format!("{place} never fires: {why}"),
            examples: self.examples_at(&place),
        }
    }

    /// Returns what is said of something that has no effect, or perhaps none.
    fn without(&self, name: &str, effect: &Effect) -> Option<PropertyResult> {
        let examples = effect.examples.as_ref()?;
        let verdict = if examples.is_empty() {
            self.absent(effect.absent.clone(), effect.path.clone())
        } else {
            let is_real = self.is_real(examples);
            (!is_real).then(|| self.undecided(&effect.claim, examples))?
        };
        Some(PropertyResult::new(name, effect.code, verdict))
    }

    /// Returns what is said of a check that finds nothing, or perhaps nothing.
    fn check(&self, seen: &CheckSeen) -> Option<PropertyResult> {
        let CheckSeen { list, index, .. } = seen;
        let claim = format!("checks.{list}[{index}] never finds anything");
        let finds = |at: &Example| self.finds(seen, at) == Some(Ok(true));
        let verdict = if !seen.faults.is_empty() {
            return None;
        } else if !seen.found.is_empty() {
            let is_real = seen.found.iter().any(finds);
            (!is_real).then(|| self.undecided(&claim, &[]))?
        } else if !seen.open.is_empty() {
            untried_of(&claim, &seen.open)
        } else {
            self.absent(claim, steps!["checks", list, *index])
        };
        Some(PropertyResult::new(FIRES, Code::CheckNeverFinds, verdict))
    }

    /// Returns what is said of cycles that only commands end.
    fn cycles_of_the_user(&self) -> Vec<PropertyResult> {
        let mut results = Vec::new();
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            // What no move takes at all, and the rules that never fire, are reported above.
            let mut targets = 0..cycle.advance.len();
            let is_taken = targets.any(|index| !self.advances(at, index).is_empty());
            let is_ended = self.advances_without_the_user(at) || self.is_ended_by_the_user(cycle);
            let mut rules = self.chart.on.values().flatten();
            if is_taken && !is_ended && !rules.any(|rule| rule.advance) {
                let claim = format!(
                    "cycles.{id}.advance is never taken without the user: only commands end `{id}`"
                );
                let verdict = self.absent(claim, steps!["cycles", id, "advance"]);
                let code = Code::TargetNeverTaken;
                results.push(PropertyResult::new(FIRES, code, verdict));
            }
        }
        results
    }

    /// Returns examples of steps that take an advance target.
    fn advances(&self, cycle: usize, index: usize) -> Vec<Transition> {
        let target = Target { cycle, index };
        let takes = |edge: &Edge| edge.done.advanced.contains(&target);
        self.search.examples(takes)
    }

    /// Returns true where a review, or anything else but a command, can lead on from a cycle.
    fn advances_without_the_user(&self, at: usize) -> bool {
        self.search.edges.iter().any(|edge| {
            self.search.actor(edge) != Actor::User
                && edge.done.advanced.iter().any(|target| target.cycle == at)
        })
    }

    /// Returns true for a cycle that ends when the user says so: its exit looks at what a command assigns.
    fn is_ended_by_the_user(&self, cycle: &Cycle) -> bool {
        let expressions = &self.search.moves.tree.domain.expressions;
        let names = self.chart.names_in(expressions, [cycle.exit.0.as_str()]);
        let mut commands = self.chart.commands.values();
        commands.any(|command| {
            let mut assigned = command.rule.assign.keys();
            assigned.any(|field| names.contains(field))
        })
    }

    /// Returns examples in which the rule at a place fires; `None` where it ends in a fault.
    fn examples_at(&self, place: &str) -> Option<Vec<Transition>> {
        let faults = &self.search.moves.tree.faults;
        let mut met = self.search.edges.iter().filter_map(|edge| edge.done.fault);
        let fails = met.any(|fault| {
            let at = faults[fault as usize].place();
            let rest = at.as_deref().and_then(|at| at.strip_prefix(place));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        (!fails).then(|| self.search.steps_to(place))
    }

    /// Judges whether a phase is reached; `None` where it really is.
    fn unreached(&self, phase: &str, path: &[Segment]) -> Option<Verdict> {
        let claim = format!("the phase `{phase}` cannot be reached");
        let states = (0..self.search.states.len()).filter(|state| self.phase(*state) == phase);
        let states: Vec<usize> = states.take(20).collect();
        let Some(first) = states.first() else {
            return Some(self.absent(claim, path.to_vec()));
        };
        let is_real = |state: &usize| self.replay.borrow_mut().reach(*state).is_some();
        let is_reached = states.iter().any(is_real);
        (!is_reached).then(|| self.undecided(&claim, &path_to(self.search, *first)))
    }

    /// Returns whether a check really finds something in a state; `None` where nobody knows, an error where it fails.
    pub(super) fn finds(&self, seen: &CheckSeen, at: &Example) -> Option<Result<bool, String>> {
        let mut replay = self.replay.borrow_mut();
        let names = replay.names_at(at.state, &[], &at.choices)?;
        let mut found = Vec::new();
        let result = names.find(&self.chart.checks.get(&seen.list)?[seen.index], &mut found);
        let result = result.map(|()| !found.is_empty());
        Some(result.map_err(|error| error.to_string()))
    }
}
