//! What a review sees, as a number: the files that it is about, what the user has ruled, and the work tree.
//!
//! If the number is the same later, nothing has changed in between. Another version of this program may compute a
//! different one.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use indexmap::IndexMap;

use super::ledger::rulings;
use super::{file, git};
use crate::chart::Chart;
use crate::engine::records;

/// Returns a number for the content of each file that a review reads.
pub(super) fn subject(
    chart: &Chart,
    root: &Path,
    dir: &Path,
    names: &[String],
) -> IndexMap<String, u64> {
    let numbered = |name: &String| Some((name.clone(), content(chart, root, dir, name)?));
    names.iter().filter_map(numbered).collect()
}

/// Returns the files that a review has read and that have changed since.
pub(crate) fn changed(
    chart: &Chart,
    root: &Path,
    dir: &Path,
    subject: &IndexMap<String, u64>,
) -> Vec<String> {
    let changed = subject
        .iter()
        .filter(|(name, number)| content(chart, root, dir, name) != Some(**number));
    changed.map(|(name, _)| name.clone()).collect()
}

/// Returns a number for the content of a file. The status of a row does not count: that changes when the work goes on.
fn content(chart: &Chart, root: &Path, dir: &Path, name: &str) -> Option<u64> {
    let bytes = file::read(root, &dir.join(name), file::LIMIT).ok()??;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    let tables = chart.tables.values();
    for table in tables.filter(|table| !table.finished.is_empty()) {
        if table.file.matches(name).is_none() {
            continue;
        }
        let rows = records::content(table, Some(&bytes)).rows;
        let fields = rows.into_iter().flat_map(|row| row.fields);
        let statuses = fields.filter(|(field, status)| field == "status" && !status.is_empty());
        // Rows share their statuses, and there can be many rows.
        let statuses: BTreeSet<String> = statuses.map(|(_, status)| status).collect();
        for status in &statuses {
            text = text.replace(status, "");
        }
    }
    // Emphasis and the width of a column come and go with a status.
    text.retain(|char| !char.is_whitespace() && !"*_`~".contains(char));
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    Some(hasher.finish())
}

/// Returns the number; `None` if it is unknown: without git, nobody knows what has changed in the code.
pub(super) fn seen(chart: &Chart, root: &Path, dir: &Path, subject: &[String]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    for name in subject {
        let text = file::read(root, &dir.join(name), file::LIMIT).ok()?;
        (name, text).hash(&mut hasher);
    }
    rulings(chart, root, dir).hash(&mut hasher);
    git::hash_tree(root, &chart.scope.home, &mut hasher)?;
    Some(hasher.finish())
}
