//! Turns signals into events that a wait listens to. Only this module handles signals.
//!
//! During a run, SIGTERM, SIGINT and SIGHUP are recorded, so that the run can kill its program first. Before and
//! after, they have their default effect.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

/// The longest time between two checks. If a parent blocks SIGCHLD, the child inherits that, and then the end of a
/// child wakes nobody; the death of a parent never does.
const TICK: Duration = Duration::from_millis(200);

/// Woken by the handlers. It is locked during a run, so that there is only one run at a time.
static WAKEUPS: Mutex<Option<Wakeups>> = Mutex::new(None);

/// The signal that asked this process to end, or 0. It is never reset: a process that was asked to end has to.
static CAUGHT: AtomicUsize = AtomicUsize::new(0);

/// True while there is no run: SIGTERM, SIGINT and SIGHUP then act as if they had no handler.
///
/// signal-hook cannot remove a handler, only empty it, and an empty handler would swallow the signal. So our handlers
/// stay, and their last action is the default effect.
static DEFAULT_APPLIES: AtomicBool = AtomicBool::new(false);

/// Runs `work` while signals are recorded. Also returns the signal that this process got before or during the work,
/// if any: the caller should exit then. A second thread waits until the first one's work ends.
pub(crate) fn recorded<T>(work: impl FnOnce(&Wakeups) -> T) -> (io::Result<T>, Option<i32>) {
    let mut slot = WAKEUPS.lock().unwrap_or_else(PoisonError::into_inner);
    DEFAULT_APPLIES.store(false, Ordering::SeqCst);
    let done = Wakeups::installed(&mut slot).map(work);
    DEFAULT_APPLIES.store(true, Ordering::SeqCst);
    // After the store: either the signal is seen here, or its handler has seen the store and ends this process.
    (done, caught())
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
        let _ = signal_hook::flag::register(signal, Arc::default());
    });
}

/// A file that a wait listens to, and the events to wait for. A closed other end is always reported.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched<'f> {
    file: BorrowedFd<'f>,
    events: PollFlags,
}

impl<'f> Watched<'f> {
    pub(crate) fn new(file: &'f impl AsFd, events: PollFlags) -> Self {
        let file = file.as_fd();
        Self { file, events }
    }

    /// Returns whether it reports one of these events.
    pub(super) fn reports(self, events: PollFlags) -> bool {
        let mut files = [PollFd::from_borrowed_fd(self.file, self.events)];
        poll(&mut files, Some(&Timespec::default())).is_ok()
            && files[0].revents().intersects(events)
    }

    /// Returns whether it reports anything.
    pub(crate) fn has_reported(self) -> bool {
        self.reports(PollFlags::all())
    }
}

/// The receiving end of the signal handlers: a signal or the end of a child ends the wait.
#[derive(Debug)]
pub(crate) struct Wakeups(UnixStream);

impl Wakeups {
    /// Installs the handlers on the first call.
    fn installed(slot: &mut Option<Self>) -> io::Result<&Self> {
        match slot {
            Some(wakeups) => Ok(wakeups),
            None => Ok(slot.insert(Self::install()?)),
        }
    }

    fn install() -> io::Result<Self> {
        let (receiver, sender) = UnixStream::pair()?;
        receiver.set_nonblocking(true)?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            // Actions run in the order of registration. Recording comes first, so that no signal is lost between two
            // of these lines; the default effect comes last, because it does not return.
            signal_hook::flag::register_usize(
                signal,
                &CAUGHT,
                usize::try_from(signal).unwrap_or(0),
            )?;
            signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
            signal_hook::flag::register_conditional_default(signal, &DEFAULT_APPLIES)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, sender)?;
        Ok(Self(receiver))
    }

    /// Waits until `check` returns something or the time limit has passed. It checks immediately, after each signal,
    /// when one of the `watched` files reports something, and every [`TICK`].
    pub(crate) fn until<T>(
        &self,
        limit: Duration,
        watched: &[Watched<'_>],
        mut check: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let start = Instant::now();
        loop {
            if let Some(found) = check() {
                return Some(found);
            }
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return None;
            }
            self.wait(watched, left.min(TICK));
        }
    }

    fn wait(&self, watched: &[Watched<'_>], limit: Duration) {
        let limit_spec = Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(0),
            tv_nsec: limit.subsec_nanos().into(),
        };
        let mut files = vec![PollFd::new(&self.0, PollFlags::IN)];
        let others =
            watched.iter().map(|watched| PollFd::from_borrowed_fd(watched.file, watched.events));
        files.extend(others);
        match poll(&mut files, Some(&limit_spec)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // This should not happen; but if it does, `until` must not become a busy loop.
            Err(_) => std::thread::sleep(limit.min(Duration::from_millis(20))),
        }
        // However many signals arrived, one check is enough.
        let _ = (&self.0).read(&mut [0; 256]);
    }
}
