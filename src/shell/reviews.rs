//! The review that runs now, as a note beside the locks.
//!
//! A note of this machine: git ignores it, no check of the instance's files sees it, and nothing is decided on it. One
//! that is lost or cannot be read is one that nobody has left.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::lock::{self, ReviewLock};
use super::record;

/// The file that describes the running review.
const RUNNING: &str = "running";

/// More of a note is not read.
const MAX_NOTE: u64 = 64 * 1024;

/// The review that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) cycle: String,
    pub(crate) n: i64,
    /// The file it is to write, below the instance's directory.
    pub(crate) file: String,
    /// Who does it, as the chart says.
    pub(crate) by: Option<String>,
    /// When it began, in seconds since 1970.
    pub(crate) started: u64,
    /// The seconds that it may take.
    pub(crate) timeout: u64,
    /// The file of its log, below the instance's directory.
    #[serde(default)]
    pub(crate) log: String,
}

impl Running {
    /// The review that runs, according to its note. The note of one that was killed counts no more: its lock is
    /// released, unless the reviewer itself lives on.
    pub(crate) fn read(home: &Path, instance: &str, dir: &Path) -> Option<Self> {
        let (file, _) = lock::open_existing(home, instance, RUNNING).ok()?;
        let running = serde_json::from_reader(file.take(MAX_NOTE)).ok()?;
        ReviewLock::is_held(home, instance, dir).then_some(running)
    }

    /// When it began.
    pub(super) fn started(&self) -> SystemTime {
        // A note may hold any number.
        let started = Duration::from_secs(self.started);
        UNIX_EPOCH.checked_add(started).unwrap_or(UNIX_EPOCH)
    }

    /// How long it has run.
    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_secs(now().saturating_sub(self.started))
    }
}

/// Tells others of a review that runs, as long as it is kept. Made while the review lock is held.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
}

impl Note {
    /// Leaves the note. Without one the review is not shown, and nothing else is different.
    pub(super) fn leave(home: &Path, instance: &str, running: &Running) -> io::Result<Self> {
        let text = serde_json::to_vec(running)?;
        let file = lock::open(home, instance, RUNNING)?;
        file.set_len(0)?;
        file.write_all_at(&text, 0)?;
        Ok(Self {
            path: lock::path(home, instance, RUNNING),
        })
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // One that stays is not believed without the lock.
        let _ = fs::remove_file(&self.path);
    }
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    record::now().as_secs()
}
