//! How much time an exploration may still take, asked for in its innermost loops.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::chart::Chart;

/// How many seconds an exploration takes by default at most; a build for debugging is that much slower.
const SECONDS: u64 = if cfg!(debug_assertions) { 600 } else { 30 };

/// How far an exploration goes, and what else it looks for.
#[derive(Debug, Clone)]
pub struct Caps {
    /// The most states that are looked at.
    pub states: usize,
    /// The most time that is taken.
    pub time: Duration,
    /// The most bytes that states and the transitions between them take up, by estimate.
    pub memory: usize,
    /// Set from elsewhere: the exploration ends, and reports what it has found so far.
    pub stop: Arc<AtomicBool>,
    /// How many states have been looked at, for elsewhere.
    pub looked_at: Arc<AtomicUsize>,
    /// Names the places of a chart to which it looks for walks.
    pub walks_to: fn(&Chart) -> Vec<String>,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            states: 100_000,
            time: Duration::from_secs(SECONDS),
            memory: 1 << 30,
            stop: Arc::default(),
            looked_at: Arc::default(),
            walks_to: |_| Vec::new(),
        }
    }
}

/// Why not every state was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// So many states were looked at.
    States(usize),
    /// The time was up, after so many states.
    Time(usize),
    Memory,
    /// Someone asked for an end, after so many states.
    Stopped(usize),
    Text,
    /// A field counts beyond this number.
    Count(String, u64),
    /// A value that the engine itself needs is not known.
    Lost(String),
}

impl fmt::Display for Cut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::States(states) => write!(
                out,
                "only the first {states} states were looked at (--max-states)"
            ),
            Self::Time(states) => {
                write!(out, "the time was up after {states} states (--max-seconds)")
            }
            Self::Memory => out.write_str("states and transitions take up too much memory"),
            Self::Stopped(states) => write!(out, "interrupted after {states} states"),
            Self::Text => write!(
                out,
                "states with a text of more than {LONGEST_TEXT} bytes were not looked at"
            ),
            Self::Count(field, far) => write!(
                out,
                "`{field}` has no upper bound: states in which it is more than {far} were not looked at"
            ),
            Self::Lost(why) => out.write_str(why),
        }
    }
}

/// A state with a text of more bytes is not looked at: one that doubles at each step would take all memory.
pub(crate) const LONGEST_TEXT: usize = 10_000;

/// The time that is left.
#[derive(Debug, Default, Clone)]
pub(super) struct Budget {
    end: Option<Instant>,
    stop: Arc<AtomicBool>,
    asked: u32,
    cut: Option<Cut>,
}

/// The clock is looked at once in so many times.
const OFTEN: u32 = 64;

impl Budget {
    /// As much as `caps` allow, from now on.
    pub(super) fn of(caps: &Caps) -> Self {
        Self {
            end: Instant::now().checked_add(caps.time),
            stop: Arc::clone(&caps.stop),
            ..Self::default()
        }
    }

    /// True once nothing is left.
    pub(super) fn is_exhausted(&mut self) -> bool {
        self.asked = self.asked.wrapping_add(1);
        if self.cut.is_none() && self.asked.is_multiple_of(OFTEN) {
            if self.end.is_some_and(|end| Instant::now() >= end) {
                self.cut = Some(Cut::Time(0));
            }
            if self.stop.load(Ordering::Relaxed) {
                self.cut = Some(Cut::Stopped(0));
            }
        }
        self.cut.is_some()
    }

    /// Nothing is left, for this reason.
    pub(super) fn exhaust(&mut self, cut: Cut) {
        self.cut.get_or_insert(cut);
    }

    /// Why nothing is left after so many states, where that is so.
    pub(super) fn cut(&mut self, states: usize) -> Option<Cut> {
        self.is_exhausted();
        Some(match self.cut.clone()? {
            Cut::Time(_) => Cut::Time(states),
            Cut::Stopped(_) => Cut::Stopped(states),
            other => other,
        })
    }
}
