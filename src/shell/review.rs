//! Runs the review that is due, one at a time for each instance, and finds out its outcome.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use super::effects;
use super::gates;
use super::git::{self, Git};
use super::meanwhile::Files;
use super::performed::Performed;
use super::place::Place;
use super::seen::{self, Seen};
use super::snapshot::Snapshot;
use super::state_file;
use super::stuck::{Stuck, io};
use crate::engine::decide::decide;
use crate::engine::decision::{Effort, Ended, Invocation, Outcome, Step};
use crate::engine::event::Event;
use crate::engine::inspect::Inspector;
use crate::files::clock;
use crate::files::finding::Found;
use crate::host::events::REVIEWER;
use crate::host::hosts::{HOSTS, RESERVE};
use crate::invoke::process::End;
use crate::invoke::spec::Spec;
use crate::invoke::{log, outcome, program, supervisor};
use crate::os::file::Version;
use crate::page::counted;
use crate::store::journal::{self, Line};
use crate::store::lock::ReviewLock;
use crate::store::running::{self, CANCELLED, Note, Running};

/// What happened to a review that was due.
pub(super) enum Reviewed {
    /// It was run.
    Ran(Box<Run>),
    /// It is no longer due, and something else has to be written.
    NotDue(Arc<Git>),
    /// The event already has its answer.
    Answered(Box<Performed>),
}

/// A run that has ended, with what was there when it began.
pub(super) struct Run {
    pub(super) ended: Ended,
    /// How many phases had been entered and commands run before it.
    pub(super) revision: u64,
    pub(super) before: Arc<Snapshot>,
    /// The files that have changed since; `None` if no reviewer was started.
    pub(super) changed: Option<Vec<PathBuf>>,
    /// Held until the outcome is written: until then, the next hook would see the same review still due.
    pub(super) lock: ReviewLock,
}

/// Runs the review that is due, unless one is already running.
pub(super) fn review(place: &Place, event: &Event) -> Result<Reviewed, Stuck> {
    let answered = |performed| Ok(Reviewed::Answered(Box::new(performed)));
    if event.session.is_some()
        && let Some(why) = git::untrusted_locks(&place.root, &place.chart.scope.home)
    {
        return answered(Performed::allowed(format!("No review was started: {why}.")));
    }
    let running = ReviewLock::try_acquire(&place.store, &place.instance.name, &place.dir())
        .map_err(io("the review cannot be locked"))?;
    let Some(running) = running else {
        return answered(Performed::allowed(already_running(place)));
    };
    record_left(place);
    // Whoever held the lock a moment ago may have done what this decision asks for.
    let revision = place
        .lock()?
        .revision()
        .map_err(io("the revision cannot be read"))?;
    let git = Arc::default();
    let snapshot = place.snapshot_with(&git, false);
    let invocation = match decide(&place.chart, &snapshot.as_world(), event, None)? {
        Step::Invoke(invocation) => *invocation,
        Step::Done(decision) if decision.writes_nothing() => {
            return answered(Performed::of(&snapshot, decision));
        }
        Step::Done(_) => return Ok(Reviewed::NotDue(git)),
    };
    let seen = seen::seen(&place.chart, &place.root, &place.dir(), &invocation.subject);
    let mut announced = announced(place, &snapshot, &invocation);
    // A file system that stores no note stores no state either, and that is reported.
    let note = Note::leave(&place.store, &place.instance.name, &announced).ok();
    let mut changed = None;
    // Don't pay for a review whose outcome could not be used.
    let mut effort = Effort {
        cost: Some(0),
        ..Effort::default()
    };
    let outcome = match Inspector::new(&place.chart, &snapshot.as_world()).can_advance() {
        Ok(()) => match obstacle(place, &invocation) {
            Some(obstacle) => Outcome::Failed(obstacle),
            None => match gates::run(
                place,
                &invocation,
                hook_timeout(place, event) / 2,
                &running,
                note.as_ref(),
                &announced,
            )? {
                Some(outcome) => outcome,
                None => {
                    let mut why = None;
                    if !invocation.gates.commands.is_empty() {
                        // Gates take their time, and meanwhile the user may have decided otherwise.
                        let now = place.lock()?.revision();
                        if now.map_err(io("the revision cannot be read"))? != revision {
                            return Ok(Reviewed::NotDue(Arc::default()));
                        }
                        why = what_changed(place, event, &snapshot, &invocation);
                        let (hook, limit) = (hook_timeout(place, event), invocation.timeout);
                        announced.timeout = time_left(hook, limit, announced.elapsed());
                    }
                    match why {
                        Some(why) => Outcome::Failed(why),
                        None => {
                            announced.started = clock::now();
                            if let Some(note) = &note {
                                let _ = note.say(&announced);
                            }
                            let files = Files::read(place);
                            let outcome =
                                run(place, &invocation, announced.timeout, &running, &mut effort)?;
                            changed = Some(files.changed(place));
                            or_another(place, event, &invocation, outcome)
                        }
                    }
                }
            },
        },
        Err(fault) => Outcome::Failed(fault.to_string()),
    };
    drop(note);
    effort.seconds = announced.elapsed().as_secs();
    effort.by.clone_from(&announced.by);
    if outcome.failed_gate().is_none() {
        // Before the state: if the process is killed in between, the verdict of a review that runs again is known.
        let review = ended(place, announced, seen, &outcome, &effort);
        let _ = place.journal().add(&Line::Review(review));
    }
    Ok(Reviewed::Ran(Box::new(Run {
        ended: Ended {
            invocation,
            outcome,
            superseded: false,
            effort,
        },
        revision,
        before: snapshot,
        changed,
        lock: running,
    })))
}

