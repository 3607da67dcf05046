//! Reads folders. (With [`std::fs::read_dir`], each would take three system calls more, and each file the whole of its path.)

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, statat};
use rustix::io::Errno;

/// What is directly in a folder.
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
}

/// Returns what is directly in a folder.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut dir = opened(folder)?;
    let mut entries = Vec::new();
    while let Some(entry) = dir.read() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Not every file system reports the kind.
            FileType::Unknown => {
                let meta = statat(dir.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(meta.st_mode)
            }
            kind => kind,
        };
        entries.push(Entry { name: OsStr::from_bytes(name.to_bytes()).to_owned(), kind });
    }
    Ok(entries)
}

/// Returns when one of the files directly in a folder was last modified whose names `is_meant` picks; `None` if there is none. The
/// target of a link does not count.
pub(crate) fn last_modified<F: Fn(&[u8]) -> bool>(
    folder: &Path,
    is_meant: F,
) -> io::Result<Option<impl Ord + use<F>>> {
    let mut dir = opened(folder)?;
    let mut last = None;
    while let Some(entry) = dir.read() {
        let entry = entry?;
        if is_meant(entry.file_name().to_bytes()) {
            match statat(dir.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                // It has been removed since.
                Err(Errno::NOENT) => {}
                meta => last = last.max(meta.map(|it| Some((it.st_mtime, it.st_mtime_nsec)))?),
            }
        }
    }
    Ok(last)
}

fn opened(folder: &Path) -> io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(Dir::new(open(folder, flags, Mode::empty())?)?)
}
