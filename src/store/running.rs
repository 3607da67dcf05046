//! The review that is running, and the wish that it ends.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::facts::{Fact, Running};
use super::journal::Journal;
use super::lock::{self, ReviewLock};
use super::path;

/// The file that asks for the end of the running review.
const CANCEL: &str = "cancel";

/// Why a review has failed that the user has cancelled.
pub(crate) const CANCELLED: &str = "it was cancelled";

/// Returns the review of the instance in `dir` that is running. One that was killed does not count: its lock is released, unless
/// the reviewer itself is still alive.
pub(crate) fn of(journal: &Journal, dir: &Path) -> Option<Running> {
    journal.look_again();
    let running = journal.facts().running.clone()?;
    ReviewLock::is_held(&journal.store, &journal.instance, dir).then_some(running)
}

/// Asks the process that runs a review of the instance in `dir` to end it; an error if there is nobody.
pub(crate) fn cancel(journal: &Journal, dir: &Path) -> io::Result<()> {
    if of(journal, dir).is_none() {
        return Err(io::Error::other("no review is running"));
    }
    lock::open(&journal.store, &journal.instance, CANCEL).map(drop)
}

/// Returns the file whose presence ends the running review of an instance. It is beside the instance, where everyone can
/// write it.
pub(crate) fn cancel_file(journal: &Journal) -> OsString {
    path(&journal.store.beside, &journal.instance, CANCEL).into()
}

/// Returns the file with what a program prints that is run for an instance. The log of one that has failed stays until the next one.
pub(crate) fn log_file(journal: &Journal) -> PathBuf {
    path(&journal.store.beside, &journal.instance, "log")
}

/// A review is running as long as this value exists: the journal says so. Made while the review lock is held.
#[derive(Debug)]
pub(crate) struct Begun<'j> {
    journal: &'j Journal,
    cancel: OsString,
}

impl<'j> Begun<'j> {
    /// Says that a review begins.
    pub(crate) fn say(journal: &'j Journal, running: &Running) -> io::Result<Self> {
        let cancel = cancel_file(journal);
        // What was asked of an earlier review.
        let _ = fs::remove_file(&cancel);
        let begun = Self { journal, cancel };
        begun.then(running)?;
        Ok(begun)
    }

    /// Says what runs next.
    pub(crate) fn then(&self, running: &Running) -> io::Result<()> {
        self.journal.note(Fact::Began { running: running.clone() })
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        // Without that line, it counts as killed once nobody holds the lock.
        let _ = self.journal.note(Fact::Over);
        let _ = fs::remove_file(&self.cancel);
    }
}
