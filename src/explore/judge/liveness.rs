//! What comes to hold, whatever path is taken: the counterexample is a loop in which it never does.

use super::judgment::Judge;
use crate::diagnostic::toml::Step;
use crate::engine::decision::Outcome;
use crate::explore::graph::Longest;
use crate::explore::moves::{Actor, Edge};
use crate::explore::report::Verdict;
use crate::explore::search::Arrow;

impl Judge<'_> {
    /// Whether every path comes to a state of `goals` that the host, the agent and the reviewer take without the user.
    ///
    /// They go on: a path does not stay for ever in a state that one of their moves would change, and reviews do not
    /// fail for ever.
    pub(super) fn comes_to(
        &self,
        goals: &[bool],
        goal: &str,
        detail: String,
        path: &[Step],
    ) -> Verdict {
        self.under_any_setting(|allows| {
            let goes_on = |from: usize, arrow: &Arrow| {
                self.actor(arrow) != Actor::User && arrow.to() != from && allows(arrow)
            };
            let open = |state: usize| !goals[state];
            let states = 0..self.search.looked_at();
            let mut halts = states.filter(|state| open(*state)).filter(|state| {
                let arrows = self.search.arrows(*state).iter();
                !arrows.into_iter().any(|arrow| goes_on(*state, arrow))
            });
            if let Some(state) = halts.next() {
                let claim = format!(
                    "without the user nothing leads on from here, and `{goal}` is not true"
                );
                return self.at(claim, state, path.to_vec());
            }
            let rounds = Longest::of(self.search, |from, arrow| {
                let stays_open = open(from) && open(arrow.to()) && goes_on(from, arrow);
                (stays_open && !self.is_failure(self.edge(arrow))).then_some(1)
            });
            match rounds.endless_way() {
                Some(round) => {
                    let claim = format!("`{goal}` may never become true");
                    self.endless(claim, &round, path.to_vec())
                }
                None => self.holds(detail.clone()),
            }
        })
    }

    /// True where a review ran that gave no verdict.
    fn is_failure(&self, edge: &Edge) -> bool {
        let run = edge
            .review
            .map(|run| &self.search.moves.tree.runs[run as usize]);
        run.is_some_and(|run| {
            !matches!(
                run.outcome,
                Outcome::Ran {
                    verdict: Some(_),
                    ..
                }
            )
        })
    }
}
