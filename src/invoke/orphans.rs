//! Descendants that a program leaves behind, also those that have left its process group.
//!
//! The process group alone is not enough: Claude Code starts each shell command in a session of its own. Linux hands
//! orphans to the nearest ancestor that asks for them; other systems offer nothing of the kind, and only the group is
//! ended there.

use std::time::Duration;
#[cfg(target_os = "linux")]
use std::time::Instant;

#[cfg(target_os = "linux")]
use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

use super::signals::Wakeups;

/// How long to wait for what got SIGKILL. Only a process stuck in the kernel, or another user's, uses it up.
pub(super) const REAP_LIMIT: Duration = Duration::from_millis(400);

/// The time in which orphaned descendants become children of this process, so that they are found.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct Adoption {
    /// What the process attribute was, for the end.
    before: Option<Pid>,
    /// Children that were there first, e.g. those of a shell that has exec'd this program.
    spared: Vec<Pid>,
}

#[cfg(target_os = "linux")]
impl Adoption {
    pub(super) fn begin() -> Self {
        let before = rustix::process::child_subreaper().unwrap_or(None);
        let spared = children();
        // Where this is forbidden, the group is all that can be ended.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Self { before, spared }
    }

    /// Kills and reaps what was left to this process, and again what those leave to it in turn.
    pub(super) fn end_orphans(&self, wakeups: &Wakeups) {
        use rustix::process::{WaitOptions, kill_process, waitpid};

        let start = Instant::now();
        loop {
            let mut orphans = self.orphans();
            for orphan in &orphans {
                // An unreaped child: its number cannot have gone to another process.
                let _ = kill_process(*orphan, Signal::KILL);
            }
            let left = REAP_LIMIT.saturating_sub(start.elapsed());
            if orphans.is_empty() || left.is_zero() {
                return;
            }
            // Not all that is left: one that cannot be killed must not shield the others' children.
            wakeups.until(left.min(REAP_LIMIT / 5), &[], || {
                orphans.retain(|orphan| {
                    matches!(waitpid(Some(*orphan), WaitOptions::NOHANG), Ok(None))
                });
                orphans.is_empty().then_some(())
            });
        }
    }

    /// Our children, but for those that were there first and those in our own process group: what
    /// another thread starts is in it, and the program's descendants are not.
    fn orphans(&self) -> Vec<Pid> {
        use rustix::process::{getpgid, getpgrp};

        let ours = getpgrp();
        let mut orphans = children();
        orphans.retain(|child| !self.spared.contains(child) && getpgid(Some(*child)) != Ok(ours));
        orphans
    }
}

#[cfg(target_os = "linux")]
impl Drop for Adoption {
    fn drop(&mut self) {
        let _ = rustix::process::set_child_subreaper(self.before);
    }
}

/// The children of this process, dead ones among them that nobody has reaped.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let exists = |id: WaitId<'_>| !matches!(waitid(id, options), Err(Errno::CHILD));
    // By far the most frequent case, and it needs no look at /proc.
    if !exists(WaitId::All) {
        return Vec::new();
    }
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|process| {
            process
                .ok()?
                .file_name()
                .to_str()?
                .parse()
                .ok()
                .and_then(Pid::from_raw)
        })
        // Asking the kernel stays right where /proc belongs to another pid namespace.
        .filter(|pid| exists(WaitId::Pid(*pid)))
        .collect()
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(super) struct Adoption;

#[cfg(not(target_os = "linux"))]
impl Adoption {
    pub(super) fn begin() -> Self {
        Self
    }

    pub(super) fn end_orphans(&self, _: &Wakeups) {}
}
