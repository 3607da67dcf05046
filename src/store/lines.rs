//! The file of a journal: lines of JSON that any number of processes can append to at the same time.
//!
//! A line starts with a line break and is written in one call: a process that is killed in the middle leaves an
//! incomplete line, and the next one starts on a line of its own. The first line of the file identifies the file,
//! because a file that came with the project is not trusted. A full file is renamed, and kept until the next one is
//! full; what budgets count is copied to the new one. Each folder of the store may have such files.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Store, record};
use crate::disk;
use crate::os::file::is_at;
use crate::os::regular::open_to_append;

/// The extension of the file.
pub(super) const KIND: &str = "journal";

/// The extension of the previous one, which is full.
const OLDER: &str = "journal.1";

/// The size at which a new file is started.
const FULL: u64 = 4 * 1024 * 1024;

/// How the line of a review begins: what it cost counts for good.
const LASTING: &str = r#"{"line":"review""#;

/// How often to look for a file that other processes are replacing.
const TRIES: usize = 16;

/// The first line, which identifies the file.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    inode: u64,
}

/// The part of a line by which the lines of two files are merged.
#[derive(Debug, Deserialize)]
struct Dated {
    at: String,
}

/// Appends a line to the file of `name`.
pub(crate) fn append(store: &Store, name: &str, line: &[u8]) -> io::Result<()> {
    let mut text = Vec::with_capacity(line.len() + 1);
    text.push(b'\n');
    text.extend_from_slice(line);
    // A disk that is full may still open it.
    store.write(|folder| {
        let written = open(folder, name)?.write(&text)?;
        // The rest would become a line of its own, mixed with the lines of others.
        match written == text.len() {
            true => Ok(()),
            false => Err(io::ErrorKind::WriteZero.into()),
        }
    })
}

/// Finds out whether a line can be appended.
pub(crate) fn try_to_append(store: &Store, name: &str) -> io::Result<()> {
    store.write(|folder| open(folder, name)).map(drop)
}

