//! Directories, read with few system calls: a stop may look at a thousand of them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::retry_on_intr;

/// An open directory.
pub(crate) struct Folder {
    dir: Dir,
}

/// What is in a directory.
pub(crate) struct Entry {
    pub(crate) name: OsString,
    /// A symbolic link is not followed.
    pub(crate) kind: FileType,
}

/// When a file was modified: seconds since 1970, and nanoseconds. (Their types differ between systems.)
pub(crate) type Modified = (i128, i128);

impl Folder {
    /// Opens the directory at `path`.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::open_at(CWD, path)
    }

    /// Opens a directory that is in this one.
    pub(crate) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        Self::open_at(self.dir.fd()?, Path::new(name))
    }

    fn open_at(at: impl AsFd, path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| openat(&at, path, flags, Mode::empty()))?;
        Ok(Self { dir: Dir::new(fd)? })
    }

    /// Returns what is in it, in no order.
    pub(crate) fn entries(&mut self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        while let Some(entry) = self.dir.read() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Not every file system says it here.
                FileType::Unknown => FileType::from_raw_mode(self.status(Path::new(name))?.st_mode),
                kind => kind,
            };
            let name = name.to_owned();
            entries.push(Entry { name, kind });
        }
        Ok(entries)
    }

    /// Returns when a file below it was modified. A symbolic link is not followed.
    pub(crate) fn modified(&self, name: &Path) -> io::Result<Modified> {
        let status = self.status(name)?;
        Ok((status.st_mtime.into(), status.st_mtime_nsec.into()))
    }

    fn status(&self, name: &Path) -> io::Result<Stat> {
        Ok(statat(self.dir.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }
}
