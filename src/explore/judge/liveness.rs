//! What eventually holds, whatever path is taken: the counterexample is a loop in which it never does.

use super::judgment::{Breach, Judge};
use super::settings::{Settings, TooMany, in_words};
use crate::diagnostic::toml::Segment;
use crate::engine::decision::Outcome;
use crate::explore::graph::Longest;
use crate::explore::moves::{Actor, Edge};
use crate::explore::report::Verdict;
use crate::explore::search::Arrow;

impl Judge<'_> {
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
        let goes_on =
            |from: usize, arrow: &Arrow| self.actor(arrow) != Actor::User && arrow.to() != from;
        let open = |state: usize| !goals[state];
        for state in (0..self.search.looked_at()).filter(|state| open(*state)) {
            let arrows = self.search.arrows(state).iter();
            if let Some(set) = self.stops(arrows.filter(|arrow| goes_on(state, arrow)))? {
                let words = in_words(self.search, &set);
                let claim = format!(
                    "without the user nothing leads on from here{words}, and `{goal}` is not true"
                );
                return Ok(self.at_set(claim, state, &set, path.to_vec()));
            }
        }
        let loops = |settings: &Settings| {
            let is_kept = |edge: &Edge| settings.may(self.search, edge) && !self.is_failure(edge);
            let kept: Vec<bool> = self.search.edges.iter().map(is_kept).collect();
            let rounds = Longest::of(self.search, |from, arrow| {
                let stays_open = open(from) && open(arrow.to()) && goes_on(from, arrow);
                (stays_open && kept[arrow.edge()]).then_some(1)
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
        let run = self.search.run(edge);
        run.is_some_and(|run| match &run.outcome {
            Outcome::Ran { verdict, .. } => verdict.is_none(),
            Outcome::Failed(_) | Outcome::Gate(_) => true,
        })
    }
}
