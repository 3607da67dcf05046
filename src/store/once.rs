//! What is done once for a state of an instance, and not again at a stop at which nothing has changed since.

use std::io;

use super::{Store, owed, record};

/// What that is: its kind of record.
#[derive(Debug)]
pub(crate) struct Once(&'static str);

/// The user is called.
pub(crate) const CALL: Once = Once("called");
/// The agent is sent back to run the review that is due.
pub(crate) const SEND_BACK: Once = Once("sent-back");

impl Once {
    /// Returns whether it was last done for the state with this text.
    pub(crate) fn is_for(&self, store: &Store, instance: &str, state: &[u8]) -> bool {
        record::read(store, instance, self.0) == Some(owed::mark(state))
    }

    /// Records that it is done for it.
    pub(crate) fn note(&self, store: &Store, instance: &str, state: &[u8]) -> io::Result<()> {
        record::write_for_now(store, instance, self.0, owed::mark(state))
    }
}
