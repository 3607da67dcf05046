//! How much time an exploration may still take, asked for in its innermost loops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Caps;
use super::search::Cut;

/// The time that is left.
#[derive(Debug, Default)]
pub(super) struct Budget {
    end: Option<Instant>,
    stop: Option<&'static AtomicBool>,
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
            stop: caps.stop,
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
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
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
