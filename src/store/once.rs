//! What is done once for a state of an instance, and not again at a stop at which nothing has changed since.

use std::io;

use super::journal::Journal;
use crate::hash;

/// What that is, as the journal names it.
#[derive(Debug)]
pub(crate) struct Once(&'static str);

/// A stop has waited for a program in the background, whatever the state.
pub(crate) const PROGRAM: Once = Once("program");
/// The agent is sent back to run the review that is due.
pub(crate) const SEND_BACK: Once = Once("sent-back");

impl Once {
    /// Returns whether it was last done for the state with this text.
    pub(crate) fn is_for(&self, journal: &Journal, state: &[u8]) -> bool {
        journal.facts().is_done(self.0, state)
    }

    /// Forgets that it was done, so that it can be done again.
    pub(crate) fn forget(&self, journal: &Journal) {
        if journal.facts().done.contains_key(self.0) {
            let _ = journal.note_done(self.0, None);
        }
    }

    /// Records that it is done for it.
    pub(crate) fn note(&self, journal: &Journal, state: &[u8]) -> io::Result<()> {
        journal.note_done(self.0, Some(hash::number(state)))
    }
}
