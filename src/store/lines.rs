//! The file of a journal: lines of JSON that any number of processes can append to at the same time.
//!
//! A line starts with a line break and is written in one call: a process that is killed in the middle leaves an
//! incomplete line, and the next one starts on a line of its own. The first line of the file identifies the file,
//! because a file that came with the project is not trusted. A full file is renamed, and kept until the next one is
//! full; what budgets count and the facts about the instances are copied to the new one. Each folder of the store may have such files.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Store;
use super::facts::{self, All, Entry, Fact};
use crate::disk;
use crate::os::file::{is_at, is_ours};
use crate::os::regular::open_to_append;

/// The extension of the file.
const KIND: &str = "jsonl";

/// The extension of the previous one, which is full.
const OLDER: &str = "older";

/// The size at which a new file is started.
const FULL: u64 = 4 * 1024 * 1024;

/// After this many bytes, a line with the facts so far is added.
const OFTEN: u64 = 32 * 1024;

/// How many bytes at the end of a file have such a line, most of the time.
const TAIL: u64 = 2 * OFTEN;

/// How the line of a review begins: what it cost counts for good.
pub(super) const LASTING: &str = r#"{"line":"review""#;

/// What a line has that says what follows from those before it. In a text, there would be a backslash before each quote.
const FACTS: &str = r#""line":"facts""#;

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

/// Appends a line to the file of `name`. If it `is_kept`, the disk has it then.
pub(super) fn append(store: &Store, name: &str, line: &[u8], is_kept: bool) -> io::Result<()> {
    let mut text = Vec::with_capacity(line.len() + 1);
    text.push(b'\n');
    text.extend_from_slice(line);
    // A disk that is full may still open it.
    store.write(|folder| {
        let mut file = open(folder, name)?;
        let written = file.write(&text)?;
        // The rest would become a line of its own, mixed with the lines of others.
        match written == text.len() {
            true if is_kept => file.sync_data(),
            true => Ok(()),
            false => Err(ErrorKind::WriteZero.into()),
        }
    })
}

/// Returns the names of which there are files.
pub(super) fn names(store: &Store) -> BTreeSet<String> {
    let files = store.folders().flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let names = files.filter_map(|file| {
        let name = file.ok()?.file_name().into_string().ok()?;
        Some(name.strip_suffix(KIND)?.strip_suffix('.')?.to_owned())
    });
    names.collect()
}

/// Returns the lines that begin with `start` and can be read as this type, oldest first.
pub(super) fn read<T: DeserializeOwned>(store: &Store, name: &str, start: &str) -> Vec<T> {
    let texts = store.folders().map(|folder| text(folder, name));
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    // What was copied from a full file is in both.
    let mut copied = HashSet::new();
    let lines = merged(&texts).into_iter().filter(|line| line.starts_with(start));
    let lines = lines.filter(|line| !line.starts_with(LASTING) || copied.insert(*line));
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns the lines of these texts, oldest first.
fn merged(texts: &[String]) -> Vec<&str> {
    let mut lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
    if texts.len() > 1 {
        lines.sort_by_cached_key(|line| {
            let dated: Result<Dated, _> = serde_json::from_str(line);
            dated.map_or_else(|_| String::new(), |dated| dated.at)
        });
    }
    lines
}

/// Which files a reader has read, and how much of each.
pub(super) type Version = Vec<(u64, u64)>;

/// Returns what is there to be read now.
pub(super) fn version(store: &Store, name: &str) -> Version {
    let files =
        store.folders().filter_map(|folder| super::path(folder, name, KIND).metadata().ok());
    files.map(|meta| (meta.ino(), meta.len())).collect()
}

/// Returns a folder in which the file cannot be read, and why.
pub(super) fn unreadable(store: &Store, name: &str) -> Option<(PathBuf, io::Error)> {
    store.folders().find_map(|folder| {
        let error = super::open_existing(folder, name, KIND).err()?;
        let is_absent = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        (!is_absent).then(|| (folder.to_owned(), error))
    })
}

/// The facts about the instances whose lines are in one file.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) all: All,
    /// How many bytes were read for it.
    read: u64,
    /// They follow from this many bytes of the file; `None` if there is another file, too.
    to: Option<u64>,
}

