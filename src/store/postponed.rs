//! Until when no reviewer can run: a usage limit is reached, or the reviewer's service is down.
//!
//! The limit belongs to a person's account on this machine, not to one plan. So there is one record for all instances in a
//! home.

use std::io;

use super::{Store, record};
use crate::clock::{self, Moment};

const NAME: &str = "reviewer";
const KIND: &str = "postponed";

/// Records it.
pub(crate) fn write(store: &Store, until: &Moment) -> io::Result<()> {
    record::write(store, NAME, KIND, until)
}

/// Returns it in words; `None` if a reviewer can run.
pub(crate) fn read(store: &Store) -> Option<String> {
    let until: Moment = record::read(store, NAME, KIND)?;
    (until.at > clock::now()).then_some(until.text)
}

/// Removes the record, so that the next stop tries again.
pub(crate) fn lift(store: &Store) {
    record::remove(store, NAME, KIND);
}
