//! The file of a journal: lines of JSON that any number of processes can append to at the same time.
//!
//! A line starts with a line break and is written in one call: a process that is killed in the middle leaves an
//! incomplete line, and the next one starts on a line of its own. The first line of the file identifies the file,
//! because a file that came with the project is not trusted. Each folder of the store may have such a file.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Store;
use super::facts::{self, ENTER, Entry, Fact, Facts, RUN};
use crate::disk;
use crate::os::file::{is_at, is_ours};
use crate::os::regular::open_to_append;

/// The extension of the file.
const KIND: &str = "jsonl";

/// After this many bytes, a line with the facts so far is added.
const OFTEN: u64 = 32 * 1024;

/// How many bytes at the end of a file have such a line, most of the time.
const TAIL: u64 = 2 * OFTEN;

/// What a line has that says what follows from those before it. In a text, there would be a backslash before each quote.
const FACTS: &str = r#""line":"facts""#;

/// A file that is larger is not read.
const LIMIT: u64 = 512 * 1024 * 1024;

/// How often to look for a file that other processes are replacing.
const TRIES: usize = 16;

/// The first line, which identifies the file.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    inode: u64,
}

/// The parts of a line by which it is known whether it counts, and by which the lines of two files are merged.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tag {
    line: String,
    event: String,
    at: String,
}

/// Returns whether a line is one that is written only where no sandbox of an agent can write: a review and what leads to it, and what a
/// hook has decided.
fn is_protected(line: &[u8]) -> bool {
    serde_json::from_slice(line).map_or(true, |Tag { line, event, .. }| match &*line {
        "decision" => event != "next" && ![ENTER, RUN].iter().any(|it| event.starts_with(it)),
        line => ["review", "gate", "began", "aside", "facts"].contains(&line),
    })
}

/// Appends a line to the file of `name`. If it `is_kept`, the disk has it then.
pub(super) fn append(store: &Store, name: &str, line: &[u8], is_kept: bool) -> io::Result<()> {
    let mut text = Vec::with_capacity(line.len() + 1);
    text.push(b'\n');
    text.extend_from_slice(line);
    // A disk that is full may still open it.
    store.write(
        || is_protected(line),
        |folder| {
            let mut file = open(folder, name)?;
            let written = file.write(&text)?;
            // The rest would become a line of its own, mixed with the lines of others.
            match written == text.len() {
                true if is_kept => file.sync_data(),
                true => Ok(()),
                false => Err(ErrorKind::WriteZero.into()),
            }
        },
    )
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

/// Returns the lines that are `wanted` and can be read as this type, oldest first.
pub(super) fn read<T: DeserializeOwned>(
    store: &Store,
    name: &str,
    wanted: impl Fn(&str) -> bool,
) -> Vec<T> {
    let texts: Vec<String> = files(store, name).iter().map(whole).collect();
    let lines = merged(&texts).into_iter().filter(|line| wanted(line));
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns the files of `name` that were made on this machine, and whether each is the inbox: where a sandbox writes.
fn files(store: &Store, name: &str) -> Vec<(File, Metadata, bool)> {
    let files = store.folders().filter_map(|folder| {
        let (file, meta) = believed(folder, name)?;
        let private = store.private.as_deref().filter(|it| *it != folder);
        // What is older than the repository is from before there was one.
        let git_dir = private.and_then(|it| it.ancestors().nth(2)?.metadata().ok());
        let born = |meta: &Metadata| meta.created().ok();
        let is_inbox = private.is_some() && git_dir.is_none_or(|it| born(&it) <= born(&meta));
        Some((file, meta, is_inbox))
    });
    files.collect()
}

/// Returns the lines of these texts, oldest first.
fn merged(texts: &[String]) -> Vec<&str> {
    let mut lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
    if texts.len() > 1 {
        lines.sort_by_cached_key(|line| serde_json::from_str::<Tag>(line).unwrap_or_default().at);
    }
    lines
}

/// Which files a reader has read, and how much of each.
pub(super) type Version = Vec<(u64, u64)>;

/// Returns what is there to be read now.
pub(super) fn version(store: &Store, name: &str) -> Version {
    let paths = store.folders().map(|folder| super::path(folder, name, KIND));
    paths.filter_map(|path| path.metadata().ok()).map(|meta| version_of(&meta)).collect()
}

fn version_of(meta: &Metadata) -> (u64, u64) {
    (meta.ino(), meta.len())
}

/// Returns a folder in which the file cannot be read, and why.
pub(super) fn unreadable(store: &Store, name: &str) -> Option<(PathBuf, io::Error)> {
    store.folders().find_map(|folder| {
        let error = super::open_existing(folder, name, KIND).err()?;
        let is_absent = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        (!is_absent).then(|| (folder.to_owned(), error))
    })
}

/// Returns a file of `name` that was not made here, or that somebody has changed.
pub(super) fn misfit(store: &Store, name: &str) -> Option<PathBuf> {
    store.folders().find_map(|folder| {
        let path = super::path(folder, name, KIND);
        (path.symlink_metadata().is_ok() && believed(folder, name).is_none()).then_some(path)
    })
}

/// The facts that follow from the files of one name.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) facts: Arc<Facts>,
    /// They follow from this many bytes of the file, of which many had to be read; `None` if few had, or if there is another
    /// file, too.
    to: Option<u64>,
}

/// Returns the facts that follow from the files of `name`, and which files have been read.
pub(super) fn folded(store: &Store, name: &str) -> (Version, Folded) {
    let files = files(store, name);
    let version = files.iter().map(|(_, meta, _)| version_of(meta)).collect();
    let (facts, to) = if let [(file, meta, false)] = &files[..] {
        let end = meta.len();
        let (facts, start) = last_facts(file, end).unwrap_or_default();
        let facts = facts::fold(facts, text(file, start, end).lines());
        (facts, (end.saturating_sub(start) >= OFTEN).then_some(end))
    } else {
        let texts: Vec<String> = files.iter().map(whole).collect();
        (facts::fold(Facts::default(), merged(&texts).into_iter()), None)
    };
    (version, Folded { facts: Arc::new(facts), to })
}

/// Returns what the last line with facts has, and after which byte the others follow; `None` if the end of the file has no such
/// line.
fn last_facts(file: &File, end: u64) -> Option<(Facts, u64)> {
    if end < OFTEN {
        return None;
    }
    let tail = text(file, end.saturating_sub(TAIL), end);
    let start = tail[..tail.rfind(FACTS)?].rfind('\n')? + 1;
    let entry: Entry = serde_json::from_str(tail[start..].lines().next()?).ok()?;
    match entry.fact {
        Fact::Facts { to, of } => Some((*of, to)),
        _ => None,
    }
}

/// Returns the text of a file between these bytes; empty if it cannot be read.
fn text(file: &File, start: u64, end: u64) -> String {
    let mut bytes = vec![0; usize::try_from(end.saturating_sub(start)).unwrap_or_default()];
    if file.read_exact_at(&mut bytes, start).is_err() {
        return String::new();
    }
    String::from_utf8(bytes)
        .unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned())
}

