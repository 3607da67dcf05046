//! The locks of one instance. The operating system keeps them, so it releases them if a process crashes.
//!
//! The write lock covers one read-decide-write of `state.json` and is held for milliseconds. Its file is in `.locks`
//! in the chart's home, which git ignores, and contains the revision, a count of the phases entered and commands run.
//! The review lock is held for a whole run, in which the reviewer may remove everything that git ignores: it is a
//! lock on the instance's directory itself. The notes of [`super::running`] and the [records](super::record) are in
//! `.locks` too.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::os::file::{is_at, write_at};
use crate::os::regular::{open_to_read, open_to_write};
use crate::os::signals;

/// The folder of the lock files, in the chart's home.
pub(crate) const FOLDER: &str = ".locks";

/// The file of the review lock.
const REVIEW: &str = "review";

/// How long to retry if the review lock is taken: a process that only checks it holds it for microseconds.
const LOOK: Duration = Duration::from_millis(20);

/// How long to wait for the write lock; nobody holds it that long unless stopped in the middle.
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
    /// Waits for the lock; the error names its file.
    pub(crate) fn acquire(home: &Path, instance: &str) -> io::Result<Self> {
        let mut file = open(home, instance, "state")?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) if is_at(&file, &path(home, instance, "state")) => return Ok(Self { file }),
                // Someone has removed the file in the meantime, so there are two locks with one name: the new one
                // counts.
                Ok(()) if start.elapsed() < PATIENCE => file = open(home, instance, "state")?,
                Ok(()) => return Err(io::Error::other("its file keeps being removed")),
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

    /// Returns how many phases have been entered and commands run so far.
    pub(crate) fn revision(&mut self) -> io::Result<u64> {
        let mut text = String::new();
        self.file.rewind()?;
        // A file without a number counts as a new one.
        let _ = self.file.read_to_string(&mut text);
        Ok(text.trim().parse().unwrap_or(0))
    }

    /// Adds one to the revision.
    pub(crate) fn bump(&mut self) -> io::Result<()> {
        let next = self.revision()?.wrapping_add(1);
        // One write over the old number, never an empty file: if the process is killed in between, no number is used
        // twice.
        write_at(&self.file, format!("{next:020}\n").as_bytes(), 0)
    }
}

impl ReviewLock {
    /// Returns the locked file: a process that inherits it holds the lock too. So if a hook is killed, nobody starts
    /// a second reviewer before its reviewer is gone.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the lock of the instance in `dir`, or `None` while someone else holds it.
    pub(crate) fn try_acquire(home: &Path, instance: &str, dir: &Path) -> io::Result<Option<Self>> {
        // Not every file system can lock a directory.
        let lock = |file: io::Result<File>| file.and_then(try_lock);
        lock(File::open(dir)).or_else(|_| lock(open(home, instance, REVIEW)))
    }

    /// Returns whether someone holds the lock. Creates nothing, and two processes that check at the same time don't
    /// disturb each other.
    pub(crate) fn is_held(home: &Path, instance: &str, dir: &Path) -> bool {
        let is_held = |file: io::Result<File>| {
            file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
        };
        let file = || open_existing(home, instance, REVIEW).map(|(file, _)| file);
        is_held(File::open(dir)) || is_held(file())
    }
}

fn try_lock(file: File) -> io::Result<Option<ReviewLock>> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(ReviewLock { file })),
            Err(TryLockError::WouldBlock) if start.elapsed() < LOOK => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Opens a file of the lock folder for reading, and returns it with its metadata.
pub(crate) fn open_existing(
    home: &Path,
    instance: &str,
    kind: &str,
) -> io::Result<(File, Metadata)> {
    // Most records don't exist, so the folder comes second.
    let opened = open_to_read(&path(home, instance, kind))?;
    refuse_link(home)?;
    Ok(opened)
}

/// Returns the path of a file in the lock folder.
pub(crate) fn path(home: &Path, instance: &str, kind: &str) -> PathBuf {
    folder(home).join(format!("{instance}.{kind}"))
}

/// Makes git ignore the lock folder, even if whoever created it was killed before doing that, or if the file was
/// deleted. An existing file stays as it is.
fn ignore(folder: &Path) -> io::Result<()> {
    let path = folder.join(".gitignore");
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns the path of the lock folder.
pub(crate) fn folder(home: &Path) -> PathBuf {
    home.join(FOLDER)
}

/// Refuses a link in place of the lock folder: a project may come from anyone, and a link in it must not make us read or
/// write files of another project.
pub(crate) fn refuse_link(home: &Path) -> io::Result<()> {
    match folder(home).is_symlink() {
        true => Err(io::Error::other("its folder is a symbolic link")),
        false => Ok(()),
    }
}

/// Creates the lock folder if it does not exist.
pub(crate) fn make_folder(home: &Path) -> io::Result<()> {
    refuse_link(home)?;
    let folder = folder(home);
    signals::report_file_size();
    if !folder.is_dir() {
        fs::create_dir_all(&folder).map_err(|error| match folder.exists() {
            true => io::Error::other("its folder is not a directory; remove what is there"),
            false => error,
        })?;
    }
    ignore(&folder)
}

/// Opens a file of the lock folder for reading and writing; creates it if necessary.
pub(crate) fn open(home: &Path, instance: &str, kind: &str) -> io::Result<File> {
    let path = path(home, instance, kind);
    make_folder(home)
        .and_then(|()| open_to_write(&path))
        .map(|(file, _)| file)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
