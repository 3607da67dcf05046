//! `session`: the session of the event.

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup};
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
    value: Lookup::One(|names| Ok(Value::from(names.event.session.as_deref()))),
};
