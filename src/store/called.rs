//! The state for which the user was called last, and why: a stop at which nothing has changed since calls nobody again.

use std::io;

use serde::{Deserialize, Serialize};

use super::{Store, owed, record};

const KIND: &str = "called";

#[derive(Debug, Serialize, Deserialize)]
struct Called {
    state: u64,
    /// `None` if the user has led to this state.
    why: Option<String>,
}

fn read(store: &Store, instance: &str, state: &[u8]) -> Option<Called> {
    let called: Option<Called> = record::read(store, instance, KIND);
    called.filter(|called| called.state == owed::mark(state))
}

/// Returns whether the user was called last for the state with this text, or has led to it.
pub(crate) fn is_for(store: &Store, instance: &str, state: &[u8]) -> bool {
    read(store, instance, state).is_some()
}

/// Returns why the user was called for it.
pub(crate) fn why(store: &Store, instance: &str, state: &[u8]) -> Option<String> {
    read(store, instance, state)?.why
}

/// Records that the user is called for it, or has led to it.
pub(crate) fn note(
    store: &Store,
    instance: &str,
    state: &[u8],
    why: Option<&str>,
) -> io::Result<()> {
    let (state, why) = (owed::mark(state), why.map(str::to_owned));
    record::write_for_now(store, instance, KIND, Called { state, why })
}
