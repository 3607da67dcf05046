//! How much time and memory an exploration may still take, asked for in its innermost loops.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::os;

/// How many seconds an exploration takes by default at most; a build for debugging is that much slower.
const SECONDS: u64 = if cfg!(debug_assertions) { 600 } else { 120 };

/// How far an exploration goes.
#[derive(Debug, Clone)]
pub struct Caps {
    /// The most states that are looked at.
    pub states: usize,
    /// The most time that is taken.
    pub time: Duration,
    /// The most bytes of memory that the process takes for it, where the system says how many it has.
    pub memory: usize,
    /// Set from elsewhere: the exploration ends, and reports what it has found so far.
    pub stop: Arc<AtomicBool>,
    /// How many states have been looked at, for elsewhere.
    pub looked_at: Arc<AtomicUsize>,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            states: 100_000,
            time: Duration::from_secs(SECONDS),
            memory: 1 << 30,
            stop: Arc::default(),
            looked_at: Arc::default(),
        }
    }
}

/// Why not every state was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cut {
    States,
    Time,
    Memory,
    /// The user asked for an end.
    Stopped,
    /// The engine reads this field, and it outgrows the texts and numbers that are tried.
    Grown(String),
    /// The engine reads this field, and the value of what it is assigned is not known.
    Unknown {
        field: String,
        source: String,
    },
    /// There are more combinations of what fields can begin with than are tried.
    Beginnings,
}

impl Cut {
    /// Says so, after this many states.
    pub(super) fn in_words(&self, states: usize) -> String {
        match self {
            Self::States => {
                format!("only the first {states} states were looked at (--max-states)")
            }
            Self::Time => format!("the time was up after {states} states (--max-seconds)"),
            Self::Memory => "the exploration takes too much memory".to_owned(),
            Self::Stopped => format!("interrupted after {states} states"),
            Self::Grown(field) => format!(
                "`{field}` has no bound: states in which it is too great or too long were not looked at"
            ),
            Self::Unknown { field, source } => {
                format!("`{field}` is assigned `{source}`, of which the value is not known")
            }
            Self::Beginnings => {
                "not every combination of what fields can begin with was tried".to_owned()
            }
        }
    }
}

/// A text of more bytes is not kept: one that doubles at each step would take all memory.
pub(crate) const LONGEST_TEXT: usize = 10_000;

/// What is left of the time and the memory. Whoever works long asks for it: the search, the judgments, the replay.
#[derive(Debug, Default, Clone)]
pub(super) struct Budget(Rc<Left>);

#[derive(Debug, Default)]
struct Left {
    end: Option<Instant>,
    stop: Arc<AtomicBool>,
    /// How much memory the process may have.
    memory: Option<usize>,
    asked: Cell<u32>,
    cut: RefCell<Option<Cut>>,
}

/// How many questions pass between two looks at the clock, and how many looks at the clock between two at the memory.
const OFTEN: u32 = 64;

/// The time for reporting what is known after an interruption.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Budget {
    /// Returns the budget of a search that starts now: two thirds of the time, so that what it finds can be judged.
    pub(super) fn of_search(caps: &Caps) -> Self {
        Self::new(caps.time / 3 * 2, caps.memory, &caps.stop)
    }

    /// Returns the budget of the judgments after a search: a third of the time and a quarter of the memory more. After
    /// an interruption, there is little time to report what is known.
    pub(super) fn of_judgments(caps: &Caps) -> Self {
        let (time, memory) = (caps.time / 3, caps.memory / 4);
        match caps.stop.load(Ordering::Relaxed) {
            true => Self::new(LAST_WORDS.min(time), memory, &Arc::default()),
            false => Self::new(time, memory, &caps.stop),
        }
    }

    /// Returns a budget of this much more from now on.
    fn new(time: Duration, memory: usize, stop: &Arc<AtomicBool>) -> Self {
        Self(Rc::new(Left {
            end: Instant::now().checked_add(time),
            stop: Arc::clone(stop),
            memory: os::memory().map(|used| used.saturating_add(memory)),
            ..Left::default()
        }))
    }

    /// Returns true once nothing is left.
    pub(super) fn is_exhausted(&self) -> bool {
        let left = &self.0;
        let asked = left.asked.get().wrapping_add(1);
        left.asked.set(asked);
        if asked.is_multiple_of(OFTEN) && left.cut.borrow().is_none() {
            let cut = if left.end.is_some_and(|end| Instant::now() >= end) {
                Some(Cut::Time)
            } else if left.stop.load(Ordering::Relaxed) {
                Some(Cut::Stopped)
            } else {
                let looks = asked.is_multiple_of(OFTEN * OFTEN);
                let used = looks.then(os::memory).flatten();
                let is_over = |used: usize| left.memory.is_some_and(|most| used > most);
                used.is_some_and(is_over).then_some(Cut::Memory)
            };
            left.cut.replace(cut);
        }
        left.cut.borrow().is_some()
    }

    /// Returns why nothing is left, where that is so.
    pub(super) fn cut(&self) -> Option<Cut> {
        // The next question looks at the clock.
        self.0.asked.set(OFTEN - 1);
        self.is_exhausted();
        self.0.cut.borrow().clone()
    }
}
