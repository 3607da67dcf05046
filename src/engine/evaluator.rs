//! How a decision gets from what a chart writes to values: the only thing about `decide` that can be replaced.
//!
//! The hook evaluates every expression where it stands. The model checker has evaluated some of them before, and of
//! others it knows only that they can have any value.

use std::fmt::Debug;

use minijinja::value::Value;
use serde_json::Value as Json;

use crate::expr::ExprError;
use crate::expr::source::Literal;

/// Something that neither the event nor the chart says, or that is computed from other sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given<'a> {
    /// A field that is absent from the hook event.
    Field(&'a str),
    /// An option that was not given.
    Arg(&'a str),
    /// The session, if the event does not name it.
    Session,
    /// The findings of a list of checks.
    Findings(&'a str),
    /// The worst severity that a review with a verdict has found.
    Worst,
    /// Whether a review names a command that it ran.
    Ran,
    /// The name of the process that a rule's `invoke` means.
    Invocation(&'a str),
}

/// Why a context field cannot be assigned a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// The expression has no value.
    Error(ExprError),
    /// The field does not hold such a value.
    Misfit { value: String, expected: String },
}

/// What is asked of an expression or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Whether it holds, as a condition of the chart.
    Condition,
    /// Nothing but that it can be made.
    Text,
    /// Whether the list has items.
    Items,
    /// Its value.
    Value,
    /// The value of a name that the chart defines.
    Let,
}

/// Knows what a chart's expressions and texts give before they are evaluated, or afterwards takes them to give something
/// else. By default, everything is evaluated where it stands, and taken as it is.
pub trait Evaluator: Debug + Send + Sync {
    /// Returns a value for something that is left out; `None` if it stays left out.
    fn given(&self, _given: Given<'_>) -> Option<Json> {
        None
    }

    /// Returns what an expression or a text gives for the names of `root`, where that is known: of a list one with as few
    /// items as matter, of a text anything.
    fn recall(
        &self,
        _kind: Kind,
        _source: &str,
        _root: &Value,
    ) -> Option<Result<Value, ExprError>> {
        None
    }

    /// Returns whether a condition is true that was evaluated.
    fn condition(&self, _source: &str, holds: Result<bool, ExprError>) -> Result<bool, ExprError> {
        holds
    }

    /// Returns the words of a text that was rendered.
    fn text(
        &self,
        _source: &str,
        words: Result<Vec<String>, ExprError>,
    ) -> Result<Vec<String>, ExprError> {
        words
    }

    /// Returns what a context field is assigned, given the literal's value if the field may hold it.
    fn assigned(
        &self,
        _field: &str,
        _literal: &Literal,
        value: Result<Json, Unfit>,
    ) -> Result<Json, Unfit> {
        value
    }
}

/// Evaluates everything where it stands, as the hook does.
#[derive(Debug, Clone, Copy)]
pub struct InPlace;

impl Evaluator for InPlace {}
