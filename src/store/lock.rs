//! The locks of one instance. The operating system keeps them, so it releases them if a process crashes.
//!
//! The write lock covers one read-decide-write of `state.json` and is held for milliseconds. Its file is in `.locks`
//! in the chart's home, which git ignores: a process in a sandbox can take it too. The review lock is held for a whole
//! run, in which the reviewer may remove everything that git ignores: it is a lock on the instance's directory itself, or, on
//! a file system that cannot lock one, on a file in `.locks`.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Store, make_folder, open_existing, path};
use crate::os::file::is_at;
use crate::os::regular::open_to_write;

/// The file of the review lock.
const REVIEW: &str = "review";

/// How long to retry if the review lock is taken: a process that only checks it holds it for microseconds.
const LOOK: Duration = Duration::from_millis(20);

/// How long to wait for the write lock; nobody holds it that long unless stopped in the middle.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// The right to read and write one instance's state.
#[derive(Debug)]
pub(crate) struct WriteLock {
    _file: File,
}

/// The right to run a review of one instance.
#[derive(Debug)]
pub(crate) struct ReviewLock {
    file: File,
}

impl WriteLock {
    /// Waits for the lock; the error names its file.
    pub(crate) fn acquire(store: &Store, instance: &str) -> io::Result<Self> {
        let path = path(&store.beside, instance, "state");
        let start = Instant::now();
        loop {
            let file = open(store, instance, "state")?;
            let left = PATIENCE.saturating_sub(start.elapsed());
            // If someone has removed the file in the meantime, there are two locks with one name: the new one counts.
            if within(left, || file.try_lock())? && is_at(&file, &path) {
                return Ok(Self { _file: file });
            }
            if start.elapsed() >= PATIENCE {
                let why = format!(
                    "another taskie has been writing the state of `{instance}` for over {} seconds",
                    PATIENCE.as_secs()
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
        }
    }
}

impl ReviewLock {
    /// Returns the locked file: a process that inherits it holds the lock too. So if a hook is killed, nobody starts
    /// a second reviewer before its reviewer is gone.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the lock of the instance in `dir`, or `None` while someone else holds it.
    pub(crate) fn try_acquire(
        store: &Store,
        instance: &str,
        dir: &Path,
    ) -> io::Result<Option<Self>> {
        // Not every file system can lock a directory.
        let lock = |file: io::Result<File>| file.and_then(try_lock);
        lock(File::open(dir)).or_else(|_| lock(open(store, instance, REVIEW)))
    }

    /// Returns whether someone holds the lock. Creates nothing, and two processes that check at the same time don't
    /// disturb each other.
    pub(crate) fn is_held(store: &Store, instance: &str, dir: &Path) -> bool {
        let file = || open_existing(&store.beside, instance, REVIEW).map(|(file, _)| file);
        is_locked(File::open(dir)) || is_locked(file())
    }
}

/// Returns whether a file is locked.
pub(crate) fn is_locked(file: io::Result<File>) -> bool {
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Returns the lock of a file, or `None` while someone else holds it.
pub(crate) fn try_lock(file: File) -> io::Result<Option<ReviewLock>> {
    let is_locked = within(LOOK, || file.try_lock())?;
    Ok(is_locked.then_some(ReviewLock { file }))
}

/// Tries to lock until that succeeds, or until `patience` is over; returns whether it has.
fn within(patience: Duration, lock: impl Fn() -> Result<(), TryLockError>) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        match lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if start.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Opens the file that a process has locked which answers those who wait. It was modified when somebody has last waited.
pub(crate) fn waited(store: &Store, instance: &str) -> io::Result<File> {
    open(store, instance, "waited")
}

/// Opens a file of the lock folder for reading and writing; creates it if necessary.
pub(super) fn open(store: &Store, instance: &str, kind: &str) -> io::Result<File> {
    let path = path(&store.beside, instance, kind);
    make_folder(&store.beside)
        .and_then(|()| open_to_write(&path))
        .map(|(file, _)| file)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_refused_in_the_end() {
        let project = tempfile::tempdir().unwrap();
        let store = Store::of(project.path(), "home");
        let held = WriteLock::acquire(&store, "a").unwrap();
        let refused = WriteLock::acquire(&store, "a").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        drop(held);
        WriteLock::acquire(&store, "a").unwrap();
    }
}
