//! What has happened to an instance since its last receipt: lines of JSON, which become a receipt when a cycle ends.
//!
//! They are kept twice: by this machine, where no cleaning of the work tree removes them, and in the instance's directory,
//! so that they go where its state goes. Whoever goes on on another machine goes on with the record.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::{Store, lines};
use crate::disk;

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

fn all((store, instance): (&Store, &str), dir: &Path) -> Vec<Json> {
    let mut all: Vec<Json> = in_folder(dir);
    let known: HashSet<String> = all.iter().map(Json::to_string).collect();
    let own: Vec<Json> = lines::read(store, &file(instance));
    let own = own
        .into_iter()
        .filter(|line| line["at"].is_string() && !known.contains(&line.to_string()));
    all.extend(own);
    all.sort_by_cached_key(|line| line["at"].as_str().unwrap_or_default().to_owned());
    all
}

/// Removes the lines: a receipt has them. The caller holds the write lock.
pub(crate) fn clear((store, instance): (&Store, &str), dir: &Path) {
    lines::remove(store, &file(instance));
    // What stays is older than the receipt, and does not count.
    let _ = std::fs::remove_file(dir.join(FILE));
}
