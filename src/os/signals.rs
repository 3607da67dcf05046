//! Signals that ask this process to end, and waiting for something else meanwhile. Only this module handles signals.
//!
//! During a run, SIGTERM, SIGINT and SIGHUP are recorded, so that the run can kill its program first. Before and
//! after, they have their default effect.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// The shortest and the longest time between two checks.
const FIRST_TICK: Duration = Duration::from_millis(1);
const TICK: Duration = Duration::from_millis(10);

/// Locked during a run, so that there is only one run at a time. It says whether the handlers are installed.
static RUN: Mutex<bool> = Mutex::new(false);

/// The signal that asked this process to end, or 0. It is never reset: a process that was asked to end has to.
static CAUGHT: AtomicUsize = AtomicUsize::new(0);

/// True while there is no run: SIGTERM, SIGINT and SIGHUP then act as if they had no handler.
///
/// signal-hook cannot remove a handler, only empty it, and an empty handler would swallow the signal. So our handlers
/// stay, and their last action is the default effect.
static DEFAULT_APPLIES: AtomicBool = AtomicBool::new(false);

/// Runs `work` while signals are recorded. Also returns the signal that this process got before or during the work,
/// if any: the caller should exit then. A second thread waits until the first one's work ends.
pub(crate) fn recorded<T>(work: impl FnOnce() -> T) -> (io::Result<T>, Option<i32>) {
    let mut is_installed = RUN.lock().unwrap_or_else(PoisonError::into_inner);
    DEFAULT_APPLIES.store(false, Ordering::SeqCst);
    let installed = if *is_installed { Ok(()) } else { install() };
    *is_installed = installed.is_ok();
    let done = installed.map(|()| work());
    DEFAULT_APPLIES.store(true, Ordering::SeqCst);
    // After the store: either the signal is seen here, or its handler has seen the store and ends this process.
    (done, caught())
}

fn install() -> io::Result<()> {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        // Actions run in the order of registration. Recording comes first, so that no signal is lost; the default effect comes
        // last, because it does not return.
        let number = usize::try_from(signal).unwrap_or(0);
        flag::register_usize(signal, &CAUGHT, number)?;
        flag::register_conditional_default(signal, &DEFAULT_APPLIES)?;
    }
    Ok(())
}

/// Returns the signal that asked this process to end, if any.
pub(crate) fn caught() -> Option<i32> {
    i32::try_from(CAUGHT.load(Ordering::SeqCst)).ok().filter(|signal| *signal != 0)
}

/// From now on, writing beyond the limit on file sizes (`ulimit -f`) is an error. By default, it would silently kill
/// this process.
pub(crate) fn report_file_size() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Any handler will do. If none can be installed, nothing changes.
        let signal = rustix::process::Signal::XFSZ.as_raw();
        let _ = flag::register(signal, Arc::default());
    });
}

/// Waits until `check` returns something or the time limit has passed. It checks again and again.
pub(crate) fn until<T>(limit: Duration, mut check: impl FnMut() -> Option<T>) -> Option<T> {
    let (start, mut tick) = (Instant::now(), FIRST_TICK);
    loop {
        if let Some(found) = check() {
            return Some(found);
        }
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            return None;
        }
        sleep(left.min(tick));
        tick = TICK.min(tick * 2);
    }
}

/// Returns what a file reports of the `events`. A closed other end is always reported.
pub(crate) fn reported(file: &impl AsFd, events: PollFlags) -> PollFlags {
    let mut files = [PollFd::new(file, events)];
    match poll(&mut files, Some(&Timespec::default())) {
        Ok(_) => files[0].revents(),
        Err(_) => PollFlags::empty(),
    }
}
