//! `now`: the time.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("now", "the time in UTC, to the second, in a form for file names: `20260203T145212`", ""),
    ],
    kind: |_| Some(Type::Text),
    value: Lookup::One(|names| names.look(&Source::Now)),
};
