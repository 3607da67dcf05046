//! `invoke`: the processes that the chart can run.

use super::built_in::{BuiltIn, Lookup};
use super::types::words;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("invoke", "the names of the tables under `[invoke]`", ""),
    ],
    kind: |names| Some(Type::list(words(names.chart.invoke.keys()))),
    value: Lookup::One(|names| Ok(names.chart.invoke.keys().cloned().collect())),
};
