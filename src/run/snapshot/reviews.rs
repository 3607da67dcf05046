//! The reviews that there were so far: what they found, and whether they lead anywhere.

use std::sync::Arc;
use std::time::SystemTime;

use minijinja::value::Value;

use super::Snapshot;
use crate::engine::spent::{PastReview, of_cycle};
use crate::host::vendors::PASS;
use crate::project::ledger;

impl Snapshot {
    /// Returns when the review with this file ended last, if this machine ran it.
    pub(super) fn ended(&self, file: &str) -> Option<SystemTime> {
        let runs = self.place.journal().runs();
        let mut of_file = runs.iter().rev().filter(|run| run.error.is_none());
        of_file.find(|run| run.file == file)?.ended()
    }

    /// Returns whether the last reviews of a cycle read exactly what is there now, and agree.
    pub(super) fn is_stalled(
        &self,
        of: (&str, &str, i64),
        subject: &[String],
        rounds: usize,
    ) -> bool {
        let mut runs = self.place.journal().runs();
        if self.has_run {
            runs.pop();
        }
        let of_cycle = of_cycle(&runs, of);
        // Only those that count: of each number the last one, which replaced what earlier ones wrote.
        let is_counted = |run: &&PastReview| run.error.is_none() && run.n <= of.2;
        let mut ran: Vec<&PastReview> = of_cycle.into_iter().filter(is_counted).collect();
        ran.dedup_by_key(|run| run.n);
        let last = &ran[..rounds.min(ran.len())];
        let has_passed = |run: &PastReview| run.verdict.as_deref() == Some(PASS);
        let is_complete = |newest: &&&PastReview| last.len() == rounds && newest.seen.is_some();
        last.first().filter(is_complete).is_some_and(|newest| {
            // Where they have all passed, the chart wants more than that, and the next one would not have it either.
            let is_same = |run: &&PastReview| {
                run.seen == newest.seen && has_passed(run) == has_passed(newest)
            };
            // Git is asked only where all of them saw the same.
            last.iter().all(is_same) && self.place.seen(subject).all == newest.seen
        })
    }

    /// Returns what the reviews have found, by the state on disk.
    pub(crate) fn ledger(self: &Arc<Self>) -> Vec<ledger::LedgerEntry> {
        let view = self.view();
        let standing = view.unfinished().map(|cycle| view.standing(cycle));
        let unfinished = standing.as_ref();
        self.ledger_of(
            unfinished.and_then(|standing| Some((standing.files.as_deref()?, standing.count))),
        )
    }

    /// Returns the same; `unfinished` is as in [`ledger::entries`].
    fn ledger_of(&self, unfinished: Option<(&str, i64)>) -> Vec<ledger::LedgerEntry> {
        ledger::entries(
            &self.place.chart,
            &self.place.root,
            &self.place.dir(),
            // The last run counts too: it has found what it has found.
            self.place.journal().runs(),
            unfinished,
        )
    }

    /// Returns the findings, or those of the cycle that is not over only, as records.
    pub(super) fn findings(&self, unfinished: Option<(&str, i64)>, is_of_cycle: bool) -> Value {
        let entries = self.ledger_of(unfinished).into_iter();
        let entries = entries.filter(|entry| !is_of_cycle || entry.is_of_cycle);
        entries
            .map(|entry| {
                let is_newest = unfinished.is_some_and(|(_, count)| entry.n == count);
                Value::from_pairs([
                    ("id", Value::from(entry.id.as_str())),
                    ("last", Value::from(entry.is_of_cycle && is_newest)),
                    ("severity", Value::from(entry.finding.severity.as_str())),
                    ("state", Value::from(entry.state.as_str())),
                    ("text", Value::from(entry.to_string())),
                ])
            })
            .collect()
    }
}
