//! The files that answer a review.

use super::Tree;
use crate::chart::field::name_part;
use crate::explore::answer::Answer;
use crate::explore::imagined_world::Question;
use crate::explore::state::{Situation, number};
use crate::files::pattern::Pattern;
use std::rc::Rc;
use std::sync::Arc;

impl Tree {
    /// Returns the cycle that runs: the one that is due, or whose answer is.
    pub(crate) fn running(&self, state: &Situation) -> Option<usize> {
        let due = self.value(state.fields()[self.due?]).as_str()?;
        let mut cycles = self.chart.cycles.values();
        cycles.position(|cycle| cycle.id == due || cycle.post == due)
    }

    /// Returns true for the question whether the last review of some cycle is answered, as the fields name its files.
    pub(crate) fn is_current(&mut self, question: u32, fields: &[u32]) -> bool {
        if !matches!(self.question(question), Question::Answered { .. }) {
            return false;
        }
        (0..self.chart.cycles.len()).any(|cycle| self.last_answer(cycle, fields) == Some(question))
    }

    /// Returns the question whether the last review of a cycle, as its count says, is answered.
    pub(crate) fn last_answer(&mut self, cycle: usize, fields: &[u32]) -> Option<u32> {
        let count = self.fields_of_names[cycle].first()?;
        let n = self.value(fields[*count]).as_i64().filter(|n| *n > 0)?;
        self.answer(cycle, n, fields)
    }

    /// Returns the question whether review `n` of a cycle is answered.
    pub(crate) fn answer(&mut self, cycle: usize, n: i64, fields: &[u32]) -> Option<u32> {
        let made_of = Rc::clone(&self.fields_of_names[cycle]);
        let count = self.answer_id(&Answer::Value(n.into()));
        let others = made_of.iter().skip(1).map(|field| fields[*field]);
        let key = (cycle, n, std::iter::once(count).chain(others).collect());
        if let Some(known) = self.known_names.get(&key) {
            return *known;
        }
        let chart = Arc::clone(&self.chart);
        let cycle = &chart.cycles[cycle];
        let held = |hole: &str| Some(self.value(fields[self.field(hole)?]));
        let part = |hole: &str| held(hole).and_then(name_part).ok_or(());
        let name = |pattern: &Pattern| cycle.file_name(pattern, &n.to_string(), part).ok();
        let names = name(&cycle.answer).zip(name(&cycle.review));
        let question = names.map(|(answer, review)| {
            let question = Arc::new(Question::Answered { answer, review });
            number(self.questions.insert_full(question).0)
        });
        self.known_names.insert(key, question);
        question
    }
}
