//! Facts about this machine, kept in the lock folder: which session drives which plan, and the last answer to each.
//!
//! A project may come from anyone, with a lock folder in it. So a record says which file it is (its number on the
//! file system and its time): a copy, a clone or a checkout is a different file, and is not trusted. Neither is a
//! file that belongs to another user.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::lock;
use crate::disk;
use crate::files::clock;
use crate::os::file::{is_ours, number};

/// The most bytes of a record that are read.
const LIMIT: u64 = 256 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Record<T> {
    inode: u64,
    /// Its modification time in seconds since 1970; always even, because every file system can store that.
    modified: u64,
    value: T,
}

/// Writes the record of `name` of this kind. The caller holds a write lock.
pub(crate) fn write<T: Serialize>(home: &Path, name: &str, kind: &str, value: T) -> io::Result<()> {
    lock::make_folder(home)?;
    disk::replace_with(&lock::path(home, name, kind), |file| fill(file, value))
}

/// Does the same for a record that is of no use after a power failure.
pub(crate) fn write_for_now<T: Serialize>(
    home: &Path,
    name: &str,
    kind: &str,
    value: T,
) -> io::Result<()> {
    lock::make_folder(home)?;
    disk::replace_for_now(&lock::path(home, name, kind), |file| fill(file, value))
}

fn fill<T: Serialize>(file: &mut File, value: T) -> io::Result<()> {
    let modified = clock::now() & !1;
    let inode = number(file, &file.metadata()?)?;
    file.write_all(&serde_json::to_vec(&Record {
        inode,
        modified,
        value,
    })?)?;
    file.set_modified(UNIX_EPOCH + Duration::from_secs(modified))
}

/// Returns the record of `name` of this kind; `None` if there is none that can be read and trusted.
pub(crate) fn read<T: DeserializeOwned>(home: &Path, name: &str, kind: &str) -> Option<T> {
    try_read(home, name, kind).ok().flatten()
}

/// Does the same, with the reason why an existing record cannot be read.
pub(crate) fn try_read<T: DeserializeOwned>(
    home: &Path,
    name: &str,
    kind: &str,
) -> io::Result<Option<T>> {
    let (file, meta) = match lock::open_existing(home, name, kind) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        file => file?,
    };
    let mut text = Vec::new();
    (&file).take(LIMIT).read_to_end(&mut text)?;
    let Ok(record) = serde_json::from_slice::<Record<T>>(&text) else {
        return Ok(None);
    };
    let is_ours = is_made_here(&file, &meta, record.inode)
        && meta.modified()? == UNIX_EPOCH + Duration::from_secs(record.modified);
    Ok(is_ours.then_some(record.value))
}

/// Removes the record.
pub(crate) fn remove(home: &Path, name: &str, kind: &str) {
    // If it stays, it still says what it said before.
    let _ = fs::remove_file(lock::path(home, name, kind));
}

/// Returns whether a file was made on this machine: `inode`, with which it starts, is its own number.
pub(crate) fn is_made_here(file: &File, meta: &Metadata, inode: u64) -> bool {
    is_ours(meta) && number(file, meta).is_ok_and(|number| number == inode)
}
