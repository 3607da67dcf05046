//! `git`: what git says about the work tree.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("git.dirty", "there are uncommitted changes outside the home; false outside git", ""),
    ],
    kind: |_| Some(Type::record([("dirty", Type::Boolean)])),
    value: Lookup::Fields(|names, key| (key == "dirty").then(|| names.look(&Source::Dirty))),
};
