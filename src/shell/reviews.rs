//! What is known of an instance's reviews beside `state.json`: the one that runs now, and how those that ended went.
//!
//! Both are notes of this machine, beside the locks: git ignores them, no check of the instance's files sees them,
//! and nothing is decided on them. A note that is lost or cannot be read is one that nobody has left.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::lock::{self, ReviewLock};
use super::record;

/// The file that describes the running review.
const RUNNING: &str = "running";

/// The file with a line for each review that ended.
const JOURNAL: &str = "journal";

/// More of a note is not read.
const MAX_NOTE: u64 = 64 * 1024;

/// More of a journal is not read: its last lines count.
const MAX_JOURNAL: u64 = 4 * 1024 * 1024;

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
}

/// A review that ran to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) cycle: String,
    pub(crate) n: i64,
    /// The file it wrote, below the instance's directory.
    pub(crate) file: String,
    /// How many bytes it wrote: a file of another size is not the one that it was about.
    pub(crate) bytes: u64,
    /// The verdict, where it gave one.
    pub(crate) verdict: Option<String>,
    pub(crate) by: Option<String>,
    /// When it began, in seconds since 1970.
    pub(crate) started: u64,
    /// How many seconds it took.
    pub(crate) seconds: u64,
}

impl Running {
    /// The review that runs, according to its note. The note of one that was killed counts no more: its lock is
    /// released, unless the reviewer itself lives on.
    pub(crate) fn read(home: &Path, instance: &str, dir: &Path) -> Option<Self> {
        let text = tail(home, instance, RUNNING, MAX_NOTE)?;
        let running = serde_json::from_str(&text).ok()?;
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

/// The first line of a journal: which file it is. One that came with the project is another.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    inode: u64,
}

/// Adds a review that ended. The caller holds the review lock, so that lines do not mix.
pub(super) fn append(home: &Path, instance: &str, entry: &Entry) -> io::Result<()> {
    let mut file = lock::open(home, instance, JOURNAL)?;
    let mut text = Vec::new();
    if is_believed(&file) {
        // Whoever was killed in mid-line has left half of one: the next begins its own.
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            text.push(b'\n');
        }
    } else {
        file.set_len(0)?;
        file.rewind()?;
        let inode = file.metadata()?.ino();
        serde_json::to_writer(&mut text, &Head { inode })?;
        text.push(b'\n');
    }
    serde_json::to_writer(&mut text, entry)?;
    text.push(b'\n');
    file.write_all(&text)
}

/// The reviews that ended, oldest first.
pub(crate) fn journal(home: &Path, instance: &str) -> Vec<Entry> {
    let is_ours = lock::open_existing(home, instance, JOURNAL).is_ok_and(|file| is_believed(&file));
    let text = match is_ours {
        true => tail(home, instance, JOURNAL, MAX_JOURNAL).unwrap_or_default(),
        false => String::new(),
    };
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// True where the journal begins with its own file's number.
fn is_believed(file: &File) -> bool {
    let mut start = [0; 64];
    let Ok(length) = file.read_at(&mut start, 0) else {
        return false;
    };
    let line = start[..length].split(|byte| *byte == b'\n').next();
    let head = line.and_then(|line| serde_json::from_slice::<Head>(line).ok());
    head.is_some_and(|head| record::is_made_here(file, head.inode))
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    record::now().as_secs()
}

/// The end of a file of the lock folder.
fn tail(home: &Path, instance: &str, kind: &str, most: u64) -> Option<String> {
    let mut file = lock::open_existing(home, instance, kind).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
