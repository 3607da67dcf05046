//! A supervisor: a small process of this same binary, which gets an order from the hook and answers with a report.
//!
//! A hook may be killed with SIGKILL, alone or with its whole process group and session, and then it cannot kill
//! anything. The supervisor runs in a session of its own and holds one end of a socket whose other end only the hook
//! has. When the hook is gone, the system closes that end, and the supervisor learns of it.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::process::{Pid, Signal, getppid, kill_process, setsid};

use super::group::has_exited;
use super::orphans::{Adoption, REAP_LIMIT};
use super::signals::{caught, reported, until};

/// The running binary on Linux, even if its file has been replaced in the meantime.
const SELF: &str = "/proc/self/exe";

/// How long the supervisor may take to kill a program: its own time limits, and a little more.
const PATIENCE: Duration = Duration::from_millis(1_200);

/// The result of an order.
#[derive(Debug)]
pub(crate) enum Delegated {
    /// The supervisor's report; empty if it ended without one.
    Reported(Vec<u8>),
    /// The supervisor did not report in time, and was ended.
    Late,
    /// This process's host is gone, and the supervisor was ended.
    Abandoned,
}

/// Gives an order to a supervisor, which is this binary with the only argument `argument`. It has
/// `limit` to report, and holds `lock` as long as it runs.
///
/// If this process ends, or is asked to end, so does the supervisor with all processes that it has started.
pub(crate) fn delegate(
    argument: &str,
    order: &[u8],
    lock: &File,
    limit: Duration,
) -> io::Result<Delegated> {
    if is_host_gone() {
        return Ok(Delegated::Abandoned);
    }
    let adoption = Adoption::begin();
    let (socket, theirs) = UnixStream::pair()?;
    let mut child = start(argument, theirs, lock)?;
    give(&socket, order);
    // A report that comes is read at once.
    socket.set_read_timeout(Some(PATIENCE / 100))?;

    let pid = Pid::from_child(&child);
    let mut report = Vec::new();
    let mut is_reported = false;
    let is_gone = until(limit, || {
        is_reported = read(&socket, &mut report);
        match () {
            () if is_reported || caught().is_some() => Some(false),
            () => is_host_gone().then_some(true),
        }
    });
    if !is_reported {
        // To the supervisor, this looks like the end of this process. It notices nothing if it was stopped.
        let _ = socket.shutdown(Shutdown::Write);
        let _ = kill_process(pid, Signal::CONT);
        until(PATIENCE, || read(&socket, &mut report).then_some(()));
        // It may have been stopped again. If it has ended, this does nothing: it was not reaped.
        let _ = kill_process(pid, Signal::KILL);
    }
    until(REAP_LIMIT, || has_exited(pid).then(|| child.wait().ok()));
    // If the supervisor itself was killed, its processes have become children of this process.
    adoption.end_orphans();
    Ok(match is_gone {
        Some(true) => Delegated::Abandoned,
        Some(false) => Delegated::Reported(report),
        None => Delegated::Late,
    })
}

/// Starts the supervisor. Of our files, only the socket and the lock are open in it: it must not keep the host
/// waiting for the end of our output.
fn start(argument: &str, socket: UnixStream, lock: &File) -> io::Result<Child> {
    let program = match cfg!(target_os = "linux") {
        true => PathBuf::from(SELF),
        false => std::env::current_exe()?,
    };
    Command::new(program)
        .arg0("taskie")
        .arg(argument)
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .stdout(lock.try_clone()?)
        .stderr(Stdio::null())
        .spawn()
}

/// Sends the order. If that fails, the supervisor ends without a report, which the caller notices: it has ended already, or
/// it must not wait for the rest.
fn give(mut socket: &UnixStream, order: &[u8]) {
    if socket.write_all(order).is_err() {
        let _ = socket.shutdown(Shutdown::Write);
    }
}

/// Adds what has arrived to `report`; returns true at its end.
fn read(mut socket: &UnixStream, report: &mut Vec<u8>) -> bool {
    let mut part = [0; 16 * 1024];
    loop {
        match socket.read(&mut part) {
            Ok(0) => return true,
            Ok(count) => report.extend_from_slice(&part[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
}

/// The process that started this one, and waits for it; `None`: nobody does. It must also be noticed if that process ends before a
/// run begins.
static PARENT: OnceLock<Option<Pid>> = OnceLock::new();

/// Remembers which process is waiting for our answer. Called before anything else.
pub(crate) fn remember_host() {
    PARENT.get_or_init(getppid);
}

/// Goes on if the process ends that started this one.
pub(crate) fn outlive_host() {
    PARENT.get_or_init(|| None);
}

/// Returns whether nobody reads our answer anymore, or the process that waits for it has ended.
fn is_host_gone() -> bool {
    let parent = *PARENT.get_or_init(getppid);
    let closed = PollFlags::ERR | PollFlags::HUP;
    parent.is_some() && getppid() != parent
        || reported(&io::stdout(), PollFlags::empty()).intersects(closed)
}

/// Returns the connection of this process, which is a supervisor, to its hook.
pub(crate) fn hook() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Returns whether the hook is gone, or wants no report anymore.
pub(crate) fn is_gone(hook: &UnixStream) -> bool {
    !reported(hook, PollFlags::IN).is_empty()
}

/// Keeps this process apart from the one that started it, so that it is not killed together with that one, and has it find what a
/// program leaves behind.
pub(crate) fn stand_apart() -> io::Result<Adoption> {
    // A process that was stopped goes on when its parent ends, and notices that.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::CONT));
    setsid()?;
    Ok(Adoption::begin())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_an_order_that_cannot_be_sent() {
        let (hook, mut supervisor) = UnixStream::pair().unwrap();
        // More than fits: the error comes in the middle.
        hook.set_nonblocking(true).unwrap();
        give(&hook, &vec![b' '; 1 << 24]);
        let wait = Some(Duration::from_secs(10));
        supervisor.set_read_timeout(wait).unwrap();
        let read = supervisor.read_to_end(&mut Vec::new()).unwrap();
        assert!((1..1 << 24).contains(&read));
    }
}
