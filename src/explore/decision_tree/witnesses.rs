//! What is chosen on a way, and whether something is assumed there.

use super::{Tree, Witness};
use crate::explore::answer::Answer;
use crate::explore::imagined_world::Question;
use crate::explore::state::Chosen;

/// The most witnesses that are made from one path.
const EXAMPLES: usize = 8;

impl Tree {
    /// Returns true where an expression is assumed to have another value than it has.
    fn assumes(&self, question: u32, value: u32) -> bool {
        matches!(self.question(question), Question::Assumed { .. })
            && *self.answer_of(value) != Answer::AsItIs
    }

    /// Returns true where something was assumed to come out otherwise than it does.
    pub(crate) fn is_assumed(&self, choices: &[Chosen]) -> bool {
        choices.iter().any(|(question, set)| {
            let mut values = self.members(*set).iter();
            values.all(|value| self.assumes(*question, *value))
        })
    }

    /// Does the same for a witness.
    pub(crate) fn is_witness_assumed(&self, witness: &[Chosen]) -> bool {
        witness
            .iter()
            .any(|(question, value)| self.assumes(*question, *value))
    }

    /// Returns whether that is so of a condition or a text: a field that is assigned what is not known depends on nothing
    /// by that.
    pub(crate) fn is_assumed_of_conditions(&self, witness: &[Chosen]) -> bool {
        witness.iter().any(|(question, value)| {
            let is_assigned = matches!(
                self.question(*question),
                Question::Assumed { field: Some(_), .. }
            ) && !matches!(self.answer_of(*value), Answer::Fails(_));
            self.assumes(*question, *value) && !is_assigned
        })
    }

    /// Returns some witnesses that these choices allow, those with the fewest assumptions first.
    pub(crate) fn witnesses(&self, choices: &[Chosen]) -> Vec<Witness> {
        let sets = choices.iter().map(|(_, set)| self.members(*set));
        let most = sets.map(<[u32]>::len).max().unwrap_or(1);
        let witness = |index: usize| {
            let chosen = choices.iter().map(|(question, set)| {
                let values = self.members(*set);
                let mut own = values.iter();
                let as_it_is = own.find(|value| *self.answer_of(**value) == Answer::AsItIs);
                let value = as_it_is.unwrap_or(&values[index % values.len()]);
                (*question, *value)
            });
            chosen.collect()
        };
        (0..most.min(EXAMPLES)).map(witness).collect()
    }
}
