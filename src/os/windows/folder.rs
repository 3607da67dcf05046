//! Directories.

use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType, ReadDir};
use std::io;
use std::os::windows::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// An open directory.
pub(crate) struct Folder {
    path: PathBuf,
    entries: ReadDir,
}

/// What is in a directory.
pub(crate) struct Entry {
    pub(crate) name: OsString,
    /// A symbolic link is not followed.
    pub(crate) kind: FileType,
}

/// When a file was modified, in units of 100 ns since 1601.
pub(crate) type Modified = u64;

impl Folder {
    /// Opens the directory at `path`.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), entries: fs::read_dir(path)? })
    }

    /// Opens a directory that is in this one.
    pub(crate) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.path.join(name))
    }

    /// Returns what is in it, in no order.
    pub(crate) fn entries(&mut self) -> io::Result<Vec<Entry>> {
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            Ok(Entry { name, kind })
        };
        self.entries.by_ref().map(entry).collect()
    }

    /// Returns when a file below it was modified. A symbolic link is not followed.
    pub(crate) fn modified(&self, name: &Path) -> io::Result<Modified> {
        let meta = self.path.join(name).symlink_metadata()?;
        Ok(meta.last_write_time())
    }
}
