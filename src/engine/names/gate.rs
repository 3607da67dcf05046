//! `gate`: the gate that has just failed.

use std::sync::Arc;

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup};
use super::{Looked, Names};
use crate::engine::decision::FailedGate;
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
    let gate = review.as_deref().and_then(|ended| ended.outcome.failed_gate());
    let text = |of: fn(&FailedGate) -> &String| Value::from(gate.map(of).map(String::as_str));
    let value = match key {
        "failed" => return Some(Ok(Value::from(gate.is_some()))),
        "times" => Value::from(gate.map_or(0, |gate| gate.times)),
        "command" => text(|gate| &gate.command),
        "why" => text(|gate| &gate.why),
        "output" => Value::from(gate.map_or("", |gate| &gate.output)),
        _ => return None,
    };
    Some(match gate.is_none() && is_preview {
        true => Err(Fault::World(format!("no gate has failed, so there is no `gate.{key}`"))),
        false => Ok(value),
    })
}
