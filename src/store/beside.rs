//! When the entry of the hook that runs reviews beside the turn has last taken one over: the other entry waits for that.

use std::io;

use super::{Store, record};
use crate::clock;

const KIND: &str = "beside";

/// Records that a review is about to run beside the turn.
pub(crate) fn take_over(store: &Store, instance: &str) -> io::Result<()> {
    record::write_for_now(store, instance, KIND, clock::now())
}

/// Returns whether one has been taken over since that second.
pub(crate) fn is_taken_over(store: &Store, instance: &str, since: u64) -> bool {
    let at: Option<u64> = record::read(store, instance, KIND);
    at.is_some_and(|at| at >= since)
}
