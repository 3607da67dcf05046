//! What an exploration gives: the properties, and whether each holds.

use super::trace::Trace;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Segment;

/// What an exploration has found.
#[derive(Debug, Default)]
pub struct Report {
    /// What was tried: one line for each input and each kind of move.
    pub domain: Vec<String>,
    pub states: usize,
    pub transitions: usize,
    /// Where it was cut off, in words; `None`: every state was looked at, and what is proved is proved for all of them.
    pub cut: Option<String>,
    pub results: Vec<PropertyResult>,
}

impl Report {
    /// Returns how many properties are neither proved nor refuted.
    pub fn undecided(&self) -> usize {
        let results = self.results.iter();
        let is_undecided =
            |result: &&PropertyResult| matches!(result.verdict, Verdict::Undecided(_));
        results.filter(is_undecided).count()
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
    /// Returns a property with its verdict.
    pub(super) fn new(name: impl Into<String>, code: Code, verdict: Verdict) -> Self {
        Self { name: name.into(), code, verdict }
    }
}

/// Whether a property holds.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// It holds in all of the domain; with what bounds it.
    Proved(String),
    /// What was tried settles it neither way; with the reason.
    Undecided(String),
    /// It does not hold.
    Refuted {
        trace: Trace,
        /// The element of the chart to point at.
        path: Vec<Segment>,
    },
}

impl Verdict {
    /// Returns how long the counterexample of a refutation is; the longest possible if there is none.
    pub(super) fn steps(&self) -> usize {
        match self {
            Self::Refuted { trace, .. } => trace.steps.len(),
            Self::Proved(_) | Self::Undecided(_) => usize::MAX,
        }
    }
}
