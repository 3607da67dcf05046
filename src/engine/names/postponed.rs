//! `postponed`: until when the reviewer whose turn it is cannot run.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("postponed", "until when the reviewer whose turn it is cannot run: `18:23 UTC+01:00`, or `2026-11-26 18:23 UTC+01:00`; none if it can", ""),
    ],
    kind: |_| Some(Type::Text.or_none()),
    value: Lookup::One(|names| names.look(&Source::Postponed(names.next_invocation()?))),
};
