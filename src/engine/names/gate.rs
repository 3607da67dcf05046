//! `gate`: the gate that has just failed.

use std::sync::Arc;

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup, at_rest};
use super::{Looked, Names};
use crate::engine::context;
use crate::engine::fault::Fault;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("gate.failed", "a gate has just failed, and no reviewer was started", "rules after an `invoke`"),
        ("gate.command", "the command line of the gate; none if no gate failed", "rules after an `invoke`"),
        ("gate.why", "how it failed: `exited with code 1`", "rules after an `invoke`"),
        ("gate.output", "the last lines of its output", "rules after an `invoke`"),
        ("gate.times", "how many times in a row it has failed with the same output, numbers, addresses and temporary names aside, and from the eighth time on with any; 0 if no gate failed", "rules after an `invoke`"),
    ],
    kind: |_| {
        Some(Type::record([
            ("failed", Type::Boolean),
            ("command", Type::Text.or_none()),
            ("why", Type::Text.or_none()),
            ("output", Type::Text),
            ("times", Type::Integer),
        ]))
    },
    value: Lookup::Fields(value),
};

fn value(names: &Arc<Names>, key: &str) -> Looked {
    let (review, is_preview) = {
        let moving = names.moving();
        (moving.review.clone(), moving.is_preview)
    };
    let Some(gate) = review.as_deref().and_then(|ended| ended.outcome.failed_gate()) else {
        let value = context::to_value(&at_rest("gate", key)?);
        return Some(match is_preview && key != "failed" {
            true => Err(Fault::World(format!("no gate has failed, so there is no `gate.{key}`"))),
            false => Ok(value),
        });
    };
    Some(Ok(match key {
        "failed" => Value::from(true),
        "times" => Value::from(gate.times),
        "command" => Value::from(gate.command.as_str()),
        "why" => Value::from(gate.why.as_str()),
        "output" => Value::from(gate.output.as_str()),
        _ => return None,
    }))
}
