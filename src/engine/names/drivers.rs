//! `drivers`: the sessions that drive the instance.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("drivers", "the ids of the sessions that drive the instance", ""),
    ],
    kind: |_| Some(Type::list(Type::Text)),
    value: Lookup::One(|names| names.look(&Source::Drivers)),
};
