//! What a file about a source of names declares.

use std::sync::Arc;

use minijinja::value::Value;

use super::types::ChartNames;
use super::{Looked, Names};
use crate::engine::fault::Fault;
use crate::expr::types::Type;

/// A name that expressions see in every chart, alone or before a dot.
#[derive(Debug)]
pub struct BuiltIn {
    /// The name and its fields: how each is written, what it is, and where it can be used if not everywhere. `NAME`
    /// stands for a name of the chart, `[]` for an item of a list.
    pub about: &'static [(&'static str, &'static str, &'static str)],
    /// Returns its type; `None` where it has none.
    pub(super) kind: fn(&ChartNames<'_>) -> Option<Type>,
    pub(super) value: Lookup,
}

/// How a value is looked up.
#[derive(Debug)]
pub(super) enum Lookup {
    /// All of it at once.
    One(fn(&Arc<Names>) -> Result<Value, Fault>),
    /// Field by field.
    Fields(fn(&Arc<Names>, &str) -> Looked),
    /// It is given with the other names.
    It,
}
