//! `git`: what git says about the work tree, and what it has said.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("git.dirty", "there are uncommitted changes outside the home; false outside git", ""),
        ("git.base", "the commit up to which reviews of code that passed have seen everything, or at which the instance began; none if that is unknown", ""),
    ],
    kind: |_| Some(Type::record([("dirty", Type::Boolean), ("base", Type::Text.or_none())])),
    value: Lookup::Fields(|names, key| match key {
        "dirty" => Some(names.look(&Source::Dirty)),
        "base" => Some(names.look(&Source::Base)),
        _ => None,
    }),
};
