//! There is an end, and a way to it from everywhere; and what eventually holds, whatever path is taken: the counterexample
//! of that is a loop in which it never does.

use std::collections::{BTreeSet, HashMap};

use super::judgment::{Breach, Judge, key_of_phase};
use super::reach::{Lost, lost};
use super::settings::{Probe, Settings, TooMany, find_breach, in_words};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Segment;
use crate::engine::decision::Outcome;
use crate::explore::graph::{Longest, path_to};
use crate::explore::moves::{Actor, Edge};
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::Transition;
use crate::explore::state::Look;

impl Judge<'_> {
    /// Judges whether there is an end and a way to it: nothing where the chart has no final phase.
    pub(super) fn finals(&self) -> Vec<PropertyResult> {
        let chart = self.chart;
        if !chart.phases.keys().any(|name| chart.is_final(name)) {
            return Vec::new();
        }
        let ends: Vec<bool> =
            (0..self.search.states.len()).map(|state| chart.is_final(self.phase(state))).collect();
        let path = |state: usize| steps!["phases", &key_of_phase(self.chart, self.phase(state))];
        // What must be set so that no move changes anything, and no command sets it otherwise.
        let leads_on = |step: &Transition| step.to != step.from || !self.edge(step).sets.is_empty();
        let claim = |state: usize, words: &str| {
            let phase = self.phase(state);
            format!("in the phase `{phase}` nothing leads on{words}")
        };
        let dead_end = self.decided(self.stuck(&ends, leads_on).map(|stuck| match stuck {
            Some(lost) => self.refuted_at(&lost, claim, path),
            None => self.holds(format!("{} states", self.search.looked_at())),
        }));
        let claim = |state: usize, words: &str| {
            let phase = self.phase(state);
            format!("from the phase `{phase}` no final phase can be reached{words}")
        };
        let detail = "from every state".to_owned();
        let reach = self.decided(self.within_reach(&ends, &ends, detail, claim, path));
        let is_stuck = matches!(dead_end, Verdict::Refuted { .. });
        let name = "no dead end before a final phase";
        let mut results = vec![PropertyResult::new(name, Code::DeadEnd, dead_end)];
        // Of course nothing final is within reach of a dead end.
        if !is_stuck {
            let name = "a final phase stays within reach";
            results.push(PropertyResult::new(name, Code::FinalOutOfReach, reach));
        }
        results
    }

    /// Returns whether some goal stays within reach of every state: one that may be there `perhaps`, and one that `surely`
    /// is. `claim` says where not, and with what setting.
    pub(super) fn within_reach(
        &self,
        perhaps: &[bool],
        surely: &[bool],
        detail: String,
        claim: impl Fn(usize, &str) -> String,
        path: impl Fn(usize) -> Vec<Segment>,
    ) -> Result<Verdict, TooMany> {
        if self.search.cut.is_some() {
            return Ok(self.cut_off());
        }
        let Some((state, set)) = lost(self.search, self.back, perhaps)? else {
            return Ok(match self.really_leads(surely) {
                None => self.holds(detail),
                Some(state) => self.undecided(&claim(state, ""), &path_to(self.search, state)),
            });
        };
        // Where a command sets a number that decisions then look at, one that was not tried may lead on.
        let open = self.with_excused(perhaps);
        Ok(match lost(self.search, self.back, &open)? {
            Some(lost) => self.refuted_at(&lost, claim, path),
            None => Verdict::Undecided(format!(
                "{}; a value that was not tried may lead on",
                claim(state, &in_words(self.search, &set))
            )),
        })
    }

    /// Returns the goals, and the states in which the user can set a number that decisions look at from there on.
    fn with_excused(&self, goals: &[bool]) -> Vec<bool> {
        let search = self.search;
        let mut excused = goals.to_vec();
        for field in search.fields_set() {
            let Some(question) = search.moves.tree.parameter(field) else {
                continue;
            };
            let look = Look::question(question);
            let looks = (0..goals.len()).map(|state| search.looks_at(state, look));
            let looks: Vec<bool> = looks.collect();
            let leads = self.back.leads_to(&looks, |_| true);
            let sets =
                |step: &Transition| self.edge(step).sets.iter().any(|(set, _)| *set == field);
            for step in search.steps().filter(sets) {
                excused[step.from] |= leads[step.from];
            }
        }
        excused
    }

    /// Returns a state from which no goal can be reached by steps that can really be taken; `None` if there is none.
    fn really_leads(&self, goals: &[bool]) -> Option<usize> {
        // For each edge whether it was really taken, and from how many states that was tried.
        let mut known: HashMap<usize, (bool, usize)> = HashMap::new();
        loop {
            let mut has_found = false;
            let leads = self.back.leads_to(goals, |step| {
                let (is_real, times) = known.entry(step.edge).or_default();
                if !*is_real && *times < 5 {
                    *times += 1;
                    *is_real = self.replay.borrow_mut().step_from_state(step);
                    has_found |= *is_real;
                }
                *is_real && self.replay.borrow_mut().is_sure(step)
            });
            let lost = leads.iter().position(|leads| !leads);
            if self.search.moves.tree.budget.is_exhausted() {
                return None;
            }
            // An edge that was real only later may lead on from a state that was passed over.
            if lost.is_none() || !has_found {
                return lost;
            }
        }
    }

    /// Returns the first state but the goals from which no step leads on, and what must be set for that; `None` if there
    /// is always one.
    fn stuck(
        &self,
        goals: &[bool],
        leads_on: impl Fn(&Transition) -> bool,
    ) -> Result<Option<Lost>, TooMany> {
        let search = self.search;
        for state in (0..search.looked_at()).filter(|state| !goals[*state]) {
            let steps = search.steps_from(state).iter();
            let steps = steps.filter(|step| leads_on(step));
            let edges: BTreeSet<usize> = steps.map(|step| step.edge).collect();
            let stuck = find_breach(search, |settings| {
                let may = |edge: &&usize| settings.may(search, &search.edges[**edge]);
                let kept: Vec<usize> = edges.iter().filter(may).copied().collect();
                let kept_edges = kept.iter().map(|edge| &search.edges[*edge]);
                let open = kept_edges.map(|edge| settings.open(search, edge));
                match open.collect::<Option<Vec<usize>>>().as_deref() {
                    None => Probe::Holds,
                    Some([]) => Probe::Breach((state, settings.example(search))),
                    Some([field, ..]) => Probe::Depends { field: *field, edges: kept },
                }
            })?;
            if stuck.is_some() {
                return Ok(stuck);
            }
        }
        Ok(None)
    }

    /// Returns whether every path reaches a state of `goals` that the host, the agent and the reviewer take without the user.
    ///
    /// They go on: a path does not stay forever in a state that one of their moves would change, and reviews do not
    /// fail for ever.
    pub(super) fn comes_to(
        &self,
        goals: &[bool],
        goal: &str,
        detail: String,
        path: &[Segment],
    ) -> Result<Verdict, TooMany> {
        let goes_on = |step: &Transition| {
            self.search.actor(self.edge(step)) != Actor::User && step.to != step.from
        };
        if let Some(stuck) = self.stuck(goals, goes_on)? {
            let claim = |_: usize, words: &str| {
                format!(
                    "without the user nothing leads on from here{words}, and `{goal}` is not true"
                )
            };
            return Ok(self.refuted_at(&stuck, claim, |_| path.to_vec()));
        }
        let loops = |settings: &Settings| {
            let weight = |edge: &Edge| (!self.is_failure(edge)).then_some(1);
            let rounds = Longest::over(self.search, settings, weight, |step| {
                !goals[step.from] && !goals[step.to] && goes_on(step)
            });
            rounds.endless_loop().map_or(Ok(0), |steps| {
                Err(Breach {
                    claim: format!("`{goal}` may never become true"),
                    steps,
                    is_endless: true,
                    path: path.to_vec(),
                })
            })
        };
        Ok(self.under_any_setting(loops, |_| self.holds(detail.clone())))
    }

    /// Returns true where a review ran that gave no verdict.
    fn is_failure(&self, edge: &Edge) -> bool {
        let gives_one = |outcome: &Outcome| matches!(outcome, Outcome::Ran { verdict, .. } if verdict.is_some());
        let run = self.search.run(edge);
        run.is_some_and(|run| !gives_one(&run.outcome))
    }
}
