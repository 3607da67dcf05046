//! What the user has ruled about findings: a file of the instance, one line each.

use std::path::Path;

use super::file;
use crate::chart::Chart;
use crate::text::plain_line;

/// The most characters of a line.
const LENGTH: usize = 2_000;

/// Returns the rulings, one line each.
pub(super) fn rulings(chart: &Chart, root: &Path, dir: &Path) -> Vec<String> {
    let Some(name) = &chart.findings.file else {
        return Vec::new();
    };
    let text = file::read(root, &dir.join(name), file::LIMIT)
        .ok()
        .flatten();
    let text = text.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // Anyone may have edited the file.
    let lines = text.lines().map(|line| plain_line(line, LENGTH));
    lines.filter(|line| !line.is_empty()).collect()
}
