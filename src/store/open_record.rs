//! What has happened to an instance since its last receipt: lines of JSON, which become a receipt when a cycle ends.
//!
//! They are kept twice: by this machine, where no cleaning of the work tree removes them, and in the instance's directory,
//! so that they go where its state goes. Whoever goes on on another machine goes on with the record. Of a line that both have,
//! this machine's counts.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::{Store, lines};
use crate::disk;
use crate::hash;

/// The file in the instance's directory. It is hidden, like others that this program keeps there.
pub(crate) const FILE: &str = ".receipts-open.jsonl";

/// Returns the name of the file of this machine. No instance is called that.
fn file(instance: &str) -> String {
    format!("{instance}..recorded")
}

/// Adds a line. The caller holds the write lock.
pub(crate) fn add<T: Serialize>(
    (store, instance): (&Store, &str),
    dir: &Path,
    entry: &T,
) -> io::Result<()> {
    // What came from another machine is kept, too: whoever changes it later is noticed.
    for line in others(&own(store, instance), dir) {
        lines::append(store, &file(instance), line.to_string().as_bytes())?;
    }
    lines::append(store, &file(instance), &serde_json::to_vec(entry)?)?;
    let mut text = String::new();
    for line in all((store, instance), dir) {
        text.push_str(&line.to_string());
        text.push('\n');
    }
    if !dir.is_dir() {
        return Ok(());
    }
    disk::replace_for_now(&dir.join(FILE), |file| {
        io::Write::write_all(file, text.as_bytes())
    })
}

/// Returns the lines, oldest first.
pub(crate) fn read<T: DeserializeOwned>(instance: (&Store, &str), dir: &Path) -> Vec<T> {
    let lines = all(instance, dir).into_iter();
    let lines = lines.filter_map(|line| serde_json::from_value(line).ok());
    lines.collect()
}

/// Returns those lines that are in the directory.
pub(crate) fn in_folder<T: DeserializeOwned>(dir: &Path) -> Vec<T> {
    let text = disk::read_regular(&dir.join(FILE)).ok().flatten();
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines.collect()
}

/// Returns the hash of the file in the directory if another hand has changed a line that this machine knows; `None` otherwise.
/// Such a line does not count: that of this machine does.
pub(crate) fn altered((store, instance): (&Store, &str), dir: &Path) -> Option<String> {
    let own = own(store, instance);
    let own: HashMap<&str, &Json> = own.iter().map(|line| (at(line), line)).collect();
    let there: Vec<Json> = in_folder(dir);
    let is_other = |line: &Json| own.get(at(line)).is_some_and(|own| *own != line);
    let text = there
        .iter()
        .any(is_other)
        .then(|| disk::read_regular(&dir.join(FILE)));
    text?.ok()?.map(|text| hash::of(&text))
}

fn all((store, instance): (&Store, &str), dir: &Path) -> Vec<Json> {
    let mut all = own(store, instance);
    all.extend(others(&all, dir));
    all.sort_by_cached_key(|line| at(line).to_owned());
    all
}

/// Returns the lines of this machine.
fn own(store: &Store, instance: &str) -> Vec<Json> {
    let mut own: Vec<Json> = lines::read(store, &file(instance));
    own.retain(|line| !at(line).is_empty());
    own
}

/// Returns those lines in the directory that are not among `own`: they came from another machine.
fn others(own: &[Json], dir: &Path) -> Vec<Json> {
    let known: HashSet<&str> = own.iter().map(at).collect();
    let mut others: Vec<Json> = in_folder(dir);
    others.retain(|line| !known.contains(at(line)));
    others
}

/// Returns when a line was written. No two have the same time.
fn at(line: &Json) -> &str {
    line["at"].as_str().unwrap_or_default()
}

/// Removes the lines: a receipt has them. The caller holds the write lock.
pub(crate) fn clear((store, instance): (&Store, &str), dir: &Path) {
    lines::remove(store, &file(instance));
    // What stays is older than the receipt, and does not count.
    let _ = std::fs::remove_file(dir.join(FILE));
}
