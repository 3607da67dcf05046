//! What a review sees, as numbers: the files that it is about, what the user has ruled, and the work tree.
//!
//! If a number is the same later, nothing has changed in between. The journal keeps them, so every version of this program
//! computes the same ones.

use std::path::Path;

use crate::chart::{Chart, Table};
use crate::disk;
use crate::engine::file_values;
use crate::hash::IndexMap;
use crate::hash::{self, Hash};
use crate::project::change::Trees;
use crate::project::ledger::rulings;
use crate::store::journal::Code;

/// What a review sees.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// `None` if it is unknown: without git, nobody knows what has changed in the code.
    pub(crate) all: Option<u64>,
    /// A number for the content of each file that it reads.
    pub(crate) subject: IndexMap<String, u64>,
    /// The code, if it is about that.
    pub(crate) code: Option<Code>,
}

/// Returns what a review of the files in `names` sees.
pub(crate) fn seen(
    chart: &Chart,
    (root, trees): (&Path, &Trees),
    dir: &Path,
    names: &[String],
) -> Seen {
    let mut hash = Hash::default();
    let mut subject = IndexMap::default();
    let mut is_known = true;
    for name in names {
        let text = disk::read(root, &dir.join(name));
        is_known &= text.is_ok();
        let text = text.ok().flatten();
        hash.add(name);
        hash.add([u8::from(text.is_some())]);
        if let Some(text) = text {
            hash.add(&text);
            subject.insert(name.clone(), content(chart, name, &text));
        }
    }
    hash.add(rulings(root, dir).join("\n"));
    let tree = trees.read();
    is_known &= tree.map(|tree| hash.add(&tree.id)).is_ok();
    Seen { all: is_known.then(|| hash.number()), subject, code: None }
}

/// Returns the files that a review has read and that have changed since.
pub(crate) fn changed(
    chart: &Chart,
    root: &Path,
    dir: &Path,
    subject: &IndexMap<String, u64>,
) -> Vec<String> {
    let now = |name: &str| {
        let text = disk::read(root, &dir.join(name)).ok()??;
        Some(content(chart, name, &text))
    };
    let changed = subject.iter().filter(|(name, number)| now(name) != Some(**number));
    changed.map(|(name, _)| name.clone()).collect()
}

/// Returns the tables in a file whose rows have a status.
fn with_status<'c>(chart: &'c Chart, name: &str) -> impl Iterator<Item = &'c Table> {
    let tables = chart.tables.values();
    tables.filter(move |table| table.has_status() && table.file.matches(name).is_some())
}

/// Returns a number for the content of a file.
fn content(chart: &Chart, name: &str, bytes: &[u8]) -> u64 {
    hash::number(lasting(chart, name, bytes))
}

/// Returns what of the content of a file counts. The status of a row does not: that changes when the work goes on.
fn lasting(chart: &Chart, name: &str, bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    for table in with_status(chart, name) {
        text = file_values::without_status(table, &text);
    }
    // Emphasis and the width of a column come and go with a status.
    text.retain(|char| !char.is_whitespace() && !"*_`~".contains(char));
    text
}
