//! Until when no reviewer can run: a usage limit is reached, or the reviewer's service is down.
//!
//! The limit belongs to a person's account on this machine, not to one plan. So there is one record in the lock folder, for
//! all instances in a home.

use std::io;
use std::path::Path;

use super::record;
use crate::files::clock::{self, Moment};

const NAME: &str = "reviewer";
const KIND: &str = "postponed";

/// Records it.
pub(crate) fn write(home: &Path, until: &Moment) -> io::Result<()> {
    record::write(home, NAME, KIND, until)
}

/// Returns it in words; `None` if a reviewer can run.
pub(crate) fn read(home: &Path) -> Option<String> {
    let until: Moment = record::read(home, NAME, KIND)?;
    (until.at > clock::now()).then_some(until.text)
}

/// Removes the record, so that the next stop tries again.
pub(crate) fn lift(home: &Path) {
    record::remove(home, NAME, KIND);
}
