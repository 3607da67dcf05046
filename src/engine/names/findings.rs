//! `findings`: what reviews have found.

use std::sync::Arc;

use super::Names;
use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;
use crate::host::vendors::SEVERITIES;
use crate::reviewer::finding;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("findings[].id", "the name of a finding of a review: `plan-review-2.1`", ""),
        ("findings[].last", "its review is the last one of a cycle that is running or paused", ""),
        ("findings[].severity", "its severity", ""),
        ("findings[].state", "`open`, what the answer to the review says, or what the user has ruled", ""),
        ("findings[].again", "the review before found the same", ""),
        ("findings[].text", "all of it in one line: `plan-review-2.1 (major, src/a.rs:12): TITLE`", ""),
    ],
    kind: |_| Some(kind()),
    value: Lookup::One(|names| names.look(&all(names, false))),
};

/// Returns the type of the findings of all reviews.
pub(super) fn kind() -> Type {
    Type::list(Type::record([
        ("id", Type::Text),
        ("last", Type::Boolean),
        ("severity", Type::word(SEVERITIES)),
        ("state", Type::word(finding::states())),
        ("again", Type::Boolean),
        ("text", Type::Text),
    ]))
}

/// Returns the question what reviews found, or only those of the cycle that is not over.
pub(super) fn all(names: &Arc<Names>, is_of_cycle: bool) -> Source {
    let cycle = names.unfinished();
    Source::Findings {
        files: cycle.and_then(|cycle| names.review_files(cycle).ok()),
        count: cycle.map_or(0, |cycle| names.count(cycle)),
        is_of_cycle,
    }
}
