//! Locks of one instance, kept by the operating system and so released by a crash.
//!
//! The write lock covers one read-decide-write of `state.json` and is held for milliseconds. Its file stands in `.locks`
//! below the chart's home, which git ignores, and holds the revision, a count of the phases entered and commands run.
//! The review lock is held for a whole run, in which the reviewer may remove all that git ignores: it is a lock on the
//! instance's directory itself. The notes of [`super::reviews`] and the [records](super::record) are in `.locks` too.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::files::regular::open_regular;
use crate::invoke::signals;

/// The folder of the lock files, below the chart's home.
pub(super) const FOLDER: &str = ".locks";

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
        let mut file = open(home, instance, "state")?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) if is_at(&file, &path(home, instance, "state")) => return Ok(Self { file }),
                // Whoever removed the file meanwhile has left two locks of one name: the new one counts.
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
    /// The file that is locked: a process that inherits it holds the lock too, so that nobody starts a second reviewer
    /// before the first one of a hook that was killed is gone.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// The lock of the instance in `dir`, or `None` while someone else holds it.
    pub(super) fn try_acquire(home: &Path, instance: &str, dir: &Path) -> io::Result<Option<Self>> {
        // Not every file system can lock a directory.
        let lock = |file: io::Result<File>| file.and_then(try_lock);
        lock(File::open(dir)).or_else(|_| lock(open(home, instance, REVIEW)))
    }

    /// True while someone holds the lock. Looks only: nothing is made, and two who look do not see each other.
    pub(super) fn is_held(home: &Path, instance: &str, dir: &Path) -> bool {
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

/// True while `path` leads to this very file.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let id = |meta: io::Result<Metadata>| meta.ok().map(|meta| (meta.dev(), meta.ino()));
    id(file.metadata()) == id(path.symlink_metadata())
}

/// A file of the lock folder, for reading, and what is known of it.
pub(super) fn open_existing(
    home: &Path,
    instance: &str,
    kind: &str,
) -> io::Result<(File, Metadata)> {
    refuse_link(&folder(home))?;
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
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// The lock folder.
pub(super) fn folder(home: &Path) -> PathBuf {
    home.join(FOLDER)
}

/// A project may come from anywhere: a link in it must not have us read or write what is another project's.
fn refuse_link(folder: &Path) -> io::Result<()> {
    match folder.is_symlink() {
        true => Err(io::Error::other("its folder is a symbolic link")),
        false => Ok(()),
    }
}

/// Makes the lock folder, if it is not there.
pub(super) fn make_folder(home: &Path) -> io::Result<()> {
    let folder = folder(home);
    refuse_link(&folder)?;
    signals::report_file_size();
    if !folder.is_dir() {
        fs::create_dir_all(&folder)?;
    }
    ignore(&folder)
}

/// A file of the lock folder, for reading and writing; made where it is not there.
pub(super) fn open(home: &Path, instance: &str, kind: &str) -> io::Result<File> {
    let path = path(home, instance, kind);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    make_folder(home)
        .and_then(|()| open_regular(&mut options, &path))
        .map(|(file, _)| file)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