/// Returns the facts about the instances whose lines are in the files of `name`.
pub(super) fn folded(store: &Store, name: &str) -> Folded {
    let files: Vec<File> =
        store.folders().filter_map(|folder| believed(folder, name, KIND)).collect();
    if let [file] = &files[..] {
        let (all, start) = last_facts(file).unwrap_or_default();
        let (rest, read) = text_from(file, start).unwrap_or_default();
        let all = facts::fold(all, rest.lines());
        return Folded { all, read, to: Some(start + read) };
    }
    let texts: Vec<String> = files.into_iter().map(whole).collect();
    let all = facts::fold(All::default(), merged(&texts).into_iter());
    Folded { all, read: 0, to: None }
}

/// Returns what the last line with facts has, and after which byte the others follow; `None` if the end of the file has no such
/// line.
fn last_facts(file: &File) -> Option<(All, u64)> {
    let length = file.metadata().ok()?.len();
    let (tail, _) = text_from(file, length.saturating_sub(TAIL)).ok()?;
    let start = tail[..tail.rfind(FACTS)?].rfind('\n')? + 1;
    let entry: Entry = serde_json::from_str(tail[start..].lines().next()?).ok()?;
    match entry.fact {
        // A process that had read the file before this one counts its bytes.
        Fact::Facts { to, of } if to < length => Some((of, to)),
        _ => None,
    }
}

/// Returns the text of a file from this byte on, and how many bytes that is.
fn text_from(mut file: &File, start: u64) -> io::Result<(String, u64)> {
    file.seek(SeekFrom::Start(start))?;
    let mut text = Vec::new();
    // A little more than a full file, because a process that had it open may still write. The limit keeps us from
    // reading forever.
    let length = file.take(2 * FULL).read_to_end(&mut text)?;
    Ok((String::from_utf8_lossy(&text).into_owned(), length as u64))
}

/// Adds a line with what is known, if much had to be read for it. Whatever others add meanwhile follows.
pub(super) fn sum_up(store: &Store, name: &str, at: String, (was, folded): (Version, Folded)) {
    // A file that is full has been replaced.
    let is_same =
        || version(store, name).first().map(|file| file.0) == was.first().map(|file| file.0);
    if let Folded { all: of, read: OFTEN.., to: Some(to) } = folded
        && is_same()
    {
        let facts = Entry { at, instance: String::new(), fact: Fact::Facts { to, of } };
        let line = serde_json::to_vec(&facts).unwrap_or_default();
        // One that is too long would not be found.
        if (line.len() as u64) < OFTEN {
            let _ = append(store, name, &line, false);
        }
    }
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
    older.into_iter().chain(newer).map(whole).collect()
}

/// Returns the lines of a file, each with a line break after it.
fn whole(file: File) -> String {
    let (text, _) = text_from(&file, 0).unwrap_or_default();
    text + "\n"
}

