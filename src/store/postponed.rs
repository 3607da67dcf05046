//! Until when reviewers cannot run: a usage limit is reached, or their service is down. And when the user last asked for
//! another try.
//!
//! A limit belongs to a person's account with one vendor, not to one plan. So there is one record for each invocation and all
//! homes in a work tree, and one of the other try for all instances in a home.

use std::io;
use std::time::Duration;

use super::{Store, journal, record};
use crate::clock;

const NAME: &str = "reviewer";
const KIND: &str = "postponed";
const RETRIED: &str = "retried";

/// Records it.
pub(crate) fn write(store: &Store, invocation: &str, until: u64) -> io::Result<()> {
    record::write(&store.shared(), invocation, KIND, until)
}

/// Returns it; `None` if a reviewer of this invocation can run.
pub(crate) fn read(store: &Store, invocation: &str) -> Option<u64> {
    let (at, until) = record::try_read::<u64>(&store.shared(), invocation, KIND).ok()??;
    holds(at, until, clock::since_1970()).then_some(until)
}

/// Returns whether what was recorded at one time holds until another one. A clock that was ahead then is no reason to wait.
fn holds(at: Duration, until: u64, now: Duration) -> bool {
    at <= now && until > now.as_secs()
}

/// Lets the next stop try again: the records are removed, and no review that has failed so far counts.
pub(crate) fn lift(store: &Store) -> io::Result<()> {
    let shared = store.shared();
    record::names(&shared, KIND).iter().for_each(|name| record::remove(&shared, name, KIND));
    forgive(store)
}

/// From now on, no review that has failed so far counts.
pub(crate) fn forgive(store: &Store) -> io::Result<()> {
    record::write(store, NAME, RETRIED, journal::now())
}

/// Returns when that was, in RFC 3339.
pub(crate) fn retried(store: &Store) -> Option<String> {
    record::read(store, NAME, RETRIED).filter(|at| *at <= journal::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_ahead_postpones_nothing() {
        let now = Duration::from_secs(1_000_000_000);
        let ahead = now + Duration::from_secs(400 * 24 * 60 * 60);
        for (at, until, expected) in
            [(now, now, false), (now, now + Duration::from_secs(1), true), (ahead, ahead, false)]
        {
            assert_eq!(holds(at, until.as_secs(), now), expected);
        }
    }
}
