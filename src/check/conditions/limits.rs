//! How far a chart is followed: states, time, and Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many seconds are taken by default at most; a build for debugging is that much slower.
const SECONDS: u64 = if cfg!(debug_assertions) { 600 } else { 120 };

/// How far a chart is followed.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The most states that are looked at.
    pub states: usize,
    /// The most time that is taken.
    pub time: Duration,
    /// Set from elsewhere: the work ends, and what is known so far is reported.
    pub stop: Arc<AtomicBool>,
    /// How many states have been looked at, for elsewhere.
    pub looked_at: Arc<AtomicUsize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            states: 100_000,
            time: Duration::from_secs(SECONDS),
            stop: Arc::default(),
            looked_at: Arc::default(),
        }
    }
}

impl Limits {
    /// Returns why work that began then ends here, if it does. Long work asks for it.
    pub(super) fn is_up(&self, begun: Instant) -> Option<&'static str> {
        if self.stop.load(Ordering::Relaxed) {
            return Some("interrupted");
        }
        (begun.elapsed() >= self.time).then_some("the time was up (--max-seconds)")
    }
}
