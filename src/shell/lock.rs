//! Locks of one instance, kept by the operating system and so released by a crash.
//!
//! They live in `.locks` below the chart's home, which git ignores, and not in the instance's directory.
//! The write lock covers one read-decide-write of `state.json` and is held for milliseconds; its file holds
//! the revision, a count of the phases entered and commands run. The review lock is held for a whole run. The notes
//! of [`super::reviews`] stand beside them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::files::regular::open_regular;

/// The folder of the lock files, below the chart's home.
const FOLDER: &str = ".locks";

/// The file of the review lock.
const REVIEW: &str = "review";

/// How long a review lock that is taken is asked for again: someone who only looks holds it for microseconds.
const LOOK: Duration = Duration::from_millis(20);

/// How long the write lock is waited for; nobody holds it that long unless stopped in the middle.
const PATIENCE: Duration = Duration::from_secs(10);

/// The right to read and write one instance's state.
#[derive(Debug)]
pub(crate) struct WriteLock {
    file: File,
}

/// The right to run a review of one instance.
#[derive(Debug)]
pub(crate) struct ReviewLock {
    file: File,
}

impl WriteLock {
    /// Waits for the lock; an error names its file.
    pub(crate) fn acquire(home: &Path, instance: &str) -> io::Result<Self> {
        let file = open(home, instance, "state")?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file }),
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        format!(
                            "another taskie has been writing the state of `{instance}` for over {} seconds",
                            PATIENCE.as_secs()
                        ),
                    ));
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// How many phases were entered and commands run so far.
    pub(crate) fn revision(&mut self) -> io::Result<u64> {
        let mut text = String::new();
        self.file.rewind()?;
        // A file that holds no number counts as a new one.
        let _ = self.file.read_to_string(&mut text);
        Ok(text.trim().parse().unwrap_or(0))
    }

    /// Counts one more.
    pub(crate) fn bump(&mut self) -> io::Result<()> {
        let next = self.revision()?.wrapping_add(1);
        // One write over the old number, never an empty file: killed in between, no number comes twice.
        self.file
            .write_all_at(format!("{next:020}\n").as_bytes(), 0)
    }
}

impl ReviewLock {
    /// The lock's file, empty: a process that inherits it holds the lock too. A reviewer that outlives a hook
    /// that was killed keeps the next one from starting a second.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The lock, or `None` while someone else holds it.
    pub(crate) fn try_acquire(home: &Path, instance: &str) -> io::Result<Option<Self>> {
        let file = open(home, instance, REVIEW)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    // The reviewer takes what it finds on its stdin for a part of its prompt, and a project may
                    // come with such a file.
                    file.set_len(0)?;
                    return Ok(Some(Self { file }));
                }
                Err(TryLockError::WouldBlock) if start.elapsed() < LOOK => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// True while someone holds the lock. Looks only: nothing is made, and two who look do not see each other.
    pub(super) fn is_held(home: &Path, instance: &str) -> bool {
        open_existing(home, instance, REVIEW)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

/// A file of the lock folder, for reading.
pub(super) fn open_existing(home: &Path, instance: &str, kind: &str) -> io::Result<File> {
    open_regular(OpenOptions::new().read(true), &path(home, instance, kind))
}

/// Where a file of the lock folder stands.
pub(super) fn path(home: &Path, instance: &str, kind: &str) -> PathBuf {
    home.join(FOLDER).join(format!("{instance}.{kind}"))
}

/// Has git ignore the lock folder, also where whoever made it was killed before that, or the file was deleted. What
/// stands there is left as it is.
fn ignore(folder: &Path) -> io::Result<()> {
    let path = folder.join(".gitignore");
    if folder.is_symlink() || path.symlink_metadata().is_ok() {
        return Ok(());
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// A file of the lock folder, for reading and writing; made where it is not there.
pub(super) fn open(home: &Path, instance: &str, kind: &str) -> io::Result<File> {
    let folder = home.join(FOLDER);
    let path = path(home, instance, kind);
    let open = || {
        // A project may come from anywhere: a link in it must not lead our writing out of it.
        if folder.is_symlink() {
            return Err(io::Error::other("its folder is a symbolic link"));
        }
        open_regular(
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false),
            &path,
        )
    };
    let opened = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(&folder)
            .and_then(|()| ignore(&folder))
            .and_then(|()| open()),
        other => {
            // The folder is there, and what matters is the file.
            let _ = ignore(&folder);
            other
        }
    };
    opened.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
