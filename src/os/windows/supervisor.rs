//! A supervisor: a small process of this same binary, which gets an order from the hook and answers with a report.
//!
//! The hook puts it into a job before it gives the order, so whatever it starts is in the job too. Only the hook has the
//! job, and the system kills everything in a job that nobody has anymore.

use std::fs::File;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::marker::PhantomData;
use std::os::windows::io::AsRawHandle as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use win32job::{ExtendedLimitInfo, Job};

use super::signals::{Wakeups, Watched};

/// The result of an order.
#[derive(Debug)]
pub(crate) enum Delegated {
    /// The supervisor's report; empty if it ended without one.
    Reported(Vec<u8>),
    /// The supervisor did not report in time, and was ended. It always does: no process can stop it.
    #[expect(dead_code, reason = "only another system has this case")]
    Late,
    /// This process's host is gone, and the supervisor was ended. That isn't noticed.
    #[expect(dead_code, reason = "only another system has this case")]
    Abandoned,
}

/// Gives an order, one line of text, to a supervisor, which is this binary with the only argument `argument`. This
/// process holds the lock: its end is the end of the supervisor.
pub(crate) fn delegate(
    argument: &str,
    order: &[u8],
    _lock: &File,
    _limit: Duration,
    _: &Wakeups,
) -> io::Result<Delegated> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits)?;
    let mut child = Command::new(std::env::current_exe()?)
        .arg(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    // It has started nothing yet, because it has no order.
    job.assign_process(child.as_raw_handle() as isize).inspect_err(|_| _ = child.kill())?;
    // If the supervisor has already ended, it reports nothing, which the caller notices.
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(order);
    }
    let report = child.stdout.take().map(received).unwrap_or_default();
    // What the program has left behind ends here, and so does the supervisor.
    drop(job);
    child.wait()?;
    Ok(Delegated::Reported(report))
}

/// Returns the report that arrives; empty if none does. It starts with its length, because the end of a pipe may never
/// come: every process that the program has started holds it open.
fn received(mut pipe: impl io::Read) -> Vec<u8> {
    let mut length = [0; 8];
    let mut report = Vec::new();
    if pipe.read_exact(&mut length).is_ok() {
        // An incomplete report is none, which the caller notices.
        let _ = pipe.take(u64::from_le_bytes(length)).read_to_end(&mut report);
    }
    report
}

/// Does nothing: the end of this process's host isn't noticed.
pub(crate) fn remember_host() {}

/// Returns whether nobody is waiting for our answer anymore: that is not known.
pub(crate) fn is_host_gone() -> bool {
    false
}

/// The supervisor's connection to the hook.
#[derive(Debug)]
pub(crate) struct Line;

impl Line {
    /// Returns the connection of this process, which is a supervisor.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self)
    }

    /// Reads the order. It is incomplete if the hook is already gone.
    pub(crate) fn order(&self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        io::stdin().lock().read_until(b'\n', &mut line)?;
        Ok(line)
    }

    /// Returns the hook, which has nothing to report: when it is gone, this process ends.
    pub(crate) fn hook(&self) -> Watched<'_> {
        Watched(PhantomData)
    }

    /// Sends the report.
    pub(crate) fn report(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(&(bytes.len() as u64).to_le_bytes())?;
        stdout.write_all(bytes)?;
        stdout.flush()
    }
}

/// Does nothing: the job keeps this process apart.
pub(crate) fn stand_apart() -> io::Result<()> {
    Ok(())
}
