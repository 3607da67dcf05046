//! `checks`: what the checks of files find.

use std::sync::Arc;

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup};
use super::types::each;
use super::{Looked, Names};
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("checks.NAME", "the findings of `[[checks.NAME]]`, in order", ""),
    ],
    kind: |names| Some(each(names.chart.checks.keys(), &Type::list(Type::Text))),
    value: Lookup::Fields(value),
};

fn value(names: &Arc<Names>, name: &str) -> Looked {
    let checks = names.chart.checks.get(name)?;
    Some(
        names.remembered(&format!("checks.{name}"), || {
            names.find_all(name, checks).map(Value::from)
        }),
    )
}
