//! `reviewing`: the review that is running.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("reviewing", "the review that is running: `code-review 1 by opus, since 2026-11-26 18:23:00 UTC`; none if none is", ""),
    ],
    kind: |_| Some(Type::Text.or_none()),
    value: Lookup::One(|names| names.look(&Source::Reviewing)),
};
