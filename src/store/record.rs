//! Records: small JSON files of this machine, such as which session drives which plan.
//!
//! A project may come from anyone, with records in it. So a record says which file it is (its number on the file system and
//! its time): a copy, a clone or a checkout is a different file, and is not trusted. Neither is a file that belongs to
//! another user. If there are two of one name, one in each folder of the store, the newer one counts.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Store;
use crate::clock;
use crate::disk;
use crate::os::file::is_ours;

/// The most bytes of a record that are read.
const LIMIT: u64 = 256 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Record<T> {
    inode: u64,
    /// Its modification time in seconds since 1970; always even, because every file system can store that.
    modified: u64,
    /// When it was written, since 1970: of two, the newer one counts.
    #[serde(default)]
    at: Duration,
    /// `None`: it was removed, in a folder that this process could not write.
    value: Option<T>,
}

/// A value, and when it was recorded.
pub(crate) type Dated<T> = (Duration, Option<T>);

/// Writes the record of `name` of this kind. The caller holds a write lock.
pub(crate) fn write<T: Serialize>(
    store: &Store,
    name: &str,
    kind: &str,
    value: T,
) -> io::Result<()> {
    put(store, name, kind, &Some(value), true)
}

/// Does the same for a record that is of no use after a power failure.
pub(crate) fn write_for_now<T: Serialize>(
    store: &Store,
    name: &str,
    kind: &str,
    value: T,
) -> io::Result<()> {
    put(store, name, kind, &Some(value), false)
}

fn put<T: Serialize>(
    store: &Store,
    name: &str,
    kind: &str,
    value: &Option<T>,
    is_kept: bool,
) -> io::Result<()> {
    let at = clock::since_1970();
    store.write(|folder| {
        let path = super::path(folder, name, kind);
        let fill = |file: &mut File| fill(file, at, value);
        match is_kept {
            true => disk::replace_with(&path, fill),
            false => disk::replace_for_now(&path, fill),
        }?;
        if folder != store.beside {
            // The older one has nothing more to say.
            let _ = fs::remove_file(super::path(&store.beside, name, kind));
        }
        Ok(())
    })
}

fn fill<T: Serialize>(file: &mut File, at: Duration, value: &Option<T>) -> io::Result<()> {
    let modified = at.as_secs() & !1;
    let inode = file.metadata()?.ino();
    file.write_all(&serde_json::to_vec(&Record { inode, modified, at, value: value.as_ref() })?)?;
    file.set_modified(UNIX_EPOCH + Duration::from_secs(modified))
}

/// Returns the record of `name` of this kind; `None` if there is none that can be read and trusted.
pub(crate) fn read<T: DeserializeOwned>(store: &Store, name: &str, kind: &str) -> Option<T> {
    let found = store.folders().filter_map(|folder| {
        let found = in_folder(folder, name, kind);
        found.ok().flatten()
    });
    newest(found)?.1
}

/// Does the same, with when it was recorded. The error is the folder that cannot be read, and why.
pub(crate) fn try_read<T: DeserializeOwned>(
    store: &Store,
    name: &str,
    kind: &str,
) -> Result<Option<(Duration, T)>, (PathBuf, io::Error)> {
    let mut found = Vec::new();
    for folder in store.folders() {
        let record = in_folder(folder, name, kind);
        found.extend(record.map_err(|error| (folder.to_owned(), error))?);
    }
    let newest = newest(found.into_iter());
    Ok(newest.and_then(|(at, value)| Some((at, value?))))
}

/// Returns the names of which there may be a record of this kind.
pub(crate) fn names(store: &Store, kind: &str) -> BTreeSet<String> {
    let files = store.folders().flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let names = files.filter_map(|file| {
        let name = file.ok()?.file_name().into_string().ok()?;
        Some(name.strip_suffix(kind)?.strip_suffix('.')?.to_owned())
    });
    names.collect()
}

/// Returns the newest; of two of the same time, the first.
fn newest<T>(found: impl Iterator<Item = Dated<T>>) -> Option<Dated<T>> {
    // What was written by a clock that was ahead does not hide what has been written since.
    let now = clock::since_1970();
    let age = |dated: &Dated<T>| (dated.0 <= now).then_some(dated.0);
    found.reduce(|first, other| if age(&other) > age(&first) { other } else { first })
}

