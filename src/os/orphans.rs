//! Finds descendants that a program leaves behind, including those that have left its process group.
//!
//! The process group is not enough: Claude Code starts each shell command in a session of its own. On Linux, orphans
//! become children of the nearest ancestor that asks for them. Other systems offer nothing like that, so there only
//! the group is killed.

use std::time::Duration;
#[cfg(target_os = "linux")]
use std::time::Instant;

#[cfg(target_os = "linux")]
use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

#[cfg(target_os = "linux")]
use super::signals::until;

/// How long to wait for processes that got SIGKILL. Only a process that is stuck in the kernel, or belongs to another
/// user, takes that long.
pub(super) const REAP_LIMIT: Duration = Duration::from_millis(400);

/// While this exists, orphaned descendants become children of this process, so that they can be found.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct Adoption {
    /// The previous value of the process attribute, which is restored at the end.
    before: Option<Pid>,
    /// Children that existed before, for example those of a shell that has exec'd this program.
    spared: Vec<Pid>,
}

#[cfg(target_os = "linux")]
impl Adoption {
    pub(super) fn begin() -> Self {
        let before = rustix::process::child_subreaper().unwrap_or(None);
        let spared = children();
        // If this is forbidden, only the group can be killed.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Self { before, spared }
    }

    /// Kills and reaps the orphans of this process, and then the orphans that those leave, and so on.
    pub(super) fn end_orphans(&self) {
        use rustix::process::{WaitOptions, kill_process, waitpid};

        let start = Instant::now();
        loop {
            let mut orphans = self.orphans();
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

    /// Returns our children, except those that existed before, and those that another thread may have started: they are
    /// in our own process group. In a session of our own, as a supervisor has, no other thread starts any, and a
    /// descendant of the program can join that group.
    fn orphans(&self) -> Vec<Pid> {
        let ours = Belonging::of("self");
        let is_spared = |child: &Pid| {
            // Another thread may have reaped one that is not found: then its id can belong to another process.
            let its = Belonging::of(&child.as_raw_pid().to_string());
            self.spared.contains(child)
                || its.is_none_or(|its| ours.is_some_and(|ours| ours.shares_with(its)))
        };
        let mut orphans = children();
        orphans.retain(|child| !is_spared(child));
        orphans
    }
}

/// Where a process belongs, as /proc says it: the system calls of `rustix` have no value for the 0 of a group or session
/// that began outside of the pid namespace, as that of a command that is run in a container.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy)]
struct Belonging {
    group: i32,
    leads_session: bool,
}

#[cfg(target_os = "linux")]
impl Belonging {
    /// Returns nothing if there is no such process.
    fn of(process: &str) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let id = stat.split(' ').next()?;
        // The name of its program can have any bytes but NUL. After it: state, parent, group, session.
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        Some(Self { group: fields.get(2)?.parse().ok()?, leads_session: *fields.get(3)? == id })
    }

    /// Returns true if another thread of this process may have started `child`.
    fn shares_with(self, child: Self) -> bool {
        !self.leads_session && self.group == child.group
    }
}

#[cfg(target_os = "linux")]
impl Drop for Adoption {
    fn drop(&mut self) {
        // Then orphans stay with this process, which ends soon.
        let _ = rustix::process::set_child_subreaper(self.before);
    }
}

/// Returns the children of this process, including dead ones that nobody has reaped.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let exists = |id: WaitId<'_>| !matches!(waitid(id, options), Err(Errno::CHILD));
    // The most common case by far, which doesn't need /proc.
    if !exists(WaitId::All) {
        return Vec::new();
    }
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|process| {
            process.ok()?.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)
        })
        // Asking the kernel is correct even if /proc belongs to another pid namespace.
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

    pub(super) fn end_orphans(&self) {}
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;
    use crate::os::signals;

    #[test]
    fn children_of_others_are_spared() {
        let (spared, caught) = signals::recorded(|| {
            let mut earlier = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
            let adoption = Adoption::begin();
            let mut of_another_thread = Command::new("sleep").arg("1000").spawn().unwrap();
            adoption.end_orphans();
            for child in [&mut earlier, &mut of_another_thread] {
                assert_eq!(child.try_wait().unwrap(), None);
                child.kill().unwrap();
                child.wait().unwrap();
            }
        });
        assert_eq!((spared.is_ok(), caught), (true, None));
    }

    /// Runs this program again, with only the test `name`, by `command`. Returns whether it could be run.
    fn is_run_again(mut command: Command, name: &str) -> bool {
        let Ok(again) = command
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &format!("os::orphans::tests::{name}")])
            .env(AGAIN, "")
            .output()
        else {
            return false;
        };
        let output = String::from_utf8_lossy(&again.stdout);
        let is_run = output.contains("running 1 test");
        assert_eq!(again.status.success(), is_run, "{again:?}");
        is_run
    }

    /// Set where a test has started itself again.
    const AGAIN: &str = "TASKIE_TEST_AGAIN";

    /// A descendant of the program has joined the group of its supervisor. The test starts itself again as one: it would
    /// take the whole test program into another session.
    #[test]
    fn in_a_session_of_its_own_no_group_is_spared() {
        if std::env::var_os(AGAIN).is_none() {
            let name = "in_a_session_of_its_own_no_group_is_spared";
            assert!(is_run_again(Command::new("env"), name));
            return;
        }
        rustix::process::setsid().unwrap();
        end_one_of_our_group(true);
    }

    /// The group and the session of a command that is run in a container began outside of it: both are 0.
    #[test]
    fn in_a_container_our_group_is_spared() {
        if std::env::var_os(AGAIN).is_none() {
            let mut container = Command::new("unshare");
            container.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]);
            // Not every system permits a pid namespace.
            is_run_again(container, "in_a_container_our_group_is_spared");
            return;
        }
        assert_eq!(Belonging::of("self").map(|ours| ours.group), Some(0));
        end_one_of_our_group(false);
    }

    /// Ends the orphans while a child of our own group runs, which must end or not.
    #[track_caller]
    fn end_one_of_our_group(ends: bool) {
        let (ended, _) = signals::recorded(|| {
            let adoption = Adoption::begin();
            let mut joined = Command::new("sleep").arg("1000").spawn().unwrap();
            adoption.end_orphans();
            assert_eq!(children().is_empty(), ends);
            assert_eq!(joined.try_wait().is_err(), ends, "it was reaped");
            let _ = joined.kill();
        });
        ended.unwrap();
    }
}
