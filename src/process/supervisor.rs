//! Makes sure that a run never outlives its hook: the hook leaves it to a supervisor, a small process of this same
//! binary, which kills the program with all its processes as soon as the hook is gone. The hook does the same as soon
//! as its host is gone, when it is asked to end, or when the supervisor doesn't report in time.
//!
//! The protocol: the hook sends one line of JSON that says what to run. The supervisor answers with one line of JSON
//! that says how it ended, followed by the program's output. The supervisor holds the lock of the run, as long as the
//! program lives.

use std::fs::File;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use super::spec::Spec;
use super::{self as process, End};
use crate::os::supervisor::{Delegated, delegate, hook, is_gone, order, stand_apart};

/// The only argument of a supervisor.
pub(crate) const ARGUMENT: &str = "--supervise-a-run";

/// How long after the program's own time the supervisor may report. Only one that was stopped takes longer.
const OVERTIME: Duration = Duration::from_secs(5);

/// Runs a program like [`process::run`], and makes sure that it ends with this process or with this process's host.
/// `lock` is held until the program has ended.
pub(crate) fn run(spec: &Spec, lock: &File) -> End {
    let not_started = |error: io::Error| format!("its supervisor cannot be started: {error}");
    process::recorded(|| {
        let mut order = serde_json::to_vec(spec).map_err(|error| not_started(error.into()))?;
        order.push(b'\n');
        let limit = spec.timeout.saturating_add(OVERTIME);
        match delegate(ARGUMENT, &order, lock, limit).map_err(not_started)? {
            Delegated::Abandoned => Ok(End::Abandoned),
            // It was stopped, or it hangs: its time has passed in any case.
            Delegated::Late => Ok(End::TimedOut),
            Delegated::Reported(report) => Ok(reported_end(&report).unwrap_or(End::Lost)),
        }
    })
}

/// Returns how the program ended, as the supervisor reports it; `None` if the report is incomplete.
fn reported_end(report: &[u8]) -> Option<End> {
    let line = report.iter().position(|byte| *byte == b'\n')?;
    let (length, end): (usize, End) = serde_json::from_slice(&report[..line]).ok()?;
    let printed = &report[line + 1..];
    (printed.len() == length).then(|| match end {
        End::Exited { code, signal, .. } => End::Exited { code, signal, stdout: printed.to_vec() },
        other => other,
    })
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
    let hook = hook()?;
    // An incomplete order: the hook is already gone.
    let order: Spec = serde_json::from_slice(&order(&hook)?)?;
    let end = match stand_apart() {
        Ok(adoption) => {
            let end = process::run(&order, || is_gone(&hook));
            adoption.end_orphans();
            end
        }
        Err(error) => {
            End::NotStarted(format!("its supervisor cannot have a session of its own: {error}"))
        }
    };
    let printed: &[u8] = match &end {
        End::Exited { stdout, .. } => stdout,
        _ => &[],
    };
    let mut report = serde_json::to_vec(&(printed.len(), &end))?;
    report.push(b'\n');
    report.extend_from_slice(printed);
    (&hook).write_all(&report)
}
