//! A program with the processes of its group.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use super::orphans::REAP_LIMIT;
use super::signals::until;

/// A running program: the leader of its own process group.
#[derive(Debug)]
pub(crate) struct Group {
    child: Child,
    leader: Pid,
}

impl Group {
    /// Starts the program with an empty stdin.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let child = command.stdin(Stdio::null()).process_group(0).spawn()?;
        Ok(Self { leader: Pid::from_child(&child), child })
    }

    /// Returns whether the program itself has ended. It is not reaped, so its id is not given to another process yet.
    pub(crate) fn has_ended(&mut self) -> bool {
        has_exited(self.leader)
    }

    /// Asks all processes of the group to end.
    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills the rest of the group. Returns how the program ended; `None` if that is unknown, because someone else has reaped it.
    pub(crate) fn end(mut self) -> Option<ExitStatus> {
        // The leader has not been reaped, so its id still belongs to this group.
        self.signal(Signal::KILL);
        until(REAP_LIMIT, || has_exited(self.leader).then(|| self.child.wait().ok())).flatten()
    }

    /// Sends a signal to the group. Errors are ignored: they mean that the group is gone, or (macOS) that only its
    /// dead leader is left.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.leader, signal);
    }
}

/// Kills a child of this process, and nothing that it has started.
pub(crate) fn kill(id: u32) {
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Returns whether a child has ended, without reaping it.
pub(super) fn has_exited(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(child), options), Ok(None) | Err(Errno::INTR))
}
