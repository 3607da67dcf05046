//! A review that runs in the background for whoever asks for it again and again, because none of their calls may take as long
//! as the review: who keeps it running, when somebody has last waited for it, and its answer until somebody takes it.

use std::fs::{File, TryLockError};
use std::io;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::lock::{ReviewLock, open, try_lock};
use super::{Store, record};
use crate::clock;

/// The file that whoever keeps the review running has locked. It was modified when somebody has last waited.
const KEPT: &str = "kept";

/// The kind of record with the answer.
const ANSWER: &str = "answer";

/// What is left of a review that nobody waits for anymore.
pub(super) const KINDS: [&str; 2] = [KEPT, ANSWER];

/// If nobody has waited for this long, nobody wants the review.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// An answer that nobody has taken for this long is not about what is there now: nobody waited for it.
const STALE: Duration = PATIENCE;

/// What the review has come to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) code: u8,
    pub(crate) text: String,
}

/// The review of one instance that somebody waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting<'s> {
    store: &'s Store,
    instance: &'s str,
}

impl<'s> Waiting<'s> {
    pub(crate) fn of(store: &'s Store, instance: &'s str) -> Self {
        Self { store, instance }
    }

    fn file(self) -> io::Result<File> {
        open(&self.store.home, self.instance, KEPT)
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
    pub(crate) fn is_kept(self) -> io::Result<bool> {
        match self.file()?.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Leaves the answer for whoever asks next.
    pub(crate) fn leave(self, answer: Answer) -> io::Result<()> {
        record::write_for_now(self.store, self.instance, ANSWER, answer)
    }

    /// Takes the answer, if there is one.
    pub(crate) fn take(self) -> Option<Answer> {
        let read = record::try_read(self.store, self.instance, ANSWER);
        let (at, answer) = read.ok().flatten()?;
        record::remove(self.store, self.instance, ANSWER);
        (clock::since_1970().saturating_sub(at) < STALE).then_some(answer)
    }
}
