//! What has happened to an instance since its last receipt: lines of JSON, which become a receipt when a cycle ends.
//!
//! They are kept twice: by this machine, where no cleaning of the work tree removes them, and in the instance's directory,
//! so that they go where its state goes. Whoever goes on on another machine, or in another branch, goes on with the record. Of
//! a line that both have, this machine's counts; and what this machine has not written is known as such.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Store, lines, record, recorded};
use crate::disk;
use crate::hash;

/// The file in the instance's directory. It is hidden, like others that this program keeps there.
pub(crate) const FILE: &str = ".receipts-open.jsonl";

/// The kind of the record of a line that is to be added.
const INTENDED: &str = "intended";

/// The kind of the record of the last receipt that this machine has written.
const LAST: &str = "receipt";

/// The mark of a line that this machine keeps and has not written.
const FOREIGN: &str = "foreign";

/// A line.
#[derive(Debug, Clone)]
pub(crate) struct KeptLine<T> {
    pub(crate) entry: T,
    /// This machine has written it.
    pub(crate) is_own: bool,
    /// The instance's directory has it.
    pub(crate) is_here: bool,
}

/// A line that will be added once a file has been written.
#[derive(Serialize, Deserialize)]
struct Intended {
    /// The file in the instance's directory.
    file: String,
    /// A number for its new text.
    text: u64,
    line: Json,
}

/// Keeps a line until [`add`] adds it: where `file` in the instance's directory has this text, it counts. So a process that is
/// killed in between has done both or neither.
pub(crate) fn intend<T: Serialize>(
    (store, instance): (&Store, &str),
    dir: &Path,
    (name, text): (&str, &[u8]),
    entry: &T,
) -> io::Result<()> {
    if let Some(line) = intended((store, instance), dir) {
        // The one before was killed.
        add((store, instance), dir, &line, &HashSet::new())?;
    }
    let intended = Intended {
        file: name.to_owned(),
        text: hash::number(text),
        line: serde_json::to_value(entry)?,
    };
    record::write_for_now(store, instance, INTENDED, intended)
}

/// Returns the line that a process has kept and not added, if what it is about has been done.
fn intended((store, instance): (&Store, &str), dir: &Path) -> Option<Json> {
    let intended: Intended = record::read(store, instance, INTENDED)?;
    let text = disk::read_regular(&dir.join(&intended.file)).ok()??;
    (hash::number(&text) == intended.text).then_some(intended.line)
}

/// Adds a line, after the others in the directory except those that are set `aside`. The caller holds the write lock.
pub(crate) fn add<T: Serialize>(
    (store, instance): (&Store, &str),
    dir: &Path,
    entry: &T,
    aside: &HashSet<String>,
) -> io::Result<()> {
    let entry = serde_json::to_value(entry)?;
    let mut lines = all((store, instance), dir);
    lines.retain(|(line, _)| at(line) != at(&entry));
    let written: Vec<Json> = lines::read(store, &recorded(instance));
    let written: HashSet<&str> = written.iter().map(at).collect();
    for (line, known) in lines.iter().filter(|(line, _)| !written.contains(at(line))) {
        let mut line = line.clone();
        if known.is_none() {
            // What came from another machine is kept, too: whoever changes it later is noticed.
            line[FOREIGN] = Json::Bool(true);
        }
        lines::append(store, &recorded(instance), line.to_string().as_bytes())?;
    }
    // A process that was killed before it could remove what it intended has added that line.
    if !written.contains(at(&entry)) {
        lines::append(store, &recorded(instance), entry.to_string().as_bytes())?;
    }
    record::remove(store, instance, INTENDED);
    if !dir.is_dir() {
        return Ok(());
    }
    lines.push((entry, Some(true)));
    let lines = lines.iter().filter(|(line, _)| !aside.contains(at(line)));
    let text: String = lines.map(|(line, _)| format!("{line}\n")).collect();
    disk::replace_for_now(&dir.join(FILE), |file| io::Write::write_all(file, text.as_bytes()))
}

/// Returns the lines in the order in which this machine has written or found them. Their times may be anything.
pub(crate) fn read<T: DeserializeOwned>(instance: (&Store, &str), dir: &Path) -> Vec<KeptLine<T>> {
    let here: Vec<Json> = in_folder(dir);
    let here: HashSet<&str> = here.iter().map(at).collect();
    let lines = all(instance, dir).into_iter();
    let lines = lines.filter_map(|(line, known)| {
        Some(KeptLine {
            is_own: known == Some(true),
            is_here: here.contains(at(&line)),
            entry: serde_json::from_value(line).ok()?,
        })
    });
    lines.collect()
}

/// Returns those lines that are in the directory.
pub(crate) fn in_folder<T: DeserializeOwned>(dir: &Path) -> Vec<T> {
    let text = disk::read_regular(&dir.join(FILE)).ok().flatten();
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    lines.collect()
}

