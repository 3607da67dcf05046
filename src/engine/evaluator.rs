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
    /// Whether a review shows that it ran what it was to run.
    Shown,
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

/// Evaluates a chart's expressions and texts. Each method is given what the engine itself does, as `evaluate`; by
/// default it does just that.
pub trait Evaluator: Debug + Send + Sync {
    /// Returns a value for something that is left out; `None` if it stays left out.
    fn given(&self, _given: Given<'_>) -> Option<Json> {
        None
    }

    /// Returns whether a condition is true for the names of `root`.
    fn condition(
        &self,
        _source: &str,
        _root: &Value,
        evaluate: &dyn Fn() -> Result<bool, ExprError>,
    ) -> Result<bool, ExprError> {
        evaluate()
    }

    /// Renders a text, as one or several words. If it `is_shown` and nothing else, only matters that it can be rendered.
    fn text(
        &self,
        _source: &str,
        _is_shown: bool,
        _root: &Value,
        evaluate: &dyn Fn() -> Result<Vec<String>, ExprError>,
    ) -> Result<Vec<String>, ExprError> {
        evaluate()
    }

    /// Returns the items of a list; all that matters to a decision is whether there are any.
    fn items(
        &self,
        _source: &str,
        _root: &Value,
        evaluate: &dyn Fn() -> Result<Vec<Value>, ExprError>,
    ) -> Result<Vec<Value>, ExprError> {
        evaluate()
    }

    /// Returns the value of a literal that a context field is assigned.
    fn value(
        &self,
        _literal: &Literal,
        _root: &Value,
        evaluate: &dyn Fn() -> Result<Value, ExprError>,
    ) -> Result<Value, ExprError> {
        evaluate()
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
