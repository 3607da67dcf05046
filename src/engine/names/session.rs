//! `session`: the session of the event.

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup};
use crate::engine::context;
use crate::engine::evaluator::Given;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("session", "the session of the event or the command, if it is known", ""),
    ],
    kind: |names| {
        // If each session has its own instance, there is always a session.
        Some(match names.chart.scope.is_per_session() {
            true => Type::Text,
            false => Type::Text.or_none(),
        })
    },
    value: Lookup::One(|names| {
        let given = || names.evaluator.given(Given::Session);
        Ok(match &names.event.session {
            Some(session) => Value::from(session.as_str()),
            None => given().map_or_else(|| Value::from(()), |session| context::to_value(&session)),
        })
    }),
};
