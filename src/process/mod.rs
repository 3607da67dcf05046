//! Runs one external program until it ends, a deadline passes or this process is asked to end, and leaves none of its
//! processes behind. The caller decides what to run, what the output means and what to write afterward: nothing here
//! knows about charts or reviews.

pub(crate) mod log;
pub(crate) mod program;
pub(crate) mod spec;
pub(crate) mod supervisor;

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::os::group::Group;
use crate::os::regular::create_private;
use crate::os::signals::{self, caught, until};
use spec::Spec;

/// How long a group may take to end after SIGTERM.
///
/// Claude Code sends a hook SIGKILL about 1.5 s after SIGTERM: this time and what [`Group::end`] may take must be
/// shorter than that.
const GRACE: Duration = Duration::from_millis(500);

/// A program that prints more than this, or writes more to its log, is killed. No more than this stays on the disk.
pub(super) const MAX_OUTPUT: u64 = 16 * 1024 * 1024;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    /// The program ended, or someone else killed it.
    Exited {
        /// The exit code; `None` if a signal killed it.
        code: Option<i32>,
        /// The number of the signal that killed it.
        signal: Option<i32>,
        /// Everything it printed. Also empty if it cannot be read back.
        stdout: Vec<u8>,
    },
    /// The deadline passed, and the program was killed.
    TimedOut,
    /// The program wrote more than allowed, and was killed.
    TooMuchOutput,
    /// This process got SIGTERM, SIGINT or SIGHUP, and the program was killed (or not even started).
    ///
    /// The caller should exit at once and change nothing; another run would give the same result and start nothing.
    Interrupted {
        /// The number of the signal.
        signal: i32,
    },
    /// The user has cancelled the run, and the program was killed.
    Cancelled,
    /// Nobody is waiting for the run anymore, and the program was killed.
    Abandoned,
    /// The process that watched over the run was killed, and the program with it. What it has cost is unknown.
    Lost,
    /// The program did not run; this is the reason, as a sentence for the user without a period.
    NotStarted(String),
}

impl End {
    /// Returns how the program ended, as the rest of a sentence; `None` if it ended well.
    pub(crate) fn failure(&self) -> Option<String> {
        Some(match self {
            Self::Exited { code: Some(0), .. } => return None,
            Self::Exited { code: Some(code), .. } => format!("exited with code {code}"),
            Self::Exited { signal, .. } => {
                format!("was killed by signal {}", signal.unwrap_or_default())
            }
            Self::TooMuchOutput => "was killed: it wrote more than 16 MiB".to_owned(),
            Self::TimedOut | Self::Cancelled | Self::Interrupted { .. } | Self::Abandoned => {
                "was killed".to_owned()
            }
            Self::Lost => "was killed with its supervisor".to_owned(),
            Self::NotStarted(why) => format!("could not be started: {why}"),
        })
    }
}

/// Runs a program until it ends, with an empty stdin, stdout captured and stderr in the log.
///
/// However it ends, its whole process group is gone on return. Only one run happens at a time: a second thread waits until the first run
/// ends. Before and after a run, SIGTERM, SIGINT and SIGHUP have their default effect, even if this process was
/// started with one of them ignored.
///
/// The program is killed once `is_abandoned`.
pub(crate) fn run(spec: &Spec, is_abandoned: impl Fn() -> bool) -> End {
    recorded(|| watch_over(spec, is_abandoned))
}

/// Does a run while signals are recorded. The error of `run` says why the program was not started.
pub(super) fn recorded(run: impl FnOnce() -> Result<End, String>) -> End {
    match signals::recorded(|| run().unwrap_or_else(End::NotStarted)) {
        (_, Some(signal)) => End::Interrupted { signal },
        (Ok(end), None) => end,
        (Err(error), None) => End::NotStarted(format!("signals cannot be handled: {error}")),
    }
}

fn watch_over(spec: &Spec, is_abandoned: impl Fn() -> bool) -> Result<End, String> {
    if let Some(signal) = caught() {
        return Ok(End::Interrupted { signal });
    }
    // A file, not a pipe: a process that cannot be killed and keeps it open must not block us.
    let captured = tempfile::tempfile().map_err(|error| {
        let folder = std::env::temp_dir();
        format!("no temporary file can be created in {}: {error}", folder.display())
    })?;
    let log = open_log(spec)?;
    let stdout = if spec.logs_stdout { &log } else { &captured };
    let mut group = start(spec, stdout, &log)?;
    let ended = until(spec.timeout, || {
        if let Some(signal) = caught() {
            Some(Err(End::Interrupted { signal }))
        } else if group.has_ended() {
            Some(Ok(()))
        } else if is_abandoned() {
            Some(Err(End::Abandoned))
        } else if spec.cancel.as_ref().is_some_and(|file| Path::new(file).exists()) {
            Some(Err(End::Cancelled))
        } else {
            [stdout, &log]
                .into_iter()
                .any(|file| file.metadata().is_ok_and(|meta| meta.len() > MAX_OUTPUT))
                .then_some(Err(End::TooMuchOutput))
        }
    });
    let ended = ended.unwrap_or(Err(End::TimedOut));
    if ended.is_err() {
        group.ask_to_end();
        until(GRACE, || group.has_ended().then_some(()));
    }
    let status = group.end();
    if log.metadata().is_ok_and(|meta| meta.len() > MAX_OUTPUT) {
        // In a flood, more was written before anyone looked.
        let _ = log.set_len(MAX_OUTPUT);
    }

    Ok(match ended {
        Err(why) => why,
        Ok(()) => End::Exited {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            stdout: contents(&captured),
        },
    })
}

/// Starts the program. The error says why it could not be started.
fn start(spec: &Spec, stdout: &File, log: &File) -> Result<Group, String> {
    let (program, arguments) = spec.argv.split_first().ok_or("no program is given")?;
    // Checked first, because a failed spawn looks the same for a missing directory and a missing program.
    if !spec.dir().is_dir() {
        let cwd = spec.cwd.display();
        return Err(format!("the working directory {cwd} does not exist"));
    }
    let file = program::locate(program, spec.dir())?;
    let copy = |file: &File| {
        file.try_clone().map_err(|error| format!("its output cannot be captured: {error}"))
    };
    let mut command = Command::new(&file);
    command
        .arg0(program)
        .args(arguments)
        .current_dir(&spec.cwd)
        .envs(spec.env.iter().cloned())
        .stdout(copy(stdout)?)
        .stderr(copy(log)?);
    Group::start(&mut command)
        .map_err(|error| program::why_not_started(spec, program, &file, &error))
}

/// Opens the log. Only the user may read it: the program may write about the user's account.
fn open_log(spec: &Spec) -> Result<File, String> {
    create_private(Path::new(&spec.log))
        .map_err(|error| format!("the log {} cannot be written: {error}", spec.log.display()))
}

/// Returns the contents of a file, without moving the offset, which a surviving writer would share.
fn contents(file: &File) -> Vec<u8> {
    let length = file.metadata().map_or(0, |metadata| metadata.len().min(MAX_OUTPUT));
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    match file.read_at(&mut bytes, 0) {
        Ok(count) if count == bytes.len() => bytes,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