fn in_folder<T: DeserializeOwned>(
    folder: &Path,
    name: &str,
    kind: &str,
) -> io::Result<Option<Dated<T>>> {
    let (file, meta) = match super::open_existing(folder, name, kind) {
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
    let is_ours = is_made_here(&meta, record.inode)
        && meta.modified()? == UNIX_EPOCH + Duration::from_secs(record.modified);
    Ok(is_ours.then_some((record.at, record.value)))
}

/// Removes the record. If it stays, it still says what it said before.
pub(crate) fn remove(store: &Store, name: &str, kind: &str) {
    let mut stays = false;
    for folder in store.folders() {
        let path = super::path(folder, name, kind);
        stays |= fs::remove_file(&path).is_err() && path.exists();
    }
    if stays {
        let _ = put::<()>(store, name, kind, &None, true);
    }
}

/// Returns whether a file was made on this machine: `inode`, with which it starts, is its own number.
pub(crate) fn is_made_here(meta: &Metadata, inode: u64) -> bool {
    is_ours(meta) && meta.ino() == inode
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store with both folders.
    fn store(home: &Path) -> Store {
        fs::create_dir_all(home.join(".git")).unwrap();
        Store::of(home, "home")
    }

    /// Lets no file of this name be written in the git directory, as in a sandbox; it can still be read.
    fn forbid(store: &Store, file: &str) {
        let folder = store.private.as_ref().unwrap();
        fs::create_dir_all(folder.join(format!(".{file}.new/x"))).unwrap();
    }

    #[test]
    fn of_two_records_one_from_a_clock_that_was_ahead_does_not_count() {
        let dated = |at: Duration, value| (at, Some(value));
        let (now, ahead) = (clock::since_1970(), Duration::from_secs(400 * 24 * 60 * 60));
        for found in
            [[dated(now + ahead, 1), dated(now, 2)], [dated(now, 2), dated(now + ahead, 1)]]
        {
            assert_eq!(newest(found.into_iter()), Some(dated(now, 2)));
        }
        assert_eq!(newest([dated(now + ahead, 1)].into_iter()), Some(dated(now + ahead, 1)));
    }

    #[test]
    fn of_two_records_the_newer_one_counts() {
        let home = tempfile::tempdir().unwrap();
        let store = store(home.path());
        let read = || read::<String>(&store, "a", "kind");
        let count = || {
            let paths = store.folders().map(|folder| super::super::path(folder, "a", "kind"));
            paths.filter(|path| path.exists()).count()
        };
        assert_eq!(read(), None);
        write(&store, "a", "kind", "first").unwrap();
        assert_eq!((read().as_deref(), count()), (Some("first"), 1));
        assert!(!store.beside.exists());

        forbid(&store, "a.kind");
        write(&store, "a", "kind", "second").unwrap();
        assert_eq!((read().as_deref(), count()), (Some("second"), 2));

        let folder = store.private.clone().unwrap();
        fs::remove_dir_all(folder.join(".a.kind.new")).unwrap();
        write(&store, "a", "kind", "third").unwrap();
        assert_eq!((read().as_deref(), count()), (Some("third"), 1));
        remove(&store, "a", "kind");
        assert_eq!((read(), count()), (None, 0));
    }

    #[test]
    fn outside_git_they_are_beside_the_instances() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::of(home.path(), "home");
        write(&store, "a", "kind", 1).unwrap();
        assert!(home.path().join("home/.locks/a.kind").exists());
        assert_eq!(read(&store, "a", "kind"), Some(1));
    }

    /// A file where the folder should be is as good as a directory that cannot be written.
    #[test]
    fn a_git_directory_that_cannot_be_written() {
        let home = tempfile::tempdir().unwrap();
        let store = store(home.path());
        fs::write(home.path().join(".git/taskie"), "").unwrap();
        write(&store, "a", "kind", 1).unwrap();
        assert_eq!(read(&store, "a", "kind"), Some(1));
        remove(&store, "a", "kind");
        assert_eq!(read::<u8>(&store, "a", "kind"), None);
    }
}
