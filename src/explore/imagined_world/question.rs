//! What a decision asks of a world.

pub(crate) use crate::engine::evaluator::Kind;
use crate::explore::answer::Answer;
use crate::explore::domain::Choice;
use std::sync::Arc;

/// What a decision asks of a world.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// A context field, or a setting, by its number.
    Field(usize),
    /// Whether there is a state yet.
    Started,
    /// Whether the answer to a review is there, and written after it.
    Answered { answer: String, review: String },
    /// What neither the state nor the chart determines.
    Choice(Choice),
    /// The result of an expression, where trying values of its inputs does not decide that.
    Assumed {
        /// The context field that is assigned the result; of conditions and texts there is none.
        field: Option<String>,
        source: String,
        part: Option<u32>,
    },
    /// The value of an expression that is evaluated by itself.
    Outcome { kind: Kind, source: String },
}

/// One question of a decision, in the order in which they were asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    /// What it can be answered where the state does not say.
    pub(crate) options: Arc<[Answer]>,
    pub(crate) answer: Arc<Answer>,
}
