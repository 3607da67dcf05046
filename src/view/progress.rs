//! How much of an instance is done, according to the tables with finished rows.

use std::sync::Arc;

use serde::Serialize;

use crate::chart::Chart;
use crate::engine::world::{Source, World};
use crate::hash::IndexMap;

/// The rows of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Progress {
    pub(crate) done: usize,
    pub(crate) all: usize,
}

/// Returns the progress of each table with a `finished` list, by the table's name in the chart. A table whose file depends on
/// the state is about only one part of the work and is skipped.
pub(crate) fn progress(chart: &Chart, world: &Arc<dyn World>) -> IndexMap<String, Progress> {
    let tables = chart.tables.iter();
    let counted =
        tables.filter(|(_, table)| table.has_status() && table.file.holes().next().is_none());
    let counted = counted.filter_map(|(name, _)| {
        let table = world.look(&Source::Table(name.clone())).ok()?;
        let count = |rows: &str| table.get_attr(rows).ok()?.len();
        let (all, open) = (count("rows")?, count("open")?);
        let done = all.saturating_sub(open);
        (all > 0).then(|| (name.clone(), Progress { done, all }))
    });
    counted.collect()
}

/// Returns the progress in words, one for each table.
pub(super) fn in_words(progress: &IndexMap<String, Progress>) -> Vec<String> {
    let parts = progress.iter().map(|(name, part)| {
        let name = name.replace('_', " ");
        format!("{} of {} {name} done", part.done, part.all)
    });
    parts.collect()
}
