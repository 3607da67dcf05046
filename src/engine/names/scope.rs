//! `scope`: the instance.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("scope.started", "the instance has a state", ""),
        ("scope.name", "the name of the instance's directory", ""),
        ("scope.path", "its path from the project's root", ""),
        ("scope.home", "the chart's home", ""),
    ],
    kind: |_| {
        Some(Type::record([
            ("started", Type::Boolean),
            ("name", Type::Text),
            ("path", Type::Text),
            ("home", Type::Text),
        ]))
    },
    value: Lookup::One(|names| names.look(&Source::Scope)),
};
