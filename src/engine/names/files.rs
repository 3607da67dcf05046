//! `files`: the sets of files.

use super::built_in::{BuiltIn, Lookup};
use super::types::{ChartNames, words};
use crate::engine::world::Source;
use crate::expr::types::Type;
use crate::files::pattern::{HoleKind, Pattern};

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("files.NAME", "the files of the set NAME, sorted by name", ""),
        ("files.NAME[].name", "the file's path from the instance's directory", ""),
        ("files.NAME[].path", "its path from the project's root", ""),
        ("files.NAME[].HOLE", "what the hole of the pattern matched", ""),
        ("files.NAME[].lines", "the lines that match, as records of the holes of `line`", "sets with `line`"),
    ],
    kind: |names| Some(kind(names, false)),
    value: Lookup::Fields(|names, key| {
        let is_known = names.chart.files.contains_key(key);
        is_known.then(|| names.look(&Source::Files(key.to_owned())))
    }),
};

/// Returns the type of `files`; those of other instances have no sets with subfolders.
pub(super) fn kind(names: &ChartNames<'_>, of_siblings: bool) -> Type {
    let sets = names.chart.files.iter();
    let sets = sets.filter(|(_, set)| !(of_siblings && set.is_nested()));
    Type::record(sets.map(|(name, set)| {
        let fixed = ["name", "path"].map(|field| (field, Type::Text));
        // Only the holes that every pattern has exist for every file.
        let has = |pattern: &Pattern, hole: &str| pattern.holes().any(|(own, _)| own == hole);
        let holes = set.with.first().into_iter().flat_map(Pattern::holes);
        let holes = holes.filter(|(hole, _)| set.with.iter().all(|other| has(other, hole)));
        let holes = holes.map(|(hole, kind)| match kind {
            HoleKind::Text | HoleKind::Slug => (hole, Type::Text),
            HoleKind::Integer => (hole, Type::Integer),
            HoleKind::OneOf(known) => (hole, words(known)),
        });
        let lines = set.line.iter().map(|line| {
            let holes = line.holes().map(|(hole, _)| (hole, Type::Text));
            ("lines", Type::list(Type::record(holes)))
        });
        let fields = fixed.into_iter().chain(holes).chain(lines);
        (name.clone(), Type::list(Type::record(fields)))
    }))
}
