//! Waits during a run. There are no signals: Ctrl-C ends this process, and with it the [job](super::supervisor) of its
//! run.

use std::io;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

/// The time between two checks.
const TICK: Duration = Duration::from_millis(20);

/// Runs `work`; no signal is recorded.
pub(crate) fn recorded<T>(work: impl FnOnce(&Wakeups) -> T) -> (io::Result<T>, Option<i32>) {
    (Ok(work(&Wakeups)), None)
}

/// Returns the signal that asked this process to end: none ever does.
pub(crate) fn caught() -> Option<i32> {
    None
}

/// Does nothing: there is no limit on file sizes.
pub(crate) fn report_file_size() {}

/// Something that a wait could listen to: here, the end of the job says the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched<'f>(pub(super) PhantomData<&'f ()>);

impl Watched<'_> {
    /// Returns whether it reports anything: it never does.
    pub(crate) fn has_reported(self) -> bool {
        false
    }
}

/// Waits by looking again and again.
#[derive(Debug)]
pub(crate) struct Wakeups;

impl Wakeups {
    /// Waits until `check` returns something or the time limit has passed.
    pub(crate) fn until<T>(
        &self,
        limit: Duration,
        _: &[Watched<'_>],
        mut check: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let start = Instant::now();
        loop {
            let found = check();
            let left = limit.saturating_sub(start.elapsed());
            if found.is_some() || left.is_zero() {
                return found;
            }
            std::thread::sleep(left.min(TICK));
        }
    }
}
