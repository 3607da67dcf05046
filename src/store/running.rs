//! The note about the review that is running.
//!
//! It is a fact about this machine: git ignores it, no check of the instance's files sees it, and no decision depends
//! on it. A note that is lost or cannot be read counts as missing.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::lock::{self, ReviewLock};
use super::{Store, open_existing, path};
use crate::clock;
use crate::os::regular::open_to_write;
use crate::process::spec::Cancel;

/// The file that describes the running review.
const RUNNING: &str = "running";

/// The file that asks for the end of the running review.
const CANCEL: &str = "cancel";

/// Why a review has failed that the user has cancelled.
pub(crate) const CANCELLED: &str = "it was cancelled";

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
    /// Its reviewer is about to be started, or was.
    #[serde(default)]
    pub(crate) is_started: bool,
    /// The gate that is running before it; the time, the limit and the log are then the gate's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<String>,
}

impl Running {
    /// Reads the note about the running review. The note of a review that was killed doesn't count: its lock is
    /// released, unless the reviewer itself is still alive.
    pub(crate) fn read(store: &Store, instance: &str, dir: &Path) -> Option<Self> {
        let running = note(store, instance)?;
        ReviewLock::is_held(store, instance, dir).then_some(running)
    }

    /// Returns it in words: `code-review 1 by opus, since 2026-01-31 12:00:00 UTC`.
    pub(crate) fn in_words(&self) -> String {
        let by = self.by.as_deref();
        let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
        let since = clock::in_utc(self.started);
        format!("{} {}{by}, since {since}", self.cycle, self.n)
    }

    /// Returns how long it has been running.
    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_secs(clock::now().saturating_sub(self.started))
    }
}

/// Returns the note about a review whose hook was killed before it could remove it, and removes it. The caller holds the
/// review lock.
pub(crate) fn take_left(store: &Store, instance: &str) -> Option<Running> {
    let running = note(store, instance);
    for folder in store.folders() {
        let _ = fs::remove_file(path(folder, instance, RUNNING));
    }
    running
}

/// Returns whether there is a note about a review, running or killed.
pub(crate) fn has_note(store: &Store, instance: &str) -> bool {
    let mut notes = store.folders().map(|folder| path(folder, instance, RUNNING));
    notes.any(|note| note.exists())
}

/// Returns the newest note about a review.
fn note(store: &Store, instance: &str) -> Option<Running> {
    let notes = store.folders().filter_map(|folder| {
        let (file, _) = open_existing(folder, instance, RUNNING).ok()?;
        serde_json::from_reader(file.take(MAX_NOTE)).ok()
    });
    notes.max_by_key(|running: &Running| running.started)
}

/// Asks the process that runs a review of the instance to end it; an error if there is nobody.
pub(crate) fn cancel(store: &Store, instance: &str, dir: &Path) -> io::Result<()> {
    if !ReviewLock::is_held(store, instance, dir) {
        return Err(io::Error::other("no review is running"));
    }
    if !has_note(store, instance) {
        let why = "it has begun under another name of its folder: rename that back first";
        return Err(io::Error::other(why));
    }
    lock::open(&store.home, instance, CANCEL).map(drop)
}

/// Returns the file whose presence ends the running review of an instance. It is beside the instance, where everyone can
/// write it.
pub(crate) fn cancel_file(store: &Store, instance: &str) -> Cancel {
    Cancel(path(&store.beside, instance, CANCEL))
}

/// A note about a running review, which exists as long as this value. Made while the review lock is held.
#[derive(Debug)]
pub(crate) struct Note {
    file: File,
    path: PathBuf,
    /// What may ask for the end of the review.
    cancel: PathBuf,
}

impl Note {
    /// Writes the note. Without it, the review is not shown, but nothing else changes.
    pub(crate) fn leave(store: &Store, instance: &str, running: &Running) -> io::Result<Self> {
        let cancel = path(&store.beside, instance, CANCEL);
        // What was asked of an earlier review.
        let _ = fs::remove_file(&cancel);
        store.write(|folder| {
            let path = path(folder, instance, RUNNING);
            let (file, _) = open_to_write(&path)?;
            let note = Self { file, path, cancel: cancel.clone() };
            note.say(running)?;
            Ok(note)
        })
    }

    /// Replaces the text of the note.
    pub(crate) fn say(&self, running: &Running) -> io::Result<()> {
        let text = serde_json::to_vec(running)?;
        self.file.set_len(0)?;
        self.file.write_all_at(&text, 0)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // A note that stays is not trusted without the lock.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.cancel);
    }
}
