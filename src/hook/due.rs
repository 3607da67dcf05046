//! What is done once the host has the answer, and not before: if this process is killed in between, what the answer says is
//! said again, and not never.

use std::sync::Arc;

use crate::store::facts::Said;
use crate::store::journal::Journal;

/// What is done once the host has the answer.
#[derive(Default)]
pub(super) struct AfterAnswer {
    once: Vec<Box<dyn FnOnce()>>,
    owed: Vec<(Arc<Journal>, String)>,
}

impl AfterAnswer {
    /// Adds something that is done then.
    pub(super) fn once(&mut self, done: impl FnOnce() + 'static) {
        self.once.push(Box::new(done));
    }

    /// Adds an answer that is repeated until then.
    pub(super) fn owe(&mut self, journal: &Arc<Journal>, owed: Option<String>) {
        self.owed.extend(owed.map(|at| (Arc::clone(journal), at)));
    }

    /// Does it: the host has the answer.
    pub(super) fn settle(self) {
        self.once.into_iter().for_each(|done| done());
        for (journal, at) in self.owed {
            journal.say(Said { owed: Some(at), ..Said::default() });
        }
    }

    /// Does what is not owed: the answer waits for someone who may never get it, and then the next stop gives it.
    pub(super) fn settle_but_owe(mut self) {
        self.owed.clear();
        self.settle();
    }
}
