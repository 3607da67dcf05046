//! Runs the reviewer's program, and finds out its result.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::chart::Invoke;
use crate::chart::known::REVIEW_TIMEOUT;
use crate::disk;
use crate::engine::decision::{Effort, Invocation, Outcome};
use crate::host::events::REVIEWER;
use crate::os::file::Version;
use crate::page::counted;
use crate::process::End;
use crate::process::log;
use crate::process::spec::Spec;
use crate::process::supervisor;
use crate::reviewer::finding::Found;
use crate::reviewer::output::Printed;
use crate::run::place::Place;
use crate::run::stuck::Stuck;
use crate::store::lock::ReviewLock;
use crate::store::running::{self, CANCELLED};

/// Runs the reviewer, and returns its outcome and what it took.
pub(super) fn run(
    place: &Place,
    invocation: &Invocation,
    timeout: u64,
    lock: &ReviewLock,
) -> Result<(Outcome, Effort), Stuck> {
    let file = place.dir().join(&invocation.file);
    let reviewer = Reviewer {
        place,
        invocation,
        invoke: &place.chart.reviewers[&invocation.name],
        timeout,
        before: version(&file),
        file,
        log: running::log_file(place.journal()),
    };
    let spec = Spec {
        // A prompt can contain anything; an argument ends at this sign.
        argv: (invocation.argv.iter().map(|arg| arg.replace('\0', "\u{fffd}"))).collect(),
        cwd: place.root.clone().into(),
        env: vec![(REVIEWER.to_owned(), "1".to_owned())],
        log: reviewer.log.clone().into(),
        logs_stdout: false,
        timeout: Duration::from_secs(timeout),
        cancel: Some(running::cancel_file(place.journal())),
    };
    let end = supervisor::run(&spec, lock.file());
    if let Some(stuck) = Stuck::after(&end) {
        reviewer.remove_empty_log();
        return Err(stuck);
    }
    Ok(reviewer.ended(end))
}

/// A run of the reviewer.
struct Reviewer<'r> {
    place: &'r Place,
    invocation: &'r Invocation,
    invoke: &'r Invoke,
    /// Its time limit in seconds.
    timeout: u64,
    /// The file that it writes.
    file: PathBuf,
    /// That file before the run.
    before: Option<Version>,
    log: PathBuf,
}

impl Reviewer<'_> {
    /// Returns its result, and what it took.
    fn ended(&self, end: End) -> (Outcome, Effort) {
        let failure = end.failure();
        let (code, stdout) = match end {
            End::Exited { code, stdout, .. } => (code, stdout),
            End::NotStarted(why) => {
                // Nothing has written to the log.
                let _ = fs::remove_file(&self.log);
                return (Outcome::Failed(why), free());
            }
            End::TimedOut => {
                let limit = counted(self.timeout, "second");
                let why = format!("was killed after {limit}, the limit of `{REVIEW_TIMEOUT}`");
                let why = format!("`{}` {why}", self.program());
                return (self.failed(why), Effort::default());
            }
            End::Cancelled => {
                self.remove_empty_log();
                return (Outcome::Failed(CANCELLED.to_owned()), Effort::default());
            }
            _ => (None, Vec::new()),
        };
        let Printed { verdict, failure: why, reason, found, text, cost, until } =
            Printed::read(self.invoke, &stdout);
        let has_failed = failure.is_some() || why.is_some();
        let effort = Effort { cost, until: until.filter(|_| has_failed), ..Effort::default() };
        let program = self.program();
        let written = match (failure, why) {
            (Some(how), _) => {
                let reason = reason.filter(|_| code.is_some());
                let reason = reason.map(|why| format!(": {why}")).unwrap_or_default();
                Err(format!("`{program}` {how}{reason}"))
            }
            (None, Some(why)) => Err(format!("`{program}` failed: {why}")),
            (None, None) => self.ensure_written(text),
        };
        if let Err(why) = written {
            return (self.failed(why), effort);
        }
        // The log of a successful run is of no use to anyone; if it stays, nothing is lost.
        let _ = fs::remove_file(&self.log);
        // Without a verdict, what it found does not count either.
        let found = if verdict.is_some() { found } else { Found::default() };
        (Outcome::Ran { verdict, found }, effort)
    }

    fn program(&self) -> &str {
        self.invocation.argv.first().map_or("", String::as_str)
    }

    /// Writes the review from what the reviewer printed, unless it has written the file itself.
    fn ensure_written(&self, text: Option<String>) -> Result<(), String> {
        let now = version(&self.file).filter(|after| after.len > 0);
        if now.is_some() && now != self.before {
            return Ok(());
        }
        let shown = self.place.instance.dir.join(&self.invocation.file);
        let shown = shown.display();
        let Some(text) = text else {
            let program = self.program();
            return Err(match self.invoke.text {
                false => format!("`{program}` did not write {shown}"),
                true => {
                    format!("the answer of `{program}` has no `review`, the text of its review")
                }
            });
        };
        fs::create_dir_all(self.place.dir())
            .and_then(|()| disk::replace(&self.file, format!("{text}\n").as_bytes()))
            .map_err(|error| format!("{shown} cannot be written: {error}"))
    }

    /// Returns the outcome of a run that failed, with the last line of its log.
    fn failed(&self, why: String) -> Outcome {
        let last = log::last_line(&self.log).map(|line| format!(" ({line})")).unwrap_or_default();
        if self.remove_empty_log() {
            return Outcome::Failed(why);
        }
        let log = self.log.strip_prefix(&self.place.root).unwrap_or(&self.log).display();
        Outcome::Failed(format!("{why}{last}; its log is {log}"))
    }

    /// Removes an empty log; returns whether it is gone.
    fn remove_empty_log(&self) -> bool {
        let meta = fs::symlink_metadata(&self.log);
        let is_empty = meta.is_ok_and(|meta| meta.is_file() && meta.len() == 0);
        is_empty && fs::remove_file(&self.log).is_ok()
    }
}

/// Returns the effort of a run without a process.
pub(super) fn free() -> Effort {
    Effort { cost: Some(0), not_started: true, ..Effort::default() }
}

/// Returns the version of the file at `path`; `None` if there is no regular file, even at the end of a link.
fn version(path: &Path) -> Option<Version> {
    let meta = path.symlink_metadata().ok()?;
    meta.is_file().then(|| Version::of(&meta))
}
