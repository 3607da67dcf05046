//! The results of a decision from one of its parts on, each kept once.

use crate::explore::decision_tree::{Choices, Target, over};
use crate::explore::state::number;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The result of a decision from one of its parts on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Tail {
    pub(super) end: End,
    pub(super) assigned: Vec<(usize, u32)>,
    /// What was chosen, where that is part of the outcome; the rest is found again when a witness needs it.
    pub(super) choices: Choices,
    pub(super) fired: Vec<u32>,
    pub(super) advanced: Vec<Target>,
    pub(super) arms: Vec<usize>,
    pub(super) review: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum End {
    Done { block: bool },
    Fault(u32),
}

impl Tail {
    pub(super) fn of(end: End) -> Self {
        Self {
            end,
            assigned: Vec::new(),
            choices: Vec::new(),
            fired: Vec::new(),
            advanced: Vec::new(),
            arms: Vec::new(),
            review: None,
        }
    }

    /// Returns this, and after it `rest`.
    pub(super) fn then(&self, rest: &Self) -> Self {
        let kept = self
            .assigned
            .iter()
            .filter(|(field, _)| rest.assigned.iter().all(|(later, _)| later != field));
        Self {
            end: rest.end,
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
#[derive(Debug)]
pub(super) struct Tails {
    pub(super) all: IndexSet<Tail, FxBuildHasher>,
    pub(super) joined: FxHashMap<(u32, u32), u32>,
}

/// The tail of a decision that has done nothing, which is also the result of a part that does nothing.
pub(super) const NOTHING: u32 = 0;

impl Default for Tails {
    fn default() -> Self {
        Self {
            all: [Tail::of(End::Done { block: false })].into_iter().collect(),
            joined: FxHashMap::default(),
        }
    }
}

impl Tails {
    pub(super) fn get(&self, tail: u32) -> &Tail {
        &self.all[tail as usize]
    }

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
