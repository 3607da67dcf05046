//! Starts a program in such a way that it ends with this process, even if this process is killed.
//!
//! Linux kills a process whose parent has ended, if the process itself has asked for that. So this binary starts in the
//! program's place, asks, and becomes the program. Its stdin is a socket on which it reports why it couldn't. A program
//! that takes another user's rights loses the bond, and so does everything that the program starts.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use rustix::process::{Pid, getpid, getppid};

/// Whether a program ends with this process, however this process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bond {
    /// It ends if this process ends it.
    Loose,
    /// It ends in any case, where the system can do that.
    Tight,
}

/// The running binary on Linux, even if its file has been replaced in the meantime.
pub(super) const SELF: &str = "/proc/self/exe";

/// The first argument of this binary in a program's place. After it: the id of the process that the program ends with, the
/// program's name, its file, and its arguments.
const ARGUMENT: &str = "--become";

/// How long this binary may take to become the program. After that, the program counts as started.
const PATIENCE: Duration = Duration::from_secs(5);

impl Bond {
    /// Returns the command that starts `file`, which sees `name` as its own. Its arguments are still to be added.
    pub(crate) fn command(self, file: &Path, name: &str) -> Command {
        let mut command = Command::new(if self.is_kept() { Path::new(SELF) } else { file });
        match self.is_kept() {
            false => command.arg0(name),
            true => command
                .arg0("taskie")
                .args([ARGUMENT, getpid().as_raw_nonzero().to_string().as_str(), name])
                .arg(file),
        };
        command
    }

    /// Starts what [`Bond::command`] has returned, with an empty stdin.
    pub(super) fn spawn(self, command: &mut Command) -> io::Result<Child> {
        if !self.is_kept() {
            return command.stdin(Stdio::null()).spawn();
        }
        let (mut ours, theirs) = UnixStream::pair()?;
        let spawned = command.stdin(OwnedFd::from(theirs)).spawn();
        // The command would keep the other end open.
        command.stdin(Stdio::null());
        let mut child = spawned?;
        ours.set_read_timeout(Some(PATIENCE))?;
        let mut code = [0; 4];
        match ours.read_exact(&mut code) {
            Ok(()) => {
                child.wait()?;
                Err(io::Error::from_raw_os_error(i32::from_ne_bytes(code)))
            }
            // Nothing but the end of the socket: it has become the program.
            Err(_) => Ok(child),
        }
    }

    fn is_kept(self) -> bool {
        cfg!(target_os = "linux") && self == Self::Tight
    }
}

/// Becomes a program, if that is what this process was started for. Returns only if that fails.
pub(crate) fn become_program(args: &[OsString]) -> Option<ExitCode> {
    let [_, argument, parent, name, file, rest @ ..] = args else {
        return None;
    };
    if argument != ARGUMENT {
        return None;
    }
    // It closes by itself when the program starts.
    let socket = io::stdin().as_fd().try_clone_to_owned();
    ask_to_end_with_parent();
    // The parent may have ended before.
    let parent = parent.to_str().and_then(|id| id.parse().ok());
    if parent.and_then(Pid::from_raw) == getppid() {
        let error = exec(name, file, rest);
        if let Ok(socket) = socket {
            let code = error.raw_os_error().unwrap_or_default();
            // If nobody reads it, nobody waits for the program either.
            let _ = UnixStream::from(socket).write_all(&code.to_ne_bytes());
        }
    }
    Some(ExitCode::FAILURE)
}

fn exec(name: &OsStr, file: &OsStr, arguments: &[OsString]) -> io::Error {
    let mut command = Command::new(file);
    command.arg0(name).args(arguments).stdin(Stdio::null());
    command.exec()
}

fn ask_to_end_with_parent() {
    // If this is forbidden, the parent still ends the program when it ends in good order.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}
