//! Until when no reviewer can run: a usage limit is reached, or the reviewer's service is down.
//!
//! The limit belongs to a person's account on this machine, not to one plan. So it stands in the lock folder, once for
//! all instances in a home.

use std::io;
use std::path::Path;

use super::record;
use crate::files::clock::{self, Moment};

const NAME: &str = "reviewer";
const KIND: &str = "postponed";

/// Keeps it.
pub(super) fn write(home: &Path, until: &Moment) -> io::Result<()> {
    record::write(home, NAME, KIND, until)
}

/// Returns it as a person reads it; `None` if a reviewer can run.
pub(super) fn read(home: &Path) -> Option<String> {
    let until: Moment = record::read(home, NAME, KIND)?;
    (until.at > clock::now()).then_some(until.text)
}

/// The next stop tries again, whatever was said.
pub(crate) fn lift(home: &Path) {
    record::remove(home, NAME, KIND);
}
