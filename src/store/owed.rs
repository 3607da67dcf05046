//! The answer to a stop, which the journal has until the host has it.
//!
//! The state is written before the answer is printed. If the hook is killed in between, or its host is gone, the plan
//! would wait for an agent that knows nothing about it. So the answer is in the line about the decision, and repeated at the next
//! stop if the state has not changed since.

use super::facts::Owed;
use super::journal;
use crate::engine::decision::{Answer, Decision};
use crate::hash;

impl Owed {
    /// Returns the answer of `decision`, which belongs to the state with this `text`.
    pub(crate) fn of(text: &[u8], decision: &Decision) -> Self {
        Self {
            at: journal::now(),
            state: hash::number(text),
            block: match &decision.answer {
                Answer::Block(reason) => Some(reason.clone()),
                _ => None,
            },
            messages: decision.messages.clone(),
            has_passed: decision.advances(),
        }
    }

    /// Returns the same answer for a state with another text.
    pub(crate) fn with(self, text: &[u8]) -> Self {
        Self { state: hash::number(text), ..self }
    }

    /// Returns the answer if it is still owed for the state with this `text`.
    pub(crate) fn for_state(&self, text: &[u8]) -> Option<Decision> {
        (self.state == hash::number(text)).then(|| Decision {
            messages: self.messages.clone(),
            answer: self.block.clone().map_or(Answer::Allow, Answer::Block),
            ..Decision::default()
        })
    }
}
