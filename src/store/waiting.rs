//! A review that runs in the background for callers that ask for it again and again, because none of their calls may take as long
//! as the review: who keeps it running, when somebody has last waited for it, and its answer for each of them.

use std::fs::File;
use std::io;
use std::time::{Duration, SystemTime};

use super::facts::{Fact, WaitedAnswer};
use super::journal::Journal;
use super::lock::{ReviewLock, is_locked, open, try_lock};
use super::open_existing;
use crate::clock;

/// The file that the process that keeps the review running has locked. It was modified when somebody has last waited.
const KEPT: &str = "kept";

/// If nobody has waited for this long, nobody wants the review.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

impl WaitedAnswer {
    /// Returns whether something has changed since the review ended, if `seen` is there now.
    pub(crate) fn is_of_other(&self, seen: Option<u64>) -> bool {
        self.seen.is_some() && seen.is_some() && self.seen != seen
    }
}

/// The review of one instance that somebody waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting<'j>(&'j Journal);

impl<'j> Waiting<'j> {
    pub(crate) fn of(journal: &'j Journal) -> Self {
        Self(journal)
    }

    fn file(self) -> io::Result<File> {
        open(&self.0.store.home, &self.0.instance, KEPT)
    }

    /// Notes that somebody waits now.
    pub(crate) fn wait(self) -> io::Result<()> {
        self.file()?.set_modified(SystemTime::now())
    }

    /// Returns whether nobody has waited for too long.
    pub(crate) fn is_abandoned(self) -> bool {
        let waited = self.file().and_then(|file| file.metadata()?.modified());
        // A clock that was set back says nothing.
        waited.is_ok_and(|at| at.elapsed().is_ok_and(|since| since > PATIENCE))
    }

    /// Returns the right to keep the review running; `None` while another process has it.
    pub(crate) fn keep(self) -> io::Result<Option<ReviewLock>> {
        try_lock(self.file()?)
    }

    /// Returns whether a process keeps the review running.
    pub(crate) fn is_kept(self) -> bool {
        let file = open_existing(&self.0.store.beside, &self.0.instance, KEPT);
        is_locked(file.map(|(file, _)| file))
    }

    /// Returns the answer to a call that waits since that time. An earlier one counts if nobody has it yet, or if `seen` is there now and nothing has
    /// changed since.
    pub(crate) fn answer(self, since: Duration, seen: Option<u64>) -> Option<WaitedAnswer> {
        let answer = self.0.facts().waited?;
        let is_young = clock::since_1970().saturating_sub(answer.at) < PATIENCE;
        let is_same = answer.seen.is_some() && answer.seen == seen;
        let counts = answer.at >= since || is_same || !answer.is_given && is_young;
        counts.then_some(answer)
    }

    /// Leaves the answer for all who wait, and those who come back for it; `None` if there is none.
    pub(crate) fn leave(self, answer: Option<WaitedAnswer>) -> io::Result<()> {
        self.0.note(Fact::Waited { answer })
    }
}
