//! Waits between two checks, until the user ends the command: for commands that follow something.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};

/// The time between two checks.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

/// How soon the end is noticed.
const TICK: Duration = Duration::from_millis(50);

/// Whether this process was asked to end.
#[derive(Debug)]
pub(crate) struct Bell(Arc<AtomicBool>);

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        let end = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&end))?;
        }
        Ok(Self(end))
    }

    /// Waits this long, or until the end, and returns whether that has come.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let start = Instant::now();
        while !self.0.load(Ordering::Relaxed) {
            if start.elapsed() >= time {
                return false;
            }
            std::thread::sleep(TICK);
        }
        true
    }
}