/// Writes to the journal what a hook that was killed could not write.
pub(crate) fn record_killed(place: &Place) {
    let (store, name) = (&place.store, &place.instance.name);
    if running::has_note(store, name)
        && let Ok(Some(_lock)) = ReviewLock::try_acquire(store, name, &place.dir())
    {
        record_left(place);
    }
}

/// Does the same. The caller holds the review lock.
fn record_left(place: &Place) {
    let Some(running) = running::take_left(&place.store, &place.instance.name) else {
        return;
    };
    let outcome = Outcome::Failed("its hook was killed".to_owned());
    // How long it had been running is not known.
    let effort = Effort::default();
    let review = ended(place, running, Seen::default(), &outcome, &effort);
    let _ = place.journal().add(&Line::Review(review));
}

fn already_running(place: &Place) -> String {
    let noun = &place.chart.scope.noun;
    let name = &place.instance.name;
    let since = Running::read(&place.store, name, &place.dir()).map(|running| {
        let by = running.by.as_deref();
        let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
        let since = clock::in_utc(running.started);
        format!(" ({} {}{by}, since {since})", running.cycle, running.n)
    });
    let since = since.unwrap_or_default();
    let option = match place.chart.scope.is_per_session() {
        true => String::new(),
        false => format!(" --{noun} {name}"),
    };
    let cancel = place.chart.cancels();
    let cancel = cancel.map(|command| {
        let program = place.chart.program();
        format!(" To end the review: `{program} run {command}{option}`.")
    });
    format!(
        "A review of {noun} `{name}` is already running{since}: this stop is allowed.{}",
        cancel.unwrap_or_default()
    )
}

/// Returns what others are shown about a review that starts now.
fn announced(place: &Place, snapshot: &Arc<Snapshot>, invocation: &Invocation) -> Running {
    let view = Inspector::new(&place.chart, &snapshot.as_world());
    Running {
        cycle: invocation.cycle.clone(),
        n: invocation.n,
        file: invocation.file.clone(),
        // A text of the chart that fails here is reported where it matters.
        by: view.by(&invocation.name).ok().flatten(),
        started: clock::now(),
        timeout: invocation.timeout,
        log: invocation.log.clone(),
        gate: None,
    }
}

/// Returns how many seconds the host gives this hook.
fn hook_timeout(place: &Place, event: &Event) -> u64 {
    let longest = event.fields.get("longest_review").and_then(Json::as_u64);
    let of_host = longest.map_or(u64::MAX, |longest| longest.saturating_add(RESERVE));
    place.chart.hook_timeout.min(of_host)
}

/// Returns how many of its `limit` seconds a reviewer has left after its gates have taken so long: the host must not end
/// the hook before it.
fn time_left(hook: u64, limit: u64, gates: Duration) -> u64 {
    limit.min(hook.saturating_sub(RESERVE + gates.as_secs()).max(1))
}

