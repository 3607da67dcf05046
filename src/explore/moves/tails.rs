//! The results of a decision from one of its parts on, each kept once.

use crate::explore::decision_tree::{Tail, over};
use crate::explore::state::number;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

impl Tail {
    /// Returns this, and after it `rest`.
    pub(super) fn then(&self, rest: &Self) -> Self {
        let is_kept = |field: usize| rest.assigned.iter().all(|(later, _)| *later != field);
        let kept = self.assigned.iter().filter(|(field, _)| is_kept(*field));
        Self {
            block: rest.block,
            fault: rest.fault,
            assigned: kept.chain(&rest.assigned).copied().collect(),
            choices: over(&self.choices, &rest.choices),
            fired: [self.fired.as_slice(), &rest.fired].concat(),
            advanced: [self.advanced.as_slice(), &rest.advanced].concat(),
            arms: [self.arms.as_slice(), &rest.arms].concat(),
            review: rest.review.or(self.review),
        }
    }
}

/// Tails by their numbers, so that each is made once.
#[derive(Debug, Default)]
pub(super) struct Tails {
    all: IndexSet<Tail, FxBuildHasher>,
    joined: FxHashMap<(u32, u32), u32>,
}

/// The tail of a decision that has done nothing, which is also the result of a part that does nothing: the first one.
pub(super) const NOTHING: u32 = 0;

impl Tails {
    /// Returns a tail by its number.
    pub(super) fn get(&self, tail: u32) -> &Tail {
        &self.all[tail as usize]
    }

    /// Returns the number of a tail.
    pub(super) fn number(&mut self, tail: Tail) -> u32 {
        number(self.all.insert_full(tail).0)
    }

    /// Joins one and another after it.
    pub(super) fn join(&mut self, first: u32, rest: u32) -> u32 {
        if first == NOTHING {
            return rest;
        }
        if let Some(known) = self.joined.get(&(first, rest)) {
            return *known;
        }
        let joined = self.get(first).then(self.get(rest));
        let joined = self.number(joined);
        self.joined.insert((first, rest), joined);
        joined
    }
}
