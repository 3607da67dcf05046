//! `spent`: what reviews cost, and which budget is used up.

use super::built_in::{BuiltIn, Lookup};
use crate::chart::model::Limited;
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("spent.cycle", "what the reviews of the running cycle cost so far; none without a budget", ""),
        ("spent.instance", "what all reviews of the instance cost: `$3.20`, or `$3.20 + 1 unknown`; none without a budget", ""),
        ("spent.failures", "how many of the last reviews of the running cycle have failed in a row, the one that has just run included; 0 without a budget", ""),
        ("spent.over", "the budget that is used up: `failures`, `cycle` or `instance`; none if none is", ""),
        ("spent.next", "the same for the review after the one that has just run", ""),
        ("spent.why", "why the last of these reviews failed; empty if none has", ""),
    ],
    kind: |_| {
        Some(Type::record([
            ("cycle", Type::Text.or_none()),
            ("instance", Type::Text.or_none()),
            ("failures", Type::Integer),
            ("over", Type::word(Limited::ALL.map(Limited::key)).or_none()),
            ("next", Type::word(Limited::ALL.map(Limited::key)).or_none()),
            ("why", Type::Text),
        ]))
    },
    value: Lookup::One(|names| {
        let cycle = names.running();
        let files = cycle.and_then(|cycle| names.review_files(cycle).ok());
        names.look(&Source::Spent {
            cycle: cycle.map(|cycle| cycle.id.clone()),
            files: files.unwrap_or_default(),
            count: cycle.map_or(0, |cycle| names.count(cycle)),
        })
    }),
};
