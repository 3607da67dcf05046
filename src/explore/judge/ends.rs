//! There is an end, and a way to it from everywhere.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::judgment::{Judge, Setting};
use super::place::key_of_phase;
use crate::chart::model::PhaseType;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Step;
use crate::explore::graph::way_to;
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::Arrow;

/// The states that are to be reached.
pub(super) struct Goals<'g> {
    /// Where it may be that they are.
    pub(super) perhaps: &'g [bool],
    pub(super) surely: &'g [bool],
}

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
                self.at(claim, state, path(state))
            }
            None => self.holds(format!("{} states", self.search.looked_at())),
        };
        let claim = |state: usize, words: &str| {
            format!(
                "from the phase `{}` no final phase can be reached{words}",
                self.phase(state)
            )
        };
        let goals = Goals {
            perhaps: &ends,
            surely: &ends,
        };
        let reach = self.within_reach(&goals, "from every state".to_owned(), claim, path);
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
        goals: &Goals<'_>,
        detail: String,
        claim: impl Fn(usize, &str) -> String,
        path: impl Fn(usize) -> Vec<Step>,
    ) -> Verdict {
        let Some((state, setting)) = self.lost(goals.perhaps) else {
            if !self.search.complete {
                return self.cut_off();
            }
            return match self.really_leads(goals.surely) {
                Ok(()) => self.holds(detail),
                Err(state) => self.undecided(&claim(state, ""), &way_to(self.search, state)),
            };
        };
        // Where a command sets a number that decisions then look at, one that was not tried may lead on.
        let excused = self.excused();
        let open: Vec<bool> = goals
            .perhaps
            .iter()
            .zip(excused)
            .map(|(goal, excused)| *goal || excused)
            .collect();
        match self.lost(&open) {
            Some((state, setting)) => self.at(claim(state, &setting.words), state, path(state)),
            None => Verdict::Undecided {
                why: format!(
                    "{}; a value that was not tried may lead on",
                    claim(state, &setting.words)
                ),
            },
        }
    }

    /// The states in which the user can set a number that decisions look at from there on.
    fn excused(&self) -> Vec<bool> {
        let search = self.search;
        let states = 0..search.states.len();
        let mut excused = vec![false; states.len()];
        let parameters = search.moves.tree.ground.domain.parameters.keys();
        for field in parameters.filter_map(|name| search.field(name)) {
            let bit = 1_u128 << field.min(127);
            let looks: Vec<bool> = states
                .clone()
                .map(|state| {
                    search
                        .needs
                        .get(state)
                        .is_some_and(|needs| needs & bit != 0)
                })
                .collect();
            let leads = self.back.leads_to(&looks, |_| true);
            for state in states.clone() {
                let sets =
                    |arrow: &Arrow| self.edge(arrow).sets.iter().any(|(set, _)| *set == field);
                excused[state] |= leads[state] && search.arrows(state).iter().any(sets);
            }
        }
        excused
    }

    /// Whether a goal can be reached from every state by steps that can really be taken; else a state from which not.
    fn really_leads(&self, goals: &[bool]) -> Result<(), usize> {
        let mut known: HashMap<usize, bool> = HashMap::new();
        loop {
            let kept = |edge| known.get(&edge).copied().unwrap_or(true);
            let next = self.back.ways_to(goals, kept);
            let lost = next
                .iter()
                .zip(goals)
                .position(|(next, goal)| next.is_none() && !goal);
            if let Some(state) = lost {
                return Err(state);
            }
            let mut steps: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
            for (state, edge) in next
                .into_iter()
                .enumerate()
                .filter_map(|(state, edge)| Some((state, edge?)))
            {
                let examples = steps.entry(edge).or_default();
                if examples.len() < 5 {
                    examples.push((state, edge));
                }
            }
            let mut is_settled = true;
            for (edge, examples) in steps {
                if let Entry::Vacant(entry) = known.entry(edge) {
                    let is_real = examples.iter().any(|step| {
                        let mut replay = self.replay.borrow_mut();
                        replay.step_from_state(self.search, *step)
                    });
                    entry.insert(is_real);
                    is_settled &= is_real;
                }
            }
            if is_settled {
                return Ok(());
            }
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
                let mut now = self.back.leads_to(&reach[index], |edge| setting.fits[edge]);
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
