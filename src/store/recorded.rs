//! What has happened to an instance since its last receipt: lines of JSON, which become a receipt when a cycle ends.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Store, lines};

/// Returns the name of the file. No instance is called that.
fn file(instance: &str) -> String {
    format!("{instance}..recorded")
}

/// Adds a line. The caller holds the write lock.
pub(crate) fn add<T: Serialize>(store: &Store, instance: &str, entry: &T) -> io::Result<()> {
    lines::append(store, &file(instance), &serde_json::to_vec(entry)?)
}

/// Returns the lines, oldest first.
pub(crate) fn read<T: DeserializeOwned>(store: &Store, instance: &str) -> Vec<T> {
    lines::read(store, &file(instance))
}

/// Removes the lines: a receipt has them. The caller holds the write lock.
pub(crate) fn clear(store: &Store, instance: &str) {
    lines::remove(store, &file(instance));
}
