//! `touched`: what the actions of a rule change.

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup};
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("touched", "the paths that the actions of this rule create, rename or remove, in order", "texts of a rule with `actions`"),
    ],
    kind: |_| Some(Type::list(Type::Text)),
    value: Lookup::One(|names| Ok(Value::from(names.moving().touched.clone()))),
};
