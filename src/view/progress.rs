//! How much of an instance is done, according to the tables with finished rows.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::chart::Chart;
use crate::engine::world::{Source, World};

/// The rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The table's name in the chart.
    pub(crate) name: String,
    pub(crate) done: usize,
    pub(crate) all: usize,
}

/// Returns the progress of each table with a `finished` list. A table whose file depends on the state is about only
/// one part of the work and is skipped.
pub(crate) fn progress(chart: &Chart, world: &Arc<dyn World>) -> Vec<Progress> {
    let tables = chart.tables.iter();
    let counted = tables
        .filter(|(_, table)| !table.finished.is_empty() && table.file.holes().next().is_none());
    let counted = counted.filter_map(|(name, _)| {
        let table = world.look(&Source::Table(name.clone())).ok()?;
        let count = |rows: &str| table.get_attr(rows).ok()?.len();
        let (all, open) = (count("rows")?, count("open")?);
        (all > 0).then(|| Progress {
            name: name.clone(),
            done: all.saturating_sub(open),
            all,
        })
    });
    counted.collect()
}

/// Returns the progress as JSON, by table.
pub(crate) fn progress_json(parts: &[Progress]) -> Json {
    let parts = parts.iter();
    let parts = parts.map(|part| {
        (
            part.name.clone(),
            json!({ "done": part.done, "all": part.all }),
        )
    });
    Json::Object(parts.collect())
}
