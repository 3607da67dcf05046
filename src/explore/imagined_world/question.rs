//! What a decision asks of a world.

pub(crate) use crate::engine::evaluator::Kind;
use crate::explore::answer::Answer;
use crate::explore::domain::Choice;
use serde_json::Value as Json;
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
    Outcome(Expression),
}

/// An expression or a text that is evaluated by itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Expression {
    pub(crate) kind: Kind,
    pub(crate) source: String,
    /// The phase that is entered, where that matters.
    pub(crate) it: Option<Json>,
    /// The part of the decision for which its value is assumed, where something is open about it.
    pub(crate) part: Option<u32>,
}

/// One question of a decision, in the order in which they were asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    /// What it can be answered where the state does not say.
    pub(crate) options: Arc<[Answer]>,
    pub(crate) answer: Arc<Answer>,
}
