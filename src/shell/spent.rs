//! The reviews of an instance, from the journal of this machine.

use std::path::Path;

use super::lines;
use crate::engine::spent::Run;

/// Returns the runs of an instance, oldest first. `name` is what its journal is called.
pub(super) fn runs(home: &Path, name: &str, instance: &str) -> Vec<Run> {
    let text = lines::read(home, name, lines::JOURNAL);
    // A decision has no file.
    let runs = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Run>(line).ok());
    runs.filter(|run| run.instance == instance).collect()
}
