//! Processes other than those of a run.

use rustix::process::{Pid, Signal, kill_process};

/// Kills a child of this process.
pub(crate) fn kill(id: u32) {
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}
