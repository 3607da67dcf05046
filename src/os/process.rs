//! Processes other than those of a run.

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Returns whether there is a process with this id. One that has ended, and that nobody has reaped, does not count on Linux.
pub(crate) fn is_running(id: u32) -> bool {
    match cfg!(target_os = "linux") {
        true => std::fs::read_link(format!("/proc/{id}/exe")).is_ok(),
        false => pid(id).is_some_and(|pid| test_kill_process(pid).is_ok()),
    }
}

/// Kills a child of this process.
pub(crate) fn kill(id: u32) {
    if let Some(pid) = pid(id) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}
