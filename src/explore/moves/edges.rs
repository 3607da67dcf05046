//! The transition that an ending of a move is.

use super::{ACTIVE, Edge, Moves};
use crate::engine::decision::Outcome;
use crate::explore::domain::Choice;
use crate::explore::imagined_world::Question;
use crate::explore::state::{FALSE, Situation, TRUE};

impl Moves {
    /// Returns the result of a move whose decision ends with this tail.
    pub(super) fn edge(&mut self, mover: usize, state: &Situation, tail: u32) -> Edge {
        let tail = self.tails.get(tail).clone();
        let mut answered = None;
        let mut active = None;
        let mut needs = Vec::new();
        for (question, set) in &tail.choices {
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
        if let Some(review) = tail.review
            && let run = &self.tree.runs[review as usize]
            && matches!(run.outcome, Outcome::Ran { .. })
            && let Some(cycle) = self.tree.chart.cycles.get_index_of(&run.invocation.cycle)
        {
            let question = self.tree.answer(cycle, run.invocation.n, state.fields());
            answered = question.map(|question| (question, FALSE));
        }
        let all = tail.assigned.iter().copied();
        let (mut sets, mut assigned): (Vec<_>, Vec<_>) =
            all.partition(|(field, _)| self.tree.parameter(*field).is_some());
        sets.sort_unstable();
        assigned.sort_unstable();
        needs.sort_unstable();
        Edge {
            mover,
            needs,
            sets,
            assigned,
            answered,
            fired: tail.fired,
            advanced: tail.advanced,
            block: tail.block,
            active,
            review: tail.review,
            arms: tail.arms,
            fault: tail.fault,
        }
    }
}