/// Returns the hash of the file in the directory if another hand has changed a line that this machine knows; `None` otherwise.
/// Such a line does not count: that of this machine does.
pub(crate) fn altered(instance: (&Store, &str), dir: &Path) -> Option<String> {
    let known = all(instance, dir);
    let known: HashMap<&str, &Json> = known.iter().map(|(line, _)| (at(line), line)).collect();
    let there: Vec<Json> = in_folder(dir);
    let is_other = |line: &Json| known.get(at(line)).is_some_and(|known| *known != line);
    let text = there.iter().any(is_other).then(|| disk::read_regular(&dir.join(FILE)));
    text?.ok()?.map(|text| hash::of(&text))
}

/// Returns the lines in the order in which this machine has written or found them, and whether it has written each; none: only
/// the directory has it.
fn all((store, instance): (&Store, &str), dir: &Path) -> Vec<(Json, Option<bool>)> {
    let own: Vec<Json> = lines::read(store, &recorded(instance));
    let intended = intended((store, instance), dir);
    let intended = intended.filter(|new| own.iter().all(|line| at(line) != at(new)));
    let own = own.into_iter().chain(intended);
    let mut all: Vec<_> = own
        .filter(|line| !at(line).is_empty())
        .map(|mut line| {
            let fields = line.as_object_mut();
            let is_foreign = fields.and_then(|fields| fields.shift_remove(FOREIGN));
            (line, Some(is_foreign.is_none()))
        })
        .collect();
    let known: HashSet<String> = all.iter().map(|(line, _)| at(line).to_owned()).collect();
    let others: Vec<Json> = in_folder(dir);
    // A line without a time says nothing.
    let others =
        (others.into_iter()).filter(|line| !at(line).is_empty() && !known.contains(at(line)));
    all.extend(others.map(|line| (line, None)));
    all
}

/// Returns when a line was written. No two have the same time.
fn at(line: &Json) -> &str {
    line["at"].as_str().unwrap_or_default()
}

/// Returns the hash of the last receipt that this machine has written.
pub(crate) fn last((store, instance): (&Store, &str)) -> Option<String> {
    record::read(store, instance, LAST)
}

/// Keeps the hash of the last receipt. The caller holds the write lock.
pub(crate) fn keep_last((store, instance): (&Store, &str), sha256: &str) -> io::Result<()> {
    record::write(store, instance, LAST, sha256)
}

/// Removes the lines: a receipt has them. If some are of another checkout, this machine keeps what it has: the receipt says
/// which of them are in it. The caller holds the write lock.
pub(crate) fn clear((store, instance): (&Store, &str), dir: &Path, is_elsewhere: bool) {
    record::remove(store, instance, INTENDED);
    record::remove(store, instance, LAST);
    if !is_elsewhere {
        lines::remove(store, &recorded(instance));
    }
    // What stays is older than the receipt, and does not count.
    let _ = std::fs::remove_file(dir.join(FILE));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    /// Wherever the process is killed, the file and the record say the same.
    #[test]
    fn a_line_that_was_not_added_counts_if_its_file_was_written() {
        let home = tempfile::tempdir().unwrap();
        let store = &Store::of(home.path(), "home");
        let dir = &home.path().join("a");
        let of = (store, "a");
        let [first, second, third] = ["1", "2", "3"].map(|at| json!({ "at": at }));
        let entries = || read::<Json>(of, dir).into_iter().map(|kept| kept.entry);
        let none = HashSet::new();
        fs::create_dir(dir).unwrap();
        fs::write(dir.join("state"), "old").unwrap();
        add(of, dir, &first, &none).unwrap();

        intend(of, dir, ("state", b"new"), &second).unwrap();
        assert!(entries().eq([first.clone()]), "nothing was done");
        fs::write(dir.join("state"), "new").unwrap();
        assert!(entries().eq([first.clone(), second.clone()]));
        assert!(read::<Json>(of, dir).iter().all(|kept| kept.is_own));

        // Whoever comes next adds both, even if the file has changed since.
        add(of, dir, &third, &none).unwrap();
        fs::write(dir.join("state"), "newer").unwrap();
        let all = [first.clone(), second.clone(), third.clone()];
        assert!(entries().eq(all.clone()));
        assert_eq!(in_folder::<Json>(dir), all);

        // The same line is added once, and the one before is not lost.
        let [fourth, fifth] = ["4", "5"].map(|at| json!({ "at": at }));
        intend(of, dir, ("state", b"last"), &fourth).unwrap();
        add(of, dir, &fourth, &none).unwrap();
        intend(of, dir, ("state", b"last"), &fourth).unwrap();
        fs::write(dir.join("state"), "last").unwrap();
        intend(of, dir, ("state", b"very last"), &fifth).unwrap();
        assert_eq!(entries().count(), 4);
        fs::write(dir.join("state"), "very last").unwrap();
        add(of, dir, &fifth, &none).unwrap();
        assert_eq!(entries().count(), 5);
        let written: Vec<Json> = lines::read(store, &recorded("a"));
        assert_eq!(written.iter().filter(|line| !at(line).is_empty()).count(), 5);
    }
}
