//! What is done once for a state of an instance, and not again at a stop at which nothing has changed since.

use std::io;

use super::{Store, owed, record};

/// What that is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Once {
    /// The user is called.
    Call,
    /// The agent is sent back to run the review that is due.
    SendBack,
}

impl Once {
    /// Returns whether it was last done for the state with this text.
    pub(crate) fn is_for(self, store: &Store, instance: &str, state: &[u8]) -> bool {
        record::read(store, instance, self.kind()) == Some(owed::mark(state))
    }

    /// Records that it is done for it.
    pub(crate) fn note(self, store: &Store, instance: &str, state: &[u8]) -> io::Result<()> {
        record::write_for_now(store, instance, self.kind(), owed::mark(state))
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Call => "called",
            Self::SendBack => "sent-back",
        }
    }
}
