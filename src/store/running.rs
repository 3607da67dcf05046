//! The note about the review that is running, next to the locks.
//!
//! It is a fact about this machine: git ignores it, no check of the instance's files sees it, and no decision depends
//! on it. A note that is lost or cannot be read counts as missing.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::lock::{self, ReviewLock};
use crate::files::clock;
use crate::os::file::write_at;

/// The file that describes the running review.
const RUNNING: &str = "running";

/// The most bytes of a note that are read.
const MAX_NOTE: u64 = 64 * 1024;

/// The review that is running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) cycle: String,
    pub(crate) n: i64,
    /// The file that it must write, in the instance's directory.
    pub(crate) file: String,
    /// The reviewer, as named by the chart.
    pub(crate) by: Option<String>,
    /// When it began, in seconds since 1970.
    pub(crate) started: u64,
    /// Its time limit in seconds.
    pub(crate) timeout: u64,
    /// The file of its log, below the instance's directory.
    #[serde(default)]
    pub(crate) log: String,
    /// The gate that is running before it; the time, the limit and the log are then the gate's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<String>,
}

impl Running {
    /// Reads the note about the running review. The note of a review that was killed doesn't count: its lock is
    /// released, unless the reviewer itself is still alive.
    pub(crate) fn read(home: &Path, instance: &str, dir: &Path) -> Option<Self> {
        let (file, _) = lock::open_existing(home, instance, RUNNING).ok()?;
        let running = serde_json::from_reader(file.take(MAX_NOTE)).ok()?;
        ReviewLock::is_held(home, instance, dir).then_some(running)
    }

    /// Returns how long it has been running.
    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_secs(clock::now().saturating_sub(self.started))
    }
}

/// A note about a running review, which exists as long as this value. Made while the review lock is held.
#[derive(Debug)]
pub(crate) struct Note {
    file: File,
    path: PathBuf,
}

impl Note {
    /// Writes the note. Without it, the review is not shown, but nothing else changes.
    pub(crate) fn leave(home: &Path, instance: &str, running: &Running) -> io::Result<Self> {
        let note = Self {
            file: lock::open(home, instance, RUNNING)?,
            path: lock::path(home, instance, RUNNING),
        };
        note.say(running)?;
        Ok(note)
    }

    /// Replaces the text of the note.
    pub(crate) fn say(&self, running: &Running) -> io::Result<()> {
        let text = serde_json::to_vec(running)?;
        self.file.set_len(0)?;
        write_at(&self.file, &text, 0)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // A note that stays is not trusted without the lock.
        let _ = fs::remove_file(&self.path);
    }
}