/// Opens the file for appending; starts a new one if there is none of ours, or if it is full.
fn open(folder: &Path, name: &str) -> io::Result<File> {
    let path = super::path(folder, name, KIND);
    for _ in 0..TRIES {
        let (file, meta) = match open_to_append(&path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => {
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

/// Returns what a new file has of the one before it: the lines that are not only about a moment, and what follows from all.
fn lasting(folder: &Path, name: &str) -> String {
    let older = text(folder, name);
    let of = facts::fold(All::default(), older.lines());
    let facts =
        Entry { at: String::new(), instance: String::new(), fact: Fact::Facts { to: 0, of } };
    let reviews = older.lines().filter(|line| line.starts_with(LASTING)).map(str::to_owned);
    let lines = reviews.chain(serde_json::to_string(&facts).ok()).filter(|_| !older.is_empty());
    lines.map(|line| format!("\n{line}")).collect()
}

/// Creates the file with its first line; if another process creates it at the same time, that file will do.
fn make(path: &Path, lasting: &str) -> io::Result<()> {
    let made = disk::create_for_now(path, |file| {
        let inode = file.metadata()?.ino();
        file.write_all(&serde_json::to_vec(&Head { inode })?)?;
        file.write_all(lasting.as_bytes())
    });
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Opens the file for reading, if it was made on this machine.
fn believed(folder: &Path, name: &str, kind: &str) -> Option<File> {
    let (file, meta) = super::open_existing(folder, name, kind).ok()?;
    is_believed(&file, &meta).then_some(file)
}

/// Returns whether the first line of the file has the file's own number.
fn is_believed(file: &File, meta: &Metadata) -> bool {
    let mut start = [0; 64];
    let Ok(length) = file.read_at(&mut start, 0) else {
        return false;
    };
    let line = start[..length].split(|byte| *byte == b'\n').next();
    let head = line.and_then(|line| serde_json::from_slice::<Head>(line).ok());
    head.is_some_and(|head| is_ours(meta) && meta.ino() == head.inode)
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
                        append(store, "a", line.as_bytes(), false).unwrap();
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
        append(store, "a", br#"{"line":"review","at":"1"}"#, false).unwrap();
        for n in 0..7 {
            let line = format!("line {n} {}", "x".repeat(half));
            append(store, "a", line.as_bytes(), false).unwrap();
        }
        assert_eq!(numbers(store), ["line 4", "line 5", "line 6"]);
        let reviews = read::<Dated>(store, "a", "").into_iter().filter(|line| line.at == "1");
        assert_eq!(reviews.count(), 1, "what a review cost counts for good");
        let names = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = fs::read_dir(&store.beside).unwrap().map(names).collect();
        names.sort();
        assert_eq!(names, [".gitignore", "a.jsonl", "a.older"]);
    }

    #[test]
    fn a_torn_line_and_a_foreign_file_cost_no_other_line() {
        let home = tempfile::tempdir().unwrap();
        let store = &Store::of(home.path(), "home");
        append(store, "a", b"line 1", false).unwrap();
        let path = super::super::path(&store.beside, "a", KIND);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"\n{\"torn").unwrap();
        append(store, "a", b"line 2", false).unwrap();
        assert_eq!(lines(store), ["line 1", "line 2"]);

        // A clone would contain the same text, but in a different file.
        let other = super::super::path(&store.beside, "b", KIND);
        fs::write(&other, fs::read(&path).unwrap()).unwrap();
        assert_eq!(text(&store.beside, "b"), "");
        append(store, "b", b"line 3", false).unwrap();
        let text = fs::read_to_string(&other).unwrap();
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["line 3"]);
    }

    /// A file is full when a process sums it up: what that counts is not in the new one.
    #[test]
    fn facts_of_the_file_before_are_not_believed() {
        let home = tempfile::tempdir().unwrap();
        let store = &Store::of(home.path(), "home");
        let line = |rest: &str| {
            let line = format!(r#"{{"at":"1","instance":"a",{rest}}}"#);
            append(store, "a", line.as_bytes(), false).unwrap();
        };
        line(r#""line":"drivers","sessions":["s"]"#);
        line(r#""line":"facts","to":4000000,"of":{}"#);
        line(r#""line":"noted","command":"pause""#);
        let facts = folded(store, "a").all.swap_remove("a").unwrap();
        assert_eq!((facts.drivers, facts.noted), (vec!["s".to_owned()], Some("pause".to_owned())));
    }

    #[test]
    fn two_files_are_read_as_one() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".git")).unwrap();
        let store = &Store::of(home.path(), "home");
        let outside = &Store { private: None, ..store.clone() };
        for (n, store) in [store, outside, outside, store].into_iter().enumerate() {
            super::super::make_folder(&store.home).unwrap();
            append(store, "a", format!("{{\"at\":\"{n}\"}}").as_bytes(), false).unwrap();
        }
        let read: Vec<Dated> = read(store, "a", "");
        let times: Vec<&str> = read.iter().map(|line| line.at.as_str()).collect();
        assert_eq!(times, ["0", "1", "2", "3"]);
    }
}
