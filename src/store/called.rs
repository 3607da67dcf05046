//! The state for which the user was called last: a stop at which nothing has changed since calls nobody again.

use std::io;

use super::{Store, owed, record};

const KIND: &str = "called";

/// Returns whether the user was called last for the state with this text.
pub(crate) fn is_for(store: &Store, instance: &str, state: &[u8]) -> bool {
    record::read(store, instance, KIND) == Some(owed::mark(state))
}

/// Records that the user is called for it.
pub(crate) fn note(store: &Store, instance: &str, state: &[u8]) -> io::Result<()> {
    record::write_for_now(store, instance, KIND, owed::mark(state))
}
