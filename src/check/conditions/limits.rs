//! How far a chart is followed: states and time.

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
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 100_000, time: Duration::from_secs(SECONDS) }
    }
}

impl Limits {
    /// Returns why work that began then ends here, if it does. Long work asks for it.
    pub(super) fn is_up(&self, begun: Instant) -> Option<&'static str> {
        (begun.elapsed() >= self.time).then_some("the time was up (--max-seconds)")
    }
}