/// Returns the outcome, with the setting that chooses the host's own program if the reviewer is missing and that is not.
fn or_another(place: &Place, event: &Event, invocation: &Invocation, outcome: Outcome) -> Outcome {
    let Outcome::Failed(why) = outcome else {
        return outcome;
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here = |program: &str| program::locate(program, &path, &place.root).is_ok();
    let program = invocation.argv.first().map_or("", String::as_str);
    let host = event.fields.get("host").and_then(Json::as_str);
    let own = host.and_then(|name| HOSTS.iter().find(|host| host.name == name));
    let own = own.filter(|own| !is_here(program) && own.id != program && is_here(own.id));
    let choice = own.and_then(|own| Some((own, place.chart.setting_for(own.id)?)));
    Outcome::Failed(match choice {
        None => why,
        Some((own, setting)) => format!(
            "{why}; {} can review itself: add \"{setting}\": \"{}\" to your settings (`{} config` names the file)",
            own.name,
            own.id,
            env!("CARGO_PKG_NAME"),
        ),
    })
}

/// Returns what prevents the run that is due from being started.
fn obstacle(place: &Place, invocation: &Invocation) -> Option<String> {
    let shown = place.instance.dir.join(&invocation.file);
    // Writing through a link would write to someone else's file, and writing to a FIFO would wait for a reader.
    let kind = place.root.join(&shown).symlink_metadata();
    let flaw = kind.ok().and_then(|meta| match meta.file_type() {
        kind if kind.is_symlink() => Some("is a symbolic link"),
        kind => (!kind.is_file()).then_some("is not a file"),
    });
    let flaw = || flaw.map(|flaw| format!("{} {flaw}", shown.display()));
    place.obstacle(invocation).or_else(flaw)
}

/// Returns what has changed while the gates ran, if the review would not be the one that was asked for: a gate may do
/// anything, and a review that does not count is not paid.
fn what_changed(
    place: &Place,
    event: &Event,
    before: &Snapshot,
    invocation: &Invocation,
) -> Option<String> {
    let now = place.snapshot();
    if now.state.text() != before.state.text() {
        let file = place.instance.dir.join(state_file::FILE);
        return Some(format!(
            "{} was changed while the gates ran",
            file.display()
        ));
    }
    let asks_again = match decide(&place.chart, &now.as_world(), event, None) {
        Ok(Step::Invoke(again)) => again.is_same_request(invocation),
        _ => false,
    };
    let what = || "what is reviewed was changed while the gates ran".to_owned();
    obstacle(place, invocation).or_else(|| (!asks_again).then(what))
}

/// Returns the journal's line about a review that has ended.
fn ended(
    place: &Place,
    announced: Running,
    seen: Seen,
    outcome: &Outcome,
    effort: &Effort,
) -> journal::Review {
    let file = std::fs::metadata(place.dir().join(&announced.file));
    let (verdict, error) = outcome.verdict_and_error();
    journal::Review {
        at: journal::now(),
        instance: place.instance.name.clone(),
        bytes: file.map_or(0, |meta| meta.len()),
        verdict: verdict.map(str::to_owned),
        error: error.map(str::to_owned),
        seconds: effort.seconds,
        cost: effort.cost,
        tokens: effort.tokens,
        found: outcome.found(),
        seen: seen.all,
        subject: seen.subject,
        until: effort.until.as_ref().map(|until| clock::rfc3339(until.at)),
        cycle: announced.cycle,
        n: announced.n,
        file: announced.file,
        by: announced.by,
    }
}

fn run(
    place: &Place,
    invocation: &Invocation,
    timeout: u64,
    running: &ReviewLock,
    effort: &mut Effort,
) -> Result<Outcome, Stuck> {
    let Some(invoke) = place.chart.invoke.get(&invocation.name) else {
        return Ok(Outcome::Failed(format!(
            "there is no invocation `{}`",
            invocation.name
        )));
    };
    let dir = place.dir();
    let file = dir.join(&invocation.file);
    let shown = place.instance.dir.join(&invocation.file);
    let before = version(&file);
    let log_file = dir.join(&invocation.log);
    // The log of a failed run stays, and nobody wants to commit it. If this fails, the run is the same.
    let _ = effects::ignore_logs(&place.root, &place.chart.scope, &invoke.log.0);
    let spec = Spec {
        argv: invocation.argv.clone(),
        cwd: place.root.clone(),
        env: vec![(REVIEWER.to_owned(), "1".to_owned())],
        log: log_file.clone(),
        logs_stdout: false,
        timeout: Duration::from_secs(timeout),
        cancel: Some(running::cancel_file(&place.store, &place.instance.name)),
    };
    let end = supervisor::run(&spec, running.file());
    // Without a process, it stays at nothing.
    if !matches!(end, End::NotStarted(_)) {
        effort.cost = None;
    }
    let program = invocation.argv.first().map_or("", String::as_str);
    let failed = |why: String| {
        let last = log::last_line(&log_file)
            .map(|line| format!(" ({line})"))
            .unwrap_or_default();
        if remove_empty(&log_file) {
            return Ok(Outcome::Failed(why));
        }
        let log = place.instance.dir.join(&invocation.log);
        let log = format!("; its log is {}", log.display());
        Ok(Outcome::Failed(format!("{why}{last}{log}")))
    };
    if let Some(stuck) = Stuck::after(&end) {
        remove_empty(&log_file);
        return Err(stuck);
    }
    let failure = end.failure();
    let (code, stdout) = match end {
        End::Exited { code, stdout, .. } => (code, stdout),
        End::NotStarted(why) => {
            // Nothing has written to the log.
            let _ = std::fs::remove_file(&log_file);
            return Ok(Outcome::Failed(why));
        }
        End::TimedOut => {
            let limit = counted(timeout, "second");
            let cut = match timeout < invocation.timeout {
                true => " (the gates had taken the rest of its time)",
                false => "",
            };
            return failed(format!("`{program}` was killed after {limit}{cut}"));
        }
        End::Cancelled => {
            remove_empty(&log_file);
            return Ok(Outcome::Failed(CANCELLED.to_owned()));
        }
        _ => (None, Vec::new()),
    };
    effort.cost = outcome::cost(invoke, &stdout);
    effort.tokens = outcome::tokens(invoke, &stdout);
    let verdict = outcome::verdict(invoke, &stdout);
    if failure.is_some() || verdict.is_err() {
        effort.until = outcome::postponed(invoke, &stdout);
    }
    if let Some(how) = failure {
        let reason = code.and_then(|_| outcome::reason_in(invoke, &stdout));
        let reason = reason.map(|why| format!(": {why}")).unwrap_or_default();
        return failed(format!("`{program}` {how}{reason}"));
    }
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(why) => return failed(format!("`{program}` failed: {why}")),
    };
    if version(&file).is_none_or(|after| after.len == 0 || Some(after) == before) {
        return failed(format!("`{program}` did not write {}", shown.display()));
    }
    // The log of a successful run is of no use to anyone; if it stays, nothing is lost.
    let _ = std::fs::remove_file(&log_file);
    let severities = &place.chart.findings.severities;
    // Without a verdict, what it found does not count either.
    let found = match verdict {
        Some(_) => outcome::found(invoke, severities, &stdout),
        None => Found::default(),
    };
    Ok(Outcome::Ran { verdict, found })
}

/// Removes an empty log; returns whether it is gone.
fn remove_empty(log: &Path) -> bool {
    let is_empty =
        std::fs::symlink_metadata(log).is_ok_and(|meta| meta.is_file() && meta.len() == 0);
    is_empty && std::fs::remove_file(log).is_ok()
}

/// Returns the version of the file at `path`; `None` if there is no regular file, even at the end of a link.
fn version(path: &Path) -> Option<Version> {
    let meta = path.symlink_metadata().ok()?;
    meta.is_file().then(|| Version::of(&meta))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reviewer_gets_what_its_gates_leave() {
        let left = |limit, gates| time_left(600, limit, Duration::from_secs(gates));
        let cases = [
            (570, 0, 570),
            (570, 20, 570),
            (570, 21, 569),
            (570, 270, 320),
            (60, 270, 60),
            (570, 9_999, 1),
        ];
        for (limit, gates, expected) in cases {
            assert_eq!(left(limit, gates), expected, "{limit} {gates}");
        }
    }
}
