//! Until when reviewers cannot run: a usage limit is reached, or their service is down. And when the user last asked for
//! another try.
//!
//! A limit belongs to a person's account with one vendor, not to one plan. So the journal of the home has them.

use std::io;

use super::Store;
use super::facts::Fact;
use super::journal::{self, Journal};
use crate::clock;
use crate::reviewer::output::PAUSE;

/// Records it.
pub(crate) fn write(store: &Store, by: &str, until: u64) -> io::Result<()> {
    Journal::of_home(store).note(Fact::Postponed { by: by.to_owned(), until: Some(until) })
}

/// Returns it; `None` if a reviewer of this name can run.
pub(crate) fn read(store: &Store, by: &str) -> Option<u64> {
    let until = *Journal::of_home(store).facts().postponed.get(by)?;
    // A clock that was ahead is no reason to wait.
    let left = until.saturating_sub(clock::now());
    (1..=PAUSE).contains(&left).then_some(until)
}

/// Lets the next stop try again.
pub(crate) fn lift(journal: &Journal) -> io::Result<()> {
    let home = Journal::of_home(&journal.store);
    for by in home.facts().postponed.keys().cloned() {
        home.note(Fact::Postponed { by, until: None })?;
    }
    forgive(journal)
}

/// From now on, no review of an instance that has failed so far counts.
pub(crate) fn forgive(journal: &Journal) -> io::Result<()> {
    journal.note(Fact::Retried { since: journal::now() })
}
