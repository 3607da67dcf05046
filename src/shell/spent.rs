//! What the reviews of an instance cost, from the journal of this machine.

use std::path::Path;

use serde::Deserialize;

use super::lines;
use crate::files::finding::Found;

/// The part of a review's line that decisions depend on.
#[derive(Debug, Deserialize)]
pub(super) struct Run {
    pub(super) instance: String,
    pub(super) cycle: String,
    pub(super) n: i64,
    pub(super) file: String,
    /// In millionths of a dollar, if the reviewer said so.
    pub(super) cost: Option<u64>,
    pub(super) verdict: Option<String>,
    pub(super) error: Option<String>,
    /// What it saw.
    #[serde(default)]
    pub(super) seen: Option<u64>,
    /// What it found.
    #[serde(flatten)]
    pub(super) found: Found,
}

/// Returns the runs of an instance, oldest first. `name` is what its journal is called.
pub(super) fn runs(home: &Path, name: &str, instance: &str) -> Vec<Run> {
    let text = lines::read(home, name, lines::JOURNAL);
    // A decision has no file.
    let runs = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Run>(line).ok());
    runs.filter(|run| run.instance == instance).collect()
}

/// A sum of costs, of which some may be unknown.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Sum {
    /// In millionths of a dollar.
    pub(super) known: u64,
    pub(super) unknown: usize,
    runs: usize,
}

impl Sum {
    pub(super) fn of<'r>(runs: impl Iterator<Item = &'r Run>) -> Self {
        let mut sum = Self::default();
        for run in runs {
            sum.runs += 1;
            sum.known = sum.known.saturating_add(run.cost.unwrap_or(0));
            sum.unknown += usize::from(run.cost.is_none());
        }
        sum
    }

    /// Returns it as a person reads it.
    pub(super) fn price(self) -> String {
        match self.runs {
            0 => crate::page::dollars(0),
            runs => crate::page::price(self.known, self.unknown, runs),
        }
    }
}

/// Returns the runs of the running cycle, newest first: those for its review files since it started over. `key` gives a run's
/// cycle, number and file; `files` is the name of the cycle's files with `{n}` for the number, and `count` is how many of
/// its reviews count.
pub(crate) fn of_cycle<'r, R>(
    runs: &'r [R],
    key: impl Fn(&R) -> (&str, i64, &str),
    cycle: &str,
    files: &str,
    count: i64,
) -> Vec<&'r R> {
    let mut last = count.saturating_add(1);
    let runs = runs.iter().rev().filter(|run| key(run).0 == cycle);
    runs.take_while(|run| {
        let (_, n, file) = key(run);
        let is_of_it = n <= last && file == files.replace("{n}", &n.to_string());
        last = n;
        is_of_it
    })
    .collect()
}
