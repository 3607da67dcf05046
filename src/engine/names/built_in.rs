//! What a file about a source of names declares.

use std::sync::Arc;

use minijinja::value::Value;
use serde_json::{Value as Json, json};

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

/// Returns what a name is while no review has run, no gate has failed, or no cycle is running.
pub(crate) fn at_rest(source: &str, key: &str) -> Option<Json> {
    Some(match (source, key) {
        ("review", "ok" | "ran" | "nothing")
        | ("gate", "failed")
        | (
            "cycle",
            "due" | "owed" | "answered" | "exit" | "ready" | "stalled" | "unchanged" | "of_code",
        ) => {
            json!(false)
        }
        ("review", "n" | "seconds") | ("gate", "times") | ("cycle", "n" | "limit") => json!(0),
        ("review", "took" | "found") | ("gate", "output") => json!(""),
        ("review", "findings") | ("cycle", "text" | "subject" | "findings" | "gates") => json!([]),
        ("review", "error" | "verdict" | "worst" | "by" | "cost" | "until" | "file" | "answer")
        | ("gate", "command" | "why")
        | ("cycle", "id" | "post" | "resume" | "last" | "next" | "review" | "stage") => Json::Null,
        _ => return None,
    })
}
