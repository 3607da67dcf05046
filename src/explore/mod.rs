//! Model checking: every state that a chart can reach, by the very decisions that the hook makes.
//!
//! [`domain`] says which values of the inputs are tried, [`imagined_world`] is a world made up of them, [`decision_tree`]
//! finds what comes of each move, [`search`] the states, `graph` the ways between them; `judge` proves
//! or refutes, and a [`trace`] tells how it comes to what must not be.

mod budget;
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
pub mod possible_world;
mod replay;
pub mod search;
mod state;
pub mod trace;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::chart::Chart;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Step;
use search::{Cut, Search};
use trace::Trace;

/// How many seconds an exploration takes by default at most; a build for debugging is that much slower.
const SECONDS: u64 = if cfg!(debug_assertions) { 120 } else { 10 };

/// How far an exploration goes.
#[derive(Debug, Clone)]
pub struct Caps {
    /// The most states that are looked at.
    pub states: usize,
    /// The most time that is taken.
    pub time: Duration,
    /// The most bytes that states and the transitions between them take up, by estimate.
    pub memory: usize,
    /// Set from elsewhere: what is known so far is to be told.
    pub stop: Option<&'static AtomicBool>,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            states: 100_000,
            time: Duration::from_secs(SECONDS),
            memory: 1 << 30,
            stop: None,
        }
    }
}

/// What an exploration has found.
#[derive(Debug)]
pub struct Report {
    /// What was tried: one line for each input and each kind of move.
    pub domain: Vec<String>,
    pub states: usize,
    pub transitions: usize,
    /// Every state was looked at: what is proved is proved for the whole domain.
    pub complete: bool,
    /// Where it was cut off, if it was, in words.
    pub cut: Option<String>,
    pub results: Vec<PropertyResult>,
}

impl Report {
    /// True where some property is neither proved nor refuted.
    pub fn is_undecided(&self) -> bool {
        let mut results = self.results.iter();
        results.any(|result| matches!(result.verdict, Verdict::Undecided { .. }))
    }
}

/// A property, and whether it holds.
#[derive(Debug, Clone)]
pub struct PropertyResult {
    /// What it says, in words.
    pub name: String,
    /// Stable.
    pub code: Code,
    pub verdict: Verdict,
}

impl PropertyResult {
    fn new(name: impl Into<String>, code: Code, verdict: Verdict) -> Self {
        Self {
            name: name.into(),
            code,
            verdict,
        }
    }
}

/// Whether a property holds.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// It holds in all of the domain.
    Proved { detail: String },
    /// What was tried settles it neither way.
    Undecided { why: String },
    /// It does not hold.
    Refuted {
        trace: Trace,
        /// The element of the chart to point at.
        path: Vec<Step>,
    },
}

impl Verdict {
    /// How long the story of a refutation is; the longest where there is none.
    fn steps(&self) -> usize {
        match self {
            Self::Refuted { trace, .. } => trace.steps.len(),
            Self::Proved { .. } | Self::Undecided { .. } => usize::MAX,
        }
    }
}

/// Explores `chart`, whose expressions have been checked.
pub fn explore(chart: &Arc<Chart>, caps: &Caps) -> Report {
    let mut search = Search::of(chart, caps);
    let results = judge::judge(&mut search);
    Report {
        domain: search.moves.domain_in_words(),
        states: search.looked_at(),
        transitions: search.transitions(),
        complete: search.complete,
        cut: search.cut.as_ref().map(Cut::to_string),
        results,
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod differential;
