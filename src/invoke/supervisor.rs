//! Makes sure that a run never outlives its hook: the hook leaves it to a supervisor, a small process of this same
//! binary.
//!
//! A hook may be killed with SIGKILL, alone or with its whole process group and session, and then it cannot kill
//! anything. The supervisor runs in a session of its own and holds one end of a socket whose other end only the hook
//! has. When the hook is gone, the system closes that end, and the supervisor kills the program with all its
//! processes. The hook does the same as soon as its host is gone, or when it is asked to end.
//!
//! The protocol: the hook sends one line of JSON that says what to run. The supervisor answers with one line of JSON
//! that says how it ended, followed by the program's output. The supervisor's stdout is the lock of the run, which is
//! held as long as the program lives.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::process::{Pid, getppid, setsid};

use super::orphans::{Adoption, REAP_LIMIT};
use super::process::{self, End, has_exited};
use super::signals::{Wakeups, Watched, caught, reported};
use super::spec::Spec;

/// The only argument of a supervisor.
pub(crate) const ARGUMENT: &str = "--supervise-a-run";

/// How long the supervisor may take to kill a program: its own time limits, and a little more.
const PATIENCE: Duration = Duration::from_millis(1_200);

/// Runs a program like [`process::run`], and makes sure that it ends with this process or with this process's host.
/// `lock` is held until the program has ended.
pub(crate) fn run(spec: &Spec, lock: &File) -> End {
    process::recorded(|wakeups| delegate(spec, lock, wakeups))
}

fn delegate(spec: &Spec, lock: &File, wakeups: &Wakeups) -> Result<End, String> {
    let not_started = |error: io::Error| format!("its supervisor cannot be started: {error}");
    let host = Host::now();
    if host.is_gone() {
        return Ok(End::Abandoned);
    }
    let adoption = Adoption::begin();
    let (mut socket, theirs) = UnixStream::pair().map_err(not_started)?;
    let mut child = start(theirs, lock).map_err(not_started)?;
    let mut order = serde_json::to_vec(spec).map_err(|error| not_started(error.into()))?;
    order.push(b'\n');
    // If the supervisor has already ended, it reports nothing, which is noticed below.
    let _ = socket.write_all(&order);
    socket.set_nonblocking(true).map_err(not_started)?;

    let mut report = Vec::new();
    let mut is_reported = false;
    let watched = [(socket.as_fd(), PollFlags::IN)];
    let with_host: Vec<Watched<'_>> = watched.iter().copied().chain(host.watched()).collect();
    let is_gone = wakeups.until(Duration::MAX, &with_host, || {
        is_reported = read(&socket, &mut report);
        match () {
            () if is_reported => Some(false),
            () if caught().is_some() => Some(false),
            () if host.is_gone() => Some(true),
            () => None,
        }
    });
    if !is_reported {
        // To the supervisor, this looks like the end of this process.
        let _ = socket.shutdown(Shutdown::Write);
        wakeups.until(PATIENCE, &watched, || {
            read(&socket, &mut report).then_some(())
        });
    }
    let pid = Pid::from_child(&child);
    wakeups.until(REAP_LIMIT, &[], || {
        has_exited(pid).then(|| child.wait().ok())
    });
    // If the supervisor itself was killed, its processes have become children of this process.
    adoption.end_orphans(wakeups);
    if is_gone == Some(true) {
        return Ok(End::Abandoned);
    }
    reported_end(&report).ok_or_else(|| "its supervisor ended without a report".to_owned())
}

/// Starts the supervisor. Of our files, only the socket and the lock are open in it: it must not keep the host
/// waiting for the end of our output.
fn start(socket: UnixStream, lock: &File) -> io::Result<Child> {
    // The running binary, even if its file has been replaced in the meantime.
    let program = match cfg!(target_os = "linux") {
        true => PathBuf::from("/proc/self/exe"),
        false => std::env::current_exe()?,
    };
    Command::new(program)
        .arg0("taskie")
        .arg(ARGUMENT)
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .stdout(lock.try_clone()?)
        .stderr(Stdio::null())
        .spawn()
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

/// Returns how the program ended, as the supervisor reports it; `None` if the report is incomplete.
fn reported_end(report: &[u8]) -> Option<End> {
    let line = report.iter().position(|byte| *byte == b'\n')?;
    let (length, end): (usize, End) = serde_json::from_slice(&report[..line]).ok()?;
    let printed = &report[line + 1..];
    (printed.len() == length).then(|| match end {
        End::Exited { code, signal, .. } => End::Exited {
            code,
            signal,
            stdout: printed.to_vec(),
        },
        other => other,
    })
}

/// The process that started this one. It must also be noticed if that process ends before a run begins.
static PARENT: OnceLock<Option<Pid>> = OnceLock::new();

/// Remembers which process is waiting for our answer. Called before anything else.
pub(crate) fn remember_host() {
    PARENT.get_or_init(getppid);
}

/// The process that is waiting for our answer.
struct Host {
    parent: Option<Pid>,
    /// Stdout, if the system can say that nobody reads it anymore.
    stdout: Option<io::Stdout>,
}

impl Host {
    fn now() -> Self {
        let stdout = io::stdout();
        let can_be_watched =
            !reported((stdout.as_fd(), PollFlags::empty())).contains(PollFlags::NVAL);
        Self {
            parent: *PARENT.get_or_init(getppid),
            stdout: can_be_watched.then_some(stdout),
        }
    }

    fn watched(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let stdout = self.stdout.as_ref()?;
        Some((stdout.as_fd(), PollFlags::empty()))
    }

    /// Returns whether nobody reads our answer anymore, or the process that started us has ended.
    fn is_gone(&self) -> bool {
        let is_closed = self
            .watched()
            .is_some_and(|stdout| reported(stdout).intersects(PollFlags::ERR | PollFlags::HUP));
        is_closed || getppid() != self.parent
    }
}

/// Runs the supervisor's own process.
pub(crate) fn main() -> ExitCode {
    match supervise() {
        Ok(()) => ExitCode::SUCCESS,
        // There is nobody to report to: the hook is gone, or sees that there is no report.
        Err(_) => ExitCode::FAILURE,
    }
}

fn supervise() -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut line = Vec::new();
    BufReader::new(&socket).read_until(b'\n', &mut line)?;
    // An incomplete order: the hook is already gone.
    let order: Spec = serde_json::from_slice(&line)?;
    let end = match setsid() {
        Ok(_) => process::run(&order, Some(socket.as_fd())),
        Err(error) => End::NotStarted(format!(
            "its supervisor cannot have a session of its own: {error}"
        )),
    };
    let printed: &[u8] = match &end {
        End::Exited { stdout, .. } => stdout,
        _ => &[],
    };
    let mut report = serde_json::to_vec(&(printed.len(), &end))?;
    report.push(b'\n');
    (&socket).write_all(&report)?;
    (&socket).write_all(printed)
}
