//! `rulings`: what the user has ruled about findings.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("rulings", "what the user has ruled about findings, one line each", ""),
    ],
    kind: |_| Some(Type::list(Type::Text)),
    value: Lookup::One(|names| names.look(&Source::Rulings)),
};
