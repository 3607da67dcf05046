//! Nothing is there without effect: every phase is reached, every rule fires, every target is taken.

use std::collections::HashSet;

use super::judgment::{Judge, untried_of};
use super::place::key_of_phase;
use crate::diagnostic::code::Code;
use crate::engine::fault::Fault;
use crate::explore::domain::computed_by;
use crate::explore::report::{PropertyResult, Verdict};

impl Judge<'_> {
    pub(super) fn phases(&self) -> Vec<PropertyResult> {
        let name = "every phase can be reached";
        let seen: HashSet<&str> = (0..self.search.states.len())
            .map(|state| self.phase(state))
            .collect();
        let mut results = Vec::new();
        for (phase, entry) in &self.chart.phases {
            let place = format!("phases.{phase}");
            let path = steps!["phases", &key_of_phase(self.chart, phase)];
            if !seen.contains(phase.as_str()) {
                let verdict = self.absent(format!("the phase `{phase}` cannot be reached"), path);
                results.push(PropertyResult::new(name, Code::PhaseUnreachable, verdict));
            } else if entry.phase.guard.is_some() && !self.has_fired(&place) {
                let claim = format!(
                    "the guard of the phase `{phase}` is never true: it is reached, but never entered"
                );
                results.push(PropertyResult::new(
                    name,
                    Code::PhaseNeverEntered,
                    self.absent(claim, path),
                ));
            }
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

    pub(super) fn rules(&self) -> Vec<PropertyResult> {
        let name = "every rule can fire";
        let tree = &self.search.moves.tree;
        let coverage = &self.search.moves.coverage;
        let mut count = 0;
        let mut results = Vec::new();
        let mut expect = |is_there: bool, code, absent: Verdict| {
            count += 1;
            if !is_there {
                results.push(PropertyResult::new(name, code, absent));
            }
        };
        for (list, rules) in &self.chart.on {
            for index in 0..rules.len() {
                let place = format!("on.{list}[{index}]");
                let list_id = tree.lists.get_index_of(list);
                let was_tried = list_id.is_some_and(|list| coverage.tried.contains(&(list, index)));
                let why = if was_tried {
                    "its guard is never true"
                } else if index == 0 {
                    "its event never happens"
                } else {
                    "an earlier rule always answers first"
                };
                let claim = format!("{place} never fires: {why}");
                expect(
                    self.has_fired(&place),
                    Code::RuleNeverFires,
                    self.absent(claim, steps!["on", list, index]),
                );
            }
        }
        for command in self.chart.commands.keys() {
            let has_fired = self.has_fired(&format!("commands.{command}"));
            let claim = format!("the command `{command}` applies nowhere");
            expect(
                has_fired,
                Code::CommandNeverApplies,
                self.absent(claim, steps!["commands", command]),
            );
        }
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            for (index, advance) in cycle.advance.iter().enumerate() {
                let target = &advance.target;
                let claim = format!(
                    "cycles.{id}.advance[{index}] is never taken: `{id}` never leads to `{target}` that way"
                );
                let path = steps!["cycles", id, "advance", index];
                expect(
                    coverage.advanced.contains(&(at, index)),
                    Code::TargetNeverTaken,
                    self.absent(claim, path),
                );
            }
        }
        let faulty = tree
            .ground
            .faults_of_checks()
            .into_iter()
            .map(|(list, index, _)| (list, index));
        let found: HashSet<(String, usize)> = tree
            .ground
            .checks_that_find()
            .into_iter()
            .chain(faulty)
            .collect();
        for list in tree.ground.checks_asked() {
            let checks = self.chart.checks.get(&list).into_iter().flatten();
            for (index, check) in checks.enumerate() {
                let has_found = found.contains(&(list.clone(), index));
                let claim = format!("checks.{list}[{index}] never finds anything");
                let computed = computed_by(self.chart, check);
                let absent = if computed.is_empty() {
                    self.absent(claim, steps!["checks", &list, index])
                } else {
                    untried_of(&claim, &computed)
                };
                expect(has_found, Code::CheckNeverFinds, absent);
            }
        }
        if results.is_empty() {
            let verdict = Verdict::Proved {
                detail: format!("{count} rules, commands, advance targets and checks"),
            };
            results.push(PropertyResult::new(name, Code::RuleNeverFires, verdict));
        }
        results
    }

    /// True where a rule has fired somewhere, if only to end in a fault.
    fn has_fired(&self, place: &str) -> bool {
        let moves = &self.search.moves;
        let index = moves.tree.places.get_index_of(place);
        let fired = index.is_some_and(|index| {
            moves
                .coverage
                .fired
                .iter()
                .any(|fired| *fired as usize == index)
        });
        fired
            || moves.faults.iter().any(|fault| match fault {
                Fault::Expression { place: at, .. }
                | Fault::Assignment { place: at, .. }
                | Fault::NoCycle { place: at } => at
                    .strip_prefix(place)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
                Fault::NowhereToAdvance { .. }
                | Fault::Argument { .. }
                | Fault::File(_)
                | Fault::World(_) => false,
            })
    }
}