/// Adds a line with what is known, if much had to be read for it. Whatever others add meanwhile follows.
pub(super) fn sum_up(store: &Store, name: &str, at: String, folded: Folded) {
    if let Folded { facts, to: Some(to) } = folded {
        let fact = Fact::Facts { to, of: Box::new(Arc::unwrap_or_clone(facts)) };
        let facts = Entry { at, fact };
        let line = serde_json::to_vec(&facts).unwrap_or_default();
        // One that is too long would not be found.
        if (line.len() as u64) < OFTEN {
            let _ = append(store, name, &line, false);
        }
    }
}

/// Returns the lines of a file that count, each with a line break after it.
fn whole((file, meta, is_inbox): &(File, Metadata, bool)) -> String {
    let text = text(file, 0, meta.len());
    let lines = text.lines().filter(|line| !is_inbox || !is_protected(line.as_bytes()));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Opens the file for appending; starts a new one if there is none of ours.
fn open(folder: &Path, name: &str) -> io::Result<File> {
    let path = super::path(folder, name, KIND);
    for _ in 0..TRIES {
        let (file, meta) = match open_to_append(&path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make(&path)?;
                continue;
            }
            Err(error) => return Err(error),
        };
        if is_believed(&file, &meta) {
            return Ok(file);
        }
        // One process replaces a file that is not ours.
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => fs::remove_file(&path)?,
            _ => std::thread::yield_now(),
        }
    }
    Err(io::Error::other("it keeps being replaced"))
}

/// Creates the file with its first line; if another process creates it at the same time, that file will do.
fn make(path: &Path) -> io::Result<()> {
    let made = disk::create_for_now(path, |file| {
        // It has the user's prompts.
        file.set_permissions(Permissions::from_mode(0o600))?;
        let inode = file.metadata()?.ino();
        file.write_all(&serde_json::to_vec(&Head { inode })?)
    });
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Opens the file for reading, if it was made on this machine.
fn believed(folder: &Path, name: &str) -> Option<(File, Metadata)> {
    let (file, meta) = super::open_existing(folder, name, KIND).ok()?;
    is_believed(&file, &meta).then_some((file, meta))
}

/// Returns whether the first line of the file has the file's own number.
fn is_believed(file: &File, meta: &Metadata) -> bool {
    let mut start = [0; 64];
    let Ok(length) = file.read_at(&mut start, 0) else {
        return false;
    };
    let line = start[..length].split(|byte| *byte == b'\n').next();
    let head = line.and_then(|line| serde_json::from_slice::<Head>(line).ok());
    head.is_some_and(|head| is_ours(meta) && meta.ino() == head.inode && meta.len() < LIMIT)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    fn text(store: &Store, name: &str) -> String {
        files(store, name).last().map(whole).unwrap_or_default()
    }

    fn lines(store: &Store) -> Vec<String> {
        let text = text(store, "a");
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
        assert_eq!(text(store, "b"), "");
        append(store, "b", b"line 3", false).unwrap();
        let text = fs::read_to_string(&other).unwrap();
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["line 3"]);
    }

    /// What an agent's sandbox can write has commands and claims, and no verdict.
    #[test]
    fn two_files_are_read_as_one() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".git")).unwrap();
        let store = &Store::of(home.path(), "home");
        let outside = &Store { private: None, ..store.clone() };
        let written =
            [(store, "a"), (outside, "b"), (outside, "review"), (outside, "c"), (store, "gate")];
        for (n, (store, line)) in written.into_iter().enumerate() {
            super::super::make_folder(&store.beside).unwrap();
            let line = format!("{{\"at\":\"{n}\",\"line\":\"{line}\"}}");
            append(store, "a", line.as_bytes(), false).unwrap();
        }
        let read: Vec<Tag> = read(store, "a", |_| true);
        let lines: Vec<&str> = read.iter().map(|tag| tag.line.as_str()).collect();
        assert_eq!(lines, ["", "", "a", "b", "c", "gate"]);
    }
}
