//! What the entry of the hook that runs reviews beside the turn does at a stop: the other entry waits for that.

use std::io;

use serde::{Deserialize, Serialize};

use super::{Store, record};
use crate::clock;

const KIND: &str = "beside";

/// What it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Does {
    /// It is about to run a review.
    TakesOver,
    /// It does not wait until a review can run.
    Leaves,
}

/// Records what it does.
pub(crate) fn say(store: &Store, instance: &str, does: Does) -> io::Result<()> {
    record::write_for_now(store, instance, KIND, (clock::now(), does))
}

/// Returns what it has recorded since that second, once: at the next stop it says that again.
pub(crate) fn take(store: &Store, instance: &str, since: u64) -> Option<Does> {
    let (at, does): (u64, Does) = record::read(store, instance, KIND)?;
    record::remove(store, instance, KIND);
    (at >= since).then_some(does)
}
