//! Model checking: every state that a chart can reach, by the very decisions that the hook makes.
//!
//! [`domain`] says which values of the inputs are tried, [`imagined_world`] is a world made up of them, [`decision_tree`]
//! finds the results of each move, [`search`] the states, `graph` the paths between them; `judge` proves
//! or refutes, and a [`trace`] is the counterexample.

mod answer;
pub mod budget;
mod counters;
pub mod decision_tree;
pub mod dependence;
pub mod domain;
mod domain_in_words;
mod graph;
pub mod imagined_world;
pub mod items;
mod judge;
mod moves;
mod parameters;
mod replay;
pub mod report;
pub mod search;
mod state;
pub mod trace;

use std::sync::Arc;

use crate::chart::Chart;
use budget::Budget;
pub use budget::Caps;
use report::Report;
use search::Search;

/// Explores `chart`, whose expressions have been checked.
pub fn explore(chart: &Arc<Chart>, caps: &Caps) -> Report {
    let mut search = Search::of(chart, caps);
    search.moves.tree.budget = Budget::of_judgments(caps);
    let mut report = Report {
        states: search.looked_at(),
        transitions: search.steps().count(),
        ..Report::default()
    };
    judge::judge(&mut search, &mut report);
    report.domain = search.moves.domain_in_words();
    report.cut = search.cut_in_words();
    report
}

#[cfg(test)]
mod tests;
