//! What a decision asks of a world.

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
        place: Arc<str>,
    },
    /// The value of an expression that is evaluated by itself.
    Outcome { kind: Kind, source: String },
}

/// What is asked of an expression that is evaluated by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Whether it holds, as a condition of the chart.
    Condition,
    /// Nothing but that it can be made.
    Text,
    /// Whether the list has items.
    Items,
    /// Its value.
    Value,
}

/// One question of a decision, in the order in which they were asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    /// What it can be answered where the state does not say.
    pub(crate) options: Arc<[Answer]>,
    pub(crate) answer: Arc<Answer>,
}
