//! The transition that an ending of a move is.

use super::{ACTIVE, Edge, Moves, Setting};
use crate::engine::decision::Outcome;
use crate::explore::domain::Choice;
use crate::explore::imagined_world::Question;
use crate::explore::state::{FALSE, Situation, TRUE};

impl Moves {
    /// Returns the result of a move whose decision ends with this tail.
    pub(super) fn edge(&mut self, mover: usize, state: &Situation, tail: u32) -> Edge {
        let mut done = self.tails.get(tail).clone();
        let mut answered = None;
        let mut active = None;
        let mut needs = Vec::new();
        for (question, set) in &std::mem::take(&mut done.choices) {
            let only = self.tree.only(*set);
            if let Some(field) = self.tree.field_asked(*question) {
                needs.push((field, *set));
            } else if self.is_about_an_answer(*question, state.fields()) {
                answered = only.map(|value| (*question, value));
            } else if matches!(self.tree.question(*question), Question::Choice(Choice::Event(name)) if name == ACTIVE)
            {
                active = only.map(|value| value == TRUE);
            }
        }
        // A review that has just been written has no answer yet.
        if let Some(review) = done.review
            && let run = &self.tree.runs[review as usize]
            && matches!(run.outcome, Outcome::Ran { .. })
            && let Some(cycle) = self.tree.chart.cycles.get_index_of(&run.invocation.cycle)
        {
            let question = self.tree.answer(cycle, run.invocation.n, state.fields());
            answered = question.map(|question| (question, FALSE));
        }
        done.assigned.sort_unstable();
        needs.sort_unstable();
        let is_set = |(field, _): &Setting| self.tree.parameter(*field).is_some();
        let (sets, assigned) = done.assigned.into_iter().partition(is_set);
        done.assigned = assigned;
        Edge {
            mover,
            needs,
            sets,
            answered,
            active,
            done,
        }
    }
}
