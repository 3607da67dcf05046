//! What a review sees, as numbers: the files that it is about, what the user has ruled, and the work tree.
//!
//! If a number is the same later, nothing has changed in between. The journal keeps them, so every version of this program
//! computes the same ones.

use std::path::Path;

use crate::chart::Chart;
use crate::disk;
use crate::hash::IndexMap;
use crate::hash::{self, Hash};
use crate::project::change::Trees;
use crate::project::ledger::rulings;
use crate::store::journal::Code;

/// What a review sees.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// `None` if it is unknown: without git, changes of the code are not noticed.
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

/// Returns a number for the content of a file, without the rows that have a status: that changes when the work goes on.
fn content(chart: &Chart, name: &str, text: &[u8]) -> u64 {
    let tables = chart.tables.values();
    let tables = tables.filter(|table| table.has_status() && table.file.matches(name).is_some());
    let tables: Vec<_> = tables.collect();
    let text = String::from_utf8_lossy(text);
    let is_row = |line: &&str| tables.iter().any(|table| table.may_be_row(line));
    let lines: Vec<&str> = text.lines().filter(|line| !is_row(line)).collect();
    hash::number(lines.join("\n"))
}
