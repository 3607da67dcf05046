//! Finds descendants that a program leaves behind, including those that have left its process group.
//!
//! The process group is not enough: Claude Code starts each shell command in a session of its own. On Linux, orphans
//! become children of the nearest ancestor that asks for them. Other systems offer nothing like that, so there only
//! the group is killed.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, waitid, waitpid,
};

use super::signals::until;

/// How long to wait for processes that got SIGKILL. Only a process that is stuck in the kernel, or belongs to another
/// user, takes that long.
pub(super) const REAP_LIMIT: Duration = Duration::from_millis(400);

/// From its beginning on, orphaned descendants become children of this process, so that they can be found.
#[derive(Debug)]
pub(crate) struct Adoption {
    /// Children that existed before, for example those of a shell that has exec'd this program.
    spared: Vec<Pid>,
}

impl Adoption {
    pub(super) fn begin() -> Self {
        let spared = children();
        // If this is forbidden, only the group can be killed.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Self { spared }
    }

    /// Kills and reaps the orphans of this process, and then the orphans that those leave, and so on. Nothing else may have started
    /// a process since the beginning.
    pub(crate) fn end_orphans(&self) {
        let start = Instant::now();
        loop {
            let mut orphans = children();
            orphans.retain(|child| !self.spared.contains(child));
            for orphan in &orphans {
                // A child that has not been reaped: its id cannot belong to another process.
                let _ = kill_process(*orphan, Signal::KILL);
            }
            let left = REAP_LIMIT.saturating_sub(start.elapsed());
            if orphans.is_empty() || left.is_zero() {
                return;
            }
            // Wait only for part of the time: one that cannot be killed must not protect the children of others.
            until(left.min(REAP_LIMIT / 5), || {
                orphans.retain(|orphan| {
                    matches!(waitpid(Some(*orphan), WaitOptions::NOHANG), Ok(None))
                });
                orphans.is_empty().then_some(())
            });
        }
    }
}

/// Returns the children of this process, including dead ones that nobody has reaped; none where there is no /proc.
fn children() -> Vec<Pid> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let exists = |id: WaitId<'_>| !matches!(waitid(id, options), Err(Errno::CHILD));
    // The most common case by far, which doesn't need /proc.
    if !exists(WaitId::All) {
        return Vec::new();
    }
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| process.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
        // Asking the kernel is correct even if /proc belongs to another pid namespace.
        .filter(|pid| exists(WaitId::Pid(*pid)))
        .collect()
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Set where the test has started itself again.
    const AGAIN: &str = "TASKIE_TEST_AGAIN";

    /// The test starts itself again: it would kill what other tests have started.
    #[test]
    fn children_from_before_are_spared() {
        let name = "os::orphans::tests::children_from_before_are_spared";
        if std::env::var_os(AGAIN).is_none() {
            let mut again = Command::new(std::env::current_exe().unwrap());
            let again = again.args(["--exact", name]).env(AGAIN, "").output().unwrap();
            let output = String::from_utf8_lossy(&again.stdout);
            assert!(again.status.success() && output.contains("running 1 test"), "{again:?}");
            return;
        }
        let sleep = || Command::new("sleep").arg("1000").spawn().unwrap();
        let mut earlier = sleep();
        let adoption = Adoption::begin();
        let mut later = sleep();
        adoption.end_orphans();
        assert_eq!(earlier.try_wait().unwrap(), None);
        assert!(later.try_wait().is_err(), "it was reaped");
        earlier.kill().unwrap();
        earlier.wait().unwrap();
    }
}
