//! Makes sure that a run never outlives its hook: the hook leaves it to a supervisor, a small process of this same
//! binary, which kills the program with all its processes as soon as the hook is gone. The hook does the same as soon
//! as its host is gone, when it is asked to end, or when the supervisor doesn't report in time.
//!
//! The protocol: the hook sends JSON that says what to run. The supervisor answers with JSON that says how it ended, and what the
//! program has printed. The supervisor holds the lock of the run, as long as the program lives.

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::Deserializer;

use super::spec::Spec;
use super::{self as process, End};
use crate::os::supervisor::{Delegated, delegate, hook, is_gone, stand_apart};

/// The only argument of a supervisor.
pub(crate) const ARGUMENT: &str = "--supervise-a-run";

/// How long after the program's own time the supervisor may report. Only one that was stopped takes longer.
const OVERTIME: Duration = Duration::from_secs(5);

/// Runs a program like [`process::run`], and makes sure that it ends with this process or with this process's host.
/// `lock` is held until the program has ended.
pub(crate) fn run(spec: &Spec, lock: &File) -> End {
    let not_started = |error: io::Error| format!("its supervisor cannot be started: {error}");
    process::recorded(|| {
        let order = serde_json::to_vec(spec).map_err(|error| not_started(error.into()))?;
        let limit = spec.timeout.saturating_add(OVERTIME);
        match delegate(ARGUMENT, &order, lock, limit).map_err(not_started)? {
            Delegated::Abandoned => Ok(End::Abandoned),
            // It was stopped, or it hangs: its time has passed in any case.
            Delegated::Late => Ok(End::TimedOut),
            // An incomplete report: it was killed.
            Delegated::Reported(report) => Ok(serde_json::from_slice(&report).unwrap_or(End::Lost)),
        }
    })
}

/// Runs the supervisor's own process.
pub(crate) fn main() -> ExitCode {
    // There is nobody to report an error to: the hook is gone, or sees that there is no report.
    supervise().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn supervise() -> io::Result<()> {
    let hook = hook()?;
    // An incomplete order: the hook is already gone.
    let order = Spec::deserialize(&mut Deserializer::from_reader(BufReader::new(&hook)))?;
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
    (&hook).write_all(&serde_json::to_vec(&end)?)
}
