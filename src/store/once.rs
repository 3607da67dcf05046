//! What is done once for a state of an instance, and not again at a stop at which nothing has changed since.

use std::io;

use serde::{Deserialize, Serialize};

use super::{Store, record};
use crate::hash;

/// What that is: its kind of record.
#[derive(Debug)]
pub(crate) struct Once(&'static str);

/// The user is called, or has led to the state.
pub(crate) const CALL: Once = Once("called");
/// A stop has waited for a program in the background, whatever the state.
pub(crate) const PROGRAM: Once = Once("program");
/// The agent is sent back to run the review that is due.
pub(crate) const SEND_BACK: Once = Once("sent-back");

#[derive(Debug, Serialize, Deserialize)]
struct Done {
    state: u64,
    /// `None` if it needed no reason.
    why: Option<String>,
}

impl Once {
    fn read(&self, store: &Store, instance: &str, state: &[u8]) -> Option<Done> {
        let done: Option<Done> = record::read(store, instance, self.0);
        done.filter(|done| done.state == hash::number(state))
    }

    /// Returns whether it was last done for the state with this text.
    pub(crate) fn is_for(&self, store: &Store, instance: &str, state: &[u8]) -> bool {
        self.read(store, instance, state).is_some()
    }

    /// Returns why it was done for it.
    pub(crate) fn why(&self, store: &Store, instance: &str, state: &[u8]) -> Option<String> {
        self.read(store, instance, state)?.why
    }

    /// Forgets that it was done, so that it can be done again.
    pub(crate) fn forget(&self, store: &Store, instance: &str) {
        record::remove(store, instance, self.0);
    }

    /// Records that it is done for it.
    pub(crate) fn note(
        &self,
        store: &Store,
        instance: &str,
        state: &[u8],
        why: Option<&str>,
    ) -> io::Result<()> {
        let (state, why) = (hash::number(state), why.map(str::to_owned));
        record::write_for_now(store, instance, self.0, Done { state, why })
    }
}

/// The kind of the record of what was said.
const SAID: &str = "said";

/// Returns what was said about the files of an instance.
pub(crate) fn said(store: &Store, instance: &str) -> Vec<String> {
    record::read(store, instance, SAID).unwrap_or_default()
}

/// Records that it was, and what is said now.
pub(crate) fn say(store: &Store, instance: &str, said: Vec<String>, now: Vec<String>) {
    let new: Vec<String> = now.into_iter().filter(|text| !said.contains(text)).collect();
    if !new.is_empty() {
        let _ = record::write_for_now(store, instance, SAID, [said, new].concat());
    }
}
