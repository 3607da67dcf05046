//! There is an end, and a way to it from everywhere.

use super::judgment::{Judge, Setting};
use super::place::key_of_phase;
use crate::chart::model::PhaseType;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Step;
use crate::explore::graph::leads_to;
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::Arrow;

impl Judge<'_> {
    /// Nothing where the chart has no final phase.
    pub(super) fn finals(&self) -> Vec<PropertyResult> {
        let is_final = |name: &str| {
            let entry = self.chart.phases.get(name);
            entry.is_some_and(|entry| entry.phase.kind == Some(PhaseType::Final))
        };
        if !self.chart.phases.keys().any(|name| is_final(name)) {
            return Vec::new();
        }
        let ends: Vec<bool> = (0..self.search.states.len())
            .map(|state| is_final(self.phase(state)))
            .collect();
        let path = |state: usize| steps!["phases", &key_of_phase(self.chart, self.phase(state))];
        let mut states = (0..self.search.looked_at()).filter(|state| !ends[*state]);
        let stuck = states.find_map(|state| {
            let setting = self
                .settings
                .iter()
                .find(|setting| self.is_dead_end(state, setting))?;
            Some((state, setting))
        });
        let dead_end = match stuck {
            Some((state, setting)) => {
                let claim = format!(
                    "in the phase `{}` nothing leads on{}",
                    self.phase(state),
                    setting.words
                );
                self.untried(&claim)
                    .unwrap_or_else(|| self.at(claim, state, path(state)))
            }
            None => self.holds(format!("{} states", self.search.looked_at())),
        };
        let claim = |state: usize, words: &str| {
            format!(
                "from the phase `{}` no final phase can be reached{words}",
                self.phase(state)
            )
        };
        let reach = self.within_reach(&ends, "from every state".to_owned(), claim, path);
        let is_stuck = matches!(dead_end, Verdict::Refuted { .. });
        let mut results = vec![PropertyResult::new(
            "no dead end before a final phase",
            Code::DeadEnd,
            dead_end,
        )];
        // Of course nothing final is within reach of a dead end.
        if !is_stuck {
            let name = "a final phase stays within reach";
            results.push(PropertyResult::new(name, Code::FinalOutOfReach, reach));
        }
        results
    }

    /// Whether some goal stays within reach of every state. `claim` says where not, and with what setting.
    pub(super) fn within_reach(
        &self,
        goals: &[bool],
        detail: String,
        claim: impl Fn(usize, &str) -> String,
        path: impl Fn(usize) -> Vec<Step>,
    ) -> Verdict {
        let Some((state, setting)) = self.lost(goals) else {
            return self.holds(detail);
        };
        // Where a command sets a parameter, values that were not tried may lead on.
        let sets = |state: usize| {
            self.search
                .arrows(state)
                .iter()
                .any(|arrow| !self.edge(arrow).sets.is_empty())
        };
        let open: Vec<bool> = (0..goals.len())
            .map(|state| goals[state] || sets(state))
            .collect();
        match self.lost(&open) {
            Some((state, setting)) => {
                let claim = claim(state, &setting.words);
                self.untried(&claim)
                    .unwrap_or_else(|| self.at(claim, state, path(state)))
            }
            None => Verdict::Bounded {
                why: format!(
                    "{}; a value that was not tried may lead on",
                    claim(state, &setting.words)
                ),
            },
        }
    }

    /// True where no move changes anything, with the parameters as they are set, and no command sets them.
    fn is_dead_end(&self, state: usize, setting: &Setting) -> bool {
        let leads_on = |arrow: &Arrow| arrow.to() != state || !self.edge(arrow).sets.is_empty();
        !self
            .search
            .arrows(state)
            .iter()
            .any(|arrow| leads_on(arrow) && setting.allows(arrow))
    }

    /// The first state from which no goal can be reached, with the parameters set like that from there on
    /// unless a command of the chart sets them otherwise.
    fn lost(&self, goals: &[bool]) -> Option<(usize, &Setting)> {
        if !self.search.complete {
            return None;
        }
        let mut reach: Vec<Vec<bool>> = vec![goals.to_vec(); self.settings.len()];
        let mut has_grown = true;
        while has_grown {
            has_grown = false;
            for (index, setting) in self.settings.iter().enumerate() {
                let mut now =
                    leads_to(self.search, &reach[index], |_, arrow| setting.allows(arrow));
                // Another setting may lead on, where a command leads to it.
                for (state, reached) in now.iter_mut().enumerate() {
                    *reached = *reached
                        || self
                            .sets_to(state, setting)
                            .any(|other| reach[other][state]);
                }
                has_grown |= now != reach[index];
                reach[index] = now;
            }
            if reach.iter().flatten().all(|reached| *reached) {
                return None;
            }
        }
        let lost = reach
            .iter()
            .zip(&self.settings)
            .filter_map(|(reach, setting)| {
                let state = reach.iter().position(|reached| !reached)?;
                Some((state, setting))
            });
        lost.min_by_key(|(state, _)| *state)
    }

    /// The settings that a command leads to from another, in a state.
    fn sets_to(&self, state: usize, setting: &Setting) -> impl Iterator<Item = usize> {
        let arrows = self
            .search
            .arrows(state)
            .iter()
            .filter(|arrow| setting.allows(arrow));
        let sets = arrows
            .map(|arrow| &self.edge(arrow).sets)
            .filter(|sets| !sets.is_empty());
        sets.filter_map(|sets| {
            let is_wanted = |other: &Setting| {
                other
                    .values
                    .iter()
                    .zip(&setting.values)
                    .all(|((field, value), (_, before))| {
                        let set = sets
                            .iter()
                            .find(|(set, _)| set == field)
                            .map_or(before, |(_, value)| value);
                        set == value
                    })
            };
            self.settings.iter().position(is_wanted)
        })
    }
}