/// Returns the lines that can be read as this type, oldest first.
pub(crate) fn read<T: DeserializeOwned>(store: &Store, name: &str) -> Vec<T> {
    let texts = store.folders().map(|folder| text(folder, name));
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    let mut lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
    if texts.len() > 1 {
        lines.sort_by_cached_key(|line| {
            let dated: Result<Dated, _> = serde_json::from_str(line);
            dated.map_or_else(|_| String::new(), |dated| dated.at)
        });
    }
    // What was copied from a full file is in both.
    let mut copied = HashSet::new();
    let lines = lines.into_iter().filter(|line| !line.starts_with(LASTING) || copied.insert(*line));
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns the lines in one folder, oldest first, including incomplete ones.
fn text(folder: &Path, name: &str) -> String {
    // The newer file first: a file that becomes full in between is then read twice. In the other order, it would be
    // missed.
    let [newer, older] = [KIND, OLDER].map(|kind| believed(folder, name, kind));
    let is_same = |a: &File, b: &File| {
        let id = |file: &File| Some(file.metadata().ok()?.ino());
        id(a) == id(b)
    };
    let older = older.filter(|older| newer.as_ref().is_none_or(|newer| !is_same(older, newer)));
    let mut text = Vec::new();
    for file in older.into_iter().chain(newer) {
        // A little more than a full file, because a process that had it open may still write. The limit keeps us from
        // reading forever.
        if file.take(2 * FULL).read_to_end(&mut text).is_err() {
            break;
        }
        text.push(b'\n');
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Opens the file for appending; starts a new one if there is none of ours, or if it is full.
fn open(folder: &Path, name: &str) -> io::Result<File> {
    let path = super::path(folder, name, KIND);
    for _ in 0..TRIES {
        let (file, meta) = match open_to_append(&path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(&path, &lasting(folder, name))?;
                continue;
            }
            Err(error) => return Err(error),
        };
        let is_ours = is_believed(&file, &meta);
        if is_ours && meta.len() < FULL {
            return Ok(file);
        }
        // One process replaces the file; those that have it open write to the old one.
        match file.try_lock() {
            Ok(()) if !is_at(&file, &path) => {}
            Ok(()) if is_ours => fs::rename(&path, super::path(folder, name, OLDER))?,
            Ok(()) => fs::remove_file(&path)?,
            Err(_) if is_ours => return Ok(file),
            Err(_) => std::thread::yield_now(),
        }
    }
    Err(io::Error::other("it keeps being replaced"))
}

/// Returns the lines of the file before this one that are not only about a moment, each with a line break before it.
fn lasting(folder: &Path, name: &str) -> String {
    let older = text(folder, name);
    let lines = older.lines().filter(|line| line.starts_with(LASTING));
    lines.flat_map(|line| ["\n", line]).collect()
}

/// Creates the file with its first line; if another process creates it at the same time, that file will do.
fn make(path: &Path, lasting: &str) -> io::Result<()> {
    let made = disk::create_for_now(path, |file| {
        let inode = file.metadata()?.ino();
        file.write_all(&serde_json::to_vec(&Head { inode })?)?;
        file.write_all(lasting.as_bytes())
    });
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Opens the file for reading, if it was made on this machine.
fn believed(folder: &Path, name: &str, kind: &str) -> Option<File> {
    let (mut file, meta) = super::open_existing(folder, name, kind).ok()?;
    let is_at_start = file.seek(SeekFrom::Start(0)).is_ok();
    (is_at_start && is_believed(&file, &meta)).then_some(file)
}

/// Returns whether the first line of the file has the file's own number.
fn is_believed(file: &File, meta: &Metadata) -> bool {
    let mut start = [0; 64];
    let Ok(length) = file.read_at(&mut start, 0) else {
        return false;
    };
    let line = start[..length].split(|byte| *byte == b'\n').next();
    let head = line.and_then(|line| serde_json::from_slice::<Head>(line).ok());
    head.is_some_and(|head| record::is_made_here(meta, head.inode))
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    fn lines(store: &Store) -> Vec<String> {
        let text = text(&store.beside, "a");
        let lines = text.lines().filter(|line| line.starts_with("line"));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn lines_of_many_writers_stay_whole() {
        let home = tempfile::tempdir().unwrap();
        let store = &Store::of(home.path(), "home");
        let long = "x".repeat(3_000);
        std::thread::scope(|scope| {
            for writer in 0..32 {
                let long = &long;
                scope.spawn(move || {
                    for n in 0..20 {
                        let line = format!("line {writer} {n} {long}");
                        append(store, "a", line.as_bytes()).unwrap();
                    }
                });
            }
        });
        let mut found: Vec<String> = lines(store);
        found.sort_by_key(|line| {
            let numbers = line.split(' ').skip(1).take(2);
            numbers.map(|n| n.parse::<u32>().unwrap()).collect::<Vec<_>>()
        });
        let expected: Vec<String> = (0..32)
            .flat_map(|writer| (0..20).map(move |n| (writer, n)))
            .map(|(writer, n)| format!("line {writer} {n} {long}"))
            .collect();
        assert!(found == expected, "{} lines", found.len());
    }

    #[test]
    fn a_full_file_is_kept_until_the_next_one_is_full() {
        let home = tempfile::tempdir().unwrap();
        let store = &Store::of(home.path(), "home");
        let half = usize::try_from(FULL).unwrap() / 2;
        let numbers = |store: &Store| -> Vec<String> {
            let lines = lines(store);
            lines.iter().map(|line| line[..6].to_owned()).collect()
        };
        append(store, "a", br#"{"line":"review","at":"1"}"#).unwrap();
        for n in 0..7 {
            let line = format!("line {n} {}", "x".repeat(half));
            append(store, "a", line.as_bytes()).unwrap();
        }
        assert_eq!(numbers(store), ["line 4", "line 5", "line 6"]);
        assert_eq!(read::<Dated>(store, "a").len(), 1, "what a review cost counts for good");
        let names = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = fs::read_dir(&store.beside).unwrap().map(names).collect();
        names.sort();
        assert_eq!(names, [".gitignore", "a.journal", "a.journal.1"]);
    }

    #[test]
    fn a_torn_line_and_a_foreign_file_cost_no_other_line() {
        let home = tempfile::tempdir().unwrap();
        let store = &Store::of(home.path(), "home");
        append(store, "a", b"line 1").unwrap();
        let path = super::super::path(&store.beside, "a", "journal");
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"\n{\"torn").unwrap();
        append(store, "a", b"line 2").unwrap();
        assert_eq!(lines(store), ["line 1", "line 2"]);

        // A clone would contain the same text, but in a different file.
        let other = super::super::path(&store.beside, "b", "journal");
        fs::write(&other, fs::read(&path).unwrap()).unwrap();
        assert_eq!(text(&store.beside, "b"), "");
        append(store, "b", b"line 3").unwrap();
        let text = fs::read_to_string(&other).unwrap();
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["line 3"]);
    }

    #[test]
    fn two_files_are_read_as_one() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".git")).unwrap();
        let store = &Store::of(home.path(), "home");
        let outside = &Store { private: None, ..store.clone() };
        for (n, store) in [store, outside, outside, store].into_iter().enumerate() {
            super::super::make_folder(&store.home).unwrap();
            append(store, "a", format!("{{\"at\":\"{n}\"}}").as_bytes()).unwrap();
        }
        let read: Vec<Dated> = read(store, "a");
        let times: Vec<&str> = read.iter().map(|line| line.at.as_str()).collect();
        assert_eq!(times, ["0", "1", "2", "3"]);
    }
}
