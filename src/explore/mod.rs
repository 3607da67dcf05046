//! Model checking: every state that a chart can reach, by the very decisions that the hook makes.
//!
//! [`domain`] says which values of the inputs are tried, [`imagined_world`] is a world made up of them, [`decision_tree`]
//! finds what comes of each move, [`search`] the states, `graph` the ways between them; `judge` proves
//! or refutes, and a [`trace`] is the counterexample.

pub mod decision_tree;
pub mod domain;
mod fold;
mod graph;
pub mod imagined_world;
mod judge;
mod moves;
mod plain;
pub mod possible_world;
pub mod report;
pub mod search;
mod state;
pub mod trace;

use std::sync::Arc;

use crate::chart::Chart;
use report::Report;
use search::Search;

/// How far an exploration goes.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// The most states that are looked at.
    pub states: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { states: 100_000 }
    }
}

/// Explores `chart`, whose expressions have been checked.
pub fn explore(chart: &Arc<Chart>, caps: &Caps) -> Report {
    let mut search = Search::of(chart, caps.states);
    let results = judge::judge(&mut search);
    Report {
        domain: search.moves.domain_in_words(),
        states: search.looked_at(),
        transitions: search.transitions(),
        complete: search.complete,
        cut: if search.outgrown {
            "cut off where a text grows too long"
        } else {
            "cut off there (--max-states)"
        },
        results,
    }
}

#[cfg(test)]
mod tests;
