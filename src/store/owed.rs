//! The answer to a stop, kept until the host has it.
//!
//! The state is written before the answer is printed. If the hook is killed in between, or its host is gone, the plan
//! would wait for an agent that knows nothing about it. So the answer is stored before the state
//! is written, and repeated at the next stop if the state has not changed since.

use std::io;

use serde::{Deserialize, Serialize};

use super::{Store, record};
use crate::clock;
use crate::engine::decision::{Answer, Decision};
use crate::hash;
use crate::os::process::is_running;

const KIND: &str = "owed";

/// For this many seconds, a hook that is still running is expected to give its answer.
const GRACE: u64 = 60;

/// The answer to a stop.
#[derive(Debug, Serialize, Deserialize)]
struct Owed {
    /// The state that it belongs to.
    state: u64,
    /// The hook that will give it.
    #[serde(default)]
    hook: u32,
    /// When it was stored, in seconds since 1970.
    #[serde(default)]
    left: u64,
    block: Option<String>,
    messages: Vec<String>,
    /// Why the user is called.
    #[serde(default)]
    calls: Vec<String>,
}

impl Owed {
    /// Returns whether the hook is printing the answer now. (If another process has its id by now, it won't for long.)
    fn is_being_given(&self) -> bool {
        clock::now().saturating_sub(self.left) < GRACE && is_running(self.hook)
    }
}

/// Returns whether there is an answer that the host may not have received.
pub(crate) fn is_left(store: &Store, instance: &str) -> bool {
    record::read::<Owed>(store, instance, KIND).is_some()
}

/// An answer that the host has not received yet.
#[derive(Debug)]
pub(crate) struct Debt {
    store: Store,
    instance: String,
}

impl Debt {
    /// Stores the answer of `decision`, which belongs to the state with this `text`. The caller holds the write lock.
    pub(crate) fn leave(
        store: &Store,
        instance: &str,
        text: &[u8],
        decision: &Decision,
    ) -> io::Result<Self> {
        let owed = Owed {
            state: hash::number(text),
            hook: std::process::id(),
            left: clock::now(),
            block: match &decision.answer {
                Answer::Block(reason) => Some(reason.clone()),
                _ => None,
            },
            messages: decision.messages.clone(),
            calls: decision.calls.clone(),
        };
        // After a power failure, no host is waiting for it.
        record::write_for_now(store, instance, KIND, owed)?;
        Ok(Self::of(store, instance))
    }

    /// Returns the answer that is still owed for the state with this `text`. An answer for another state is removed.
    pub(crate) fn find(store: &Store, instance: &str, text: &[u8]) -> Option<(Self, Decision)> {
        let owed: Owed = record::read(store, instance, KIND)?;
        let debt = Self::of(store, instance);
        if owed.state != hash::number(text) {
            debt.settle();
            return None;
        }
        // It may have given it and ended in between: then the answer is gone.
        if owed.is_being_given() || record::read::<Owed>(store, instance, KIND).is_none() {
            return None;
        }
        let decision = Decision {
            messages: owed.messages,
            calls: owed.calls,
            answer: owed.block.map_or(Answer::Allow, Answer::Block),
            ..Decision::default()
        };
        Some((debt, decision))
    }

    fn of(store: &Store, instance: &str) -> Self {
        Self { store: store.clone(), instance: instance.to_owned() }
    }

    /// Removes the answer: the host has it.
    pub(crate) fn settle(self) {
        record::remove(&self.store, &self.instance, KIND);
    }
}
