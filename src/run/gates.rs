//! Runs the gates: commands that check the work before a reviewer reads it.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::clock;
use crate::command_line;
use crate::engine::decision::{FailedGate, Invocation, Outcome};
use crate::page::span;
use crate::process::End;
use crate::process::log;
use crate::process::spec::Spec;
use crate::process::supervisor;
use crate::run::place::Place;
use crate::run::stuck::Stuck;
use crate::store::facts::Running;
use crate::store::journal::{self, GateLine, Line};
use crate::store::lock::ReviewLock;
use crate::store::running::{self, Begun, CANCELLED};

/// The most characters of the output of a gate that an expression sees.
const OUTPUT: usize = 4_000;

/// The time limit of all gates together, in seconds.
const LIMIT: u64 = 270;

/// Runs the gates in order, within `most` seconds at most. Returns the outcome of a review that is not started, if one of them fails
/// or the user has ended it.
pub(crate) fn run(
    place: &Place,
    invocation: &Invocation,
    most: u64,
    lock: &ReviewLock,
    begun: &Begun<'_>,
    announced: &Running,
) -> Result<Option<Outcome>, Stuck> {
    let timeout = LIMIT.min(most);
    let limit = Duration::from_secs(timeout);
    let start = Instant::now();
    let log = running::log_file(place.journal());
    for command in &invocation.gates {
        // Without it, the gate is not shown, but nothing else changes.
        let _ = begun.then(&Running {
            gate: Some(command.clone()),
            started: clock::now(),
            timeout: timeout.saturating_sub(start.elapsed().as_secs()),
            ..announced.clone()
        });
        let began = Instant::now();
        let left = limit.saturating_sub(start.elapsed());
        let end = one(place, command, &log, left, lock);
        let stuck = Stuck::after(&end);
        if stuck.is_some() || matches!(end, End::Cancelled | End::NotStarted(_)) {
            // Nobody reads it, or it is from another gate. One that stays is only of no use.
            let _ = std::fs::remove_file(&log);
        }
        if let Some(stuck) = stuck {
            return Err(stuck);
        }
        let (error, exit) = match &end {
            End::Cancelled => return Ok(Some(Outcome::Failed(CANCELLED.to_owned()))),
            End::TimedOut => {
                let (all, own) = (span(limit), span(began.elapsed()));
                let why = format!("was killed after {own}: all gates together may take {all}");
                (Some(why), None)
            }
            End::Exited { code, .. } => (end.failure(), *code),
            _ => (end.failure(), None),
        };
        let line = GateLine {
            at: journal::now(),
            instance: place.instance.name.clone(),
            cycle: invocation.cycle.clone(),
            n: invocation.n,
            command: command.clone(),
            exit,
            error,
            seconds: began.elapsed().as_secs(),
        };
        if let Some(outcome) = recorded(place, line, &log) {
            return Ok(Some(outcome));
        }
    }
    // All have succeeded, so nobody reads their log.
    let _ = std::fs::remove_file(&log);
    Ok(None)
}

/// Runs one of them.
fn one(place: &Place, command: &str, log: &Path, left: Duration, lock: &ReviewLock) -> End {
    let argv = match command_line::words(command) {
        Err(why) => return End::NotStarted(why),
        Ok(argv) => argv,
    };
    let spec = Spec {
        argv,
        cwd: place.root.clone().into(),
        env: Vec::new(),
        log: log.into(),
        logs_stdout: true,
        timeout: left,
        cancel: Some(running::cancel_file(place.journal())),
    };
    supervisor::run(&spec, lock.file())
}

/// Adds the line about a gate to the journal. Returns the outcome if it has failed.
fn recorded(place: &Place, line: GateLine, log: &Path) -> Option<Outcome> {
    let (command, error) = (line.command.clone(), line.error.clone());
    let written = place.journal().add(&Line::Gate(line));
    let why = error?;
    Some(match written {
        Ok(()) => Outcome::Gate(FailedGate {
            command,
            why,
            output: log::last_lines(log, OUTPUT),
            times: place.journal().failed_gates(),
        }),
        // Then nobody can count how often it fails, and the agent could be blocked forever.
        Err(error) => Outcome::Failed(format!(
            "the gate `{command}` {why}, and the journal cannot be written: {error}"
        )),
    })
}
