//! Runs the review that is due, one at a time for each instance, and finds out its outcome.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use crate::chart::model::{Amount, setting_in};
use crate::clock;
use crate::disk;
use crate::engine::decide::decide;
use crate::engine::decision::{Effort, Ended, Invocation, Outcome, Step};
use crate::engine::event::Event;
use crate::engine::inspect::Inspector;
use crate::host::events::REVIEWER;
use crate::host::hosts::{HOSTS, RESERVE};
use crate::os::file::Version;
use crate::page::counted;
use crate::process::End;
use crate::process::log;
use crate::process::program;
use crate::process::spec::Spec;
use crate::process::supervisor;
use crate::project::git::{self, Git};
use crate::project::manifest::Manifest;
use crate::project::seen::{self, Seen};
use crate::project::state_file;
use crate::reviewer::finding::Found;
use crate::reviewer::outcome;
use crate::run::effects;
use crate::run::gates;
use crate::run::keep;
use crate::run::meanwhile::Files;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::snapshot::Snapshot;
use crate::run::stuck::{Stuck, io};
use crate::store::journal::{self, Line};
use crate::store::lock::ReviewLock;
use crate::store::running::{self, CANCELLED, Note, Running};

/// What happened to a review that was due.
pub(crate) enum Reviewed {
    /// It was run.
    Ran(Box<Unwritten>),
    /// It is no longer due, and something else has to be written.
    NotDue(Arc<Git>),
    /// The event already has its answer.
    Answered(Box<Performed>),
}

/// A run that has ended and is not written yet, with what was there when it began.
pub(crate) struct Unwritten {
    pub(crate) ended: Ended,
    /// How many phases had been entered and commands run before it.
    pub(crate) revision: u64,
    pub(crate) before: Arc<Snapshot>,
    /// The files that have changed since; `None` if no reviewer was started.
    pub(crate) changed: Option<Vec<PathBuf>>,
    /// Held until the outcome is written: until then, the next hook would see the same review still due.
    pub(crate) lock: ReviewLock,
}

impl Unwritten {
    /// Says that the review has ended and does not count; `None` if it failed.
    pub(crate) fn in_words(&self, place: &Place) -> Option<String> {
        let Invocation { cycle, n, file, .. } = &self.ended.invocation;
        let Outcome::Ran { verdict, .. } = &self.ended.outcome else {
            return None;
        };
        let verdict = verdict.as_deref().unwrap_or("no verdict");
        let file = place.instance.dir.join(file);
        Some(format!(
            "The {cycle} {n} has ended with {verdict}, but does not count: its review is in {}.",
            file.display()
        ))
    }
}

/// Runs the review that is due, unless one is already running. The hook has been at it for the time `before`.
pub(crate) fn review(place: &Place, event: &Event, before: Duration) -> Result<Reviewed, Stuck> {
    let answered = |performed| Ok(Reviewed::Answered(Box::new(performed)));
    if event.session.is_some()
        && let Some(why) = git::untrusted_locks(&place.root, &place.chart.scope.home)
    {
        return answered(Performed::allowed(format!("No review was started: {why}.")));
    }
    let running = ReviewLock::try_acquire(&place.store, &place.instance.name, &place.dir())
        .map_err(io("the review cannot be locked"))?;
    let Some(running) = running else {
        return answered(Performed::allowed(already_running(place, event)));
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
    let mut due_review = keep::due(place, &snapshot, &invocation);
    let seen = seen::seen(&place.chart, &place.root, &place.dir(), &invocation.subject);
    let mut announced = announced(place, event, &snapshot, &invocation);
    let hook = hook_timeout(place, event).saturating_sub(before.as_secs());
    if !before.is_zero() {
        announced.timeout = time_left(hook, invocation.timeout, Duration::ZERO);
    }
    // A file system that stores no note stores no state either, and that is reported.
    let note = Note::leave(&place.store, &place.instance.name, &announced).ok();
    let due = Due {
        snapshot: &snapshot,
        invocation: &invocation,
        revision,
        hook,
        lock: &running,
        note: note.as_ref(),
    };
    let Some(attempt) = due.attempt(place, event, announced)? else {
        return Ok(Reviewed::NotDue(Arc::default()));
    };
    drop(note);
    let Attempt {
        announced,
        outcome,
        effort,
        changed,
        tree,
    } = attempt;
    due_review.tree = tree;
    // Without it, a receipt says that something is not in the record.
    let _ = keep::ended(place, due_review, (&outcome, &effort));
    if outcome.failed_gate().is_none() {
        // Before the state: if the process is killed in between, the verdict of a review that runs again is known.
        let review = ended(place, announced, seen, &outcome, &effort);
        let _ = place.journal().add(&Line::Review(review));
    }
    Ok(Reviewed::Ran(Box::new(Unwritten {
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

/// A review that is due, and what it holds.
struct Due<'r> {
    snapshot: &'r Arc<Snapshot>,
    invocation: &'r Invocation,
    revision: u64,
    /// How many seconds the host leaves for it.
    hook: u64,
    lock: &'r ReviewLock,
    note: Option<&'r Note>,
}

/// How far a review came.
struct Attempt {
    announced: Running,
    outcome: Outcome,
    effort: Effort,
    /// As in [`Unwritten`].
    changed: Option<Vec<PathBuf>>,
    /// The work tree that the reviewer saw.
    tree: Option<Manifest>,
}

impl Attempt {
    /// Returns one in which no reviewer was started.
    fn without_reviewer(announced: Running, outcome: Outcome) -> Self {
        Self {
            effort: effort(&announced, free()),
            announced,
            outcome,
            changed: None,
            tree: None,
        }
    }
}

/// Returns the effort of a run without a process.
fn free() -> Effort {
    Effort {
        cost: Some(0),
        ..Effort::default()
    }
}

/// Adds who has been at it for how long.
fn effort(announced: &Running, effort: Effort) -> Effort {
    Effort {
        seconds: announced.elapsed().as_secs(),
        by: announced.by.clone(),
        ..effort
    }
}

impl Due<'_> {
    /// Runs the gates, then the reviewer; `None` if the review is no longer due after the gates.
    fn attempt(
        &self,
        place: &Place,
        event: &Event,
        mut announced: Running,
    ) -> Result<Option<Attempt>, Stuck> {
        let invocation = self.invocation;
        let without = |announced, outcome| Ok(Some(Attempt::without_reviewer(announced, outcome)));
        // Don't pay for a review whose outcome could not be used.
        let view = Inspector::new(&place.chart, &self.snapshot.as_world());
        if let Err(fault) = view.can_advance() {
            return without(announced, Outcome::Failed(fault.to_string()));
        }
        if let Some(obstacle) = obstacle(place, invocation) {
            return without(announced, Outcome::Failed(obstacle));
        }
        let hook = self.hook;
        let gates = gates::run(
            place,
            invocation,
            hook / 2,
            self.lock,
            self.note,
            &announced,
        )?;
        if let Some(outcome) = gates {
            return without(announced, outcome);
        }
        if !invocation.gates.commands.is_empty() {
            // Gates take their time, and meanwhile the user may have decided otherwise.
            let now = place.lock()?.revision();
            if now.map_err(io("the revision cannot be read"))? != self.revision {
                return Ok(None);
            }
            if let Some(why) = what_changed(place, event, self.snapshot, invocation) {
                return without(announced, Outcome::Failed(why));
            }
            announced.timeout = time_left(hook, invocation.timeout, announced.elapsed());
        }
        announced.started = clock::now();
        if let Some(note) = self.note {
            let _ = note.say(&announced);
        }
        let tree = keep::tree(place, self.snapshot, event);
        let files = Files::read(place);
        let run = run(place, invocation, announced.timeout, self.lock);
        let (outcome, spent) = run.inspect_err(|stuck| {
            let spent = effort(&announced, Effort::default());
            record_lost(place, announced.clone(), stuck.to_string(), &spent);
        })?;
        Ok(Some(Attempt {
            changed: Some(files.changed(place)),
            tree,
            outcome: or_another(place, event, invocation, outcome),
            effort: effort(&announced, spent),
            announced,
        }))
    }
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
    // How long it had been running is not known.
    let spent = Effort::default();
    record_lost(place, running, "its hook was killed".to_owned(), &spent);
}

/// Writes to the journal a review that was lost together with its hook.
fn record_lost(place: &Place, running: Running, why: String, spent: &Effort) {
    let review = ended(
        place,
        running,
        Seen::default(),
        &Outcome::Failed(why),
        spent,
    );
    let _ = place.journal().add(&Line::Review(review));
}

fn already_running(place: &Place, event: &Event) -> String {
    // Only commands say whether a person typed them.
    let end = match event.fields.get("terminal") {
        None => ": this stop is allowed.",
        Some(_) => ".",
    };
    said_of_running(place, end)
}

/// Says that a review is running, since when, and how to end it; `None` if none is.
pub(crate) fn running(place: &Place) -> Option<String> {
    let is_held = ReviewLock::is_held(&place.store, &place.instance.name, &place.dir());
    is_held.then(|| said_of_running(place, "."))
}

/// Ends the review that is running; returns whether it could be asked to end.
pub(crate) fn end(place: &Place) -> bool {
    running::cancel(&place.store, &place.instance.name, &place.dir()).is_ok()
}

fn said_of_running(place: &Place, end: &str) -> String {
    let noun = &place.chart.scope.noun;
    let name = &place.instance.name;
    let running = Running::read(&place.store, name, &place.dir());
    let running = running.map(|running| format!(" ({})", running.in_words()));
    let running = running.unwrap_or_default();
    let option = match place.chart.scope.is_per_session() {
        true => String::new(),
        false => format!(" --{noun} {name}"),
    };
    let cancel = place.chart.cancels();
    let cancel = cancel.map(|command| {
        let call = place.chart.call(command);
        format!(" To end the review: `{call}{option}`.")
    });
    format!(
        "A review of {noun} `{name}` is already running{running}{end}{}",
        cancel.unwrap_or_default()
    )
}

/// Returns what others are shown about a review that starts now.
fn announced(
    place: &Place,
    event: &Event,
    snapshot: &Arc<Snapshot>,
    invocation: &Invocation,
) -> Running {
    let view = Inspector::of_event(&place.chart, &snapshot.as_world(), event);
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
pub(crate) fn hook_timeout(place: &Place, event: &Event) -> u64 {
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

/// Runs the reviewer, and returns its outcome and what it took.
fn run(
    place: &Place,
    invocation: &Invocation,
    timeout: u64,
    running: &ReviewLock,
) -> Result<(Outcome, Effort), Stuck> {
    let Some(invoke) = place.chart.invoke.get(&invocation.name) else {
        let why = format!("there is no invocation `{}`", invocation.name);
        return Ok((Outcome::Failed(why), free()));
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
        env: place.with_env([(REVIEWER.to_owned(), "1".to_owned())]),
        log: log_file.clone(),
        logs_stdout: false,
        timeout: Duration::from_secs(timeout),
        cancel: Some(running::cancel_file(&place.store, &place.instance.name)),
    };
    let end = supervisor::run(&spec, running.file());
    let program = invocation.argv.first().map_or("", String::as_str);
    let failed = |why: String, effort: Effort| {
        let last = log::last_line(&log_file)
            .map(|line| format!(" ({line})"))
            .unwrap_or_default();
        if remove_empty(&log_file) {
            return Ok((Outcome::Failed(why), effort));
        }
        let log = place.instance.dir.join(&invocation.log);
        let log = format!("; its log is {}", log.display());
        Ok((Outcome::Failed(format!("{why}{last}{log}")), effort))
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
            return Ok((Outcome::Failed(why), free()));
        }
        End::TimedOut => {
            let limit = counted(timeout, "second");
            let setting = match &invoke.timeout {
                Amount::Setting(text) => setting_in(text),
                Amount::Fixed(_) => None,
            };
            let cut = match (timeout < invocation.timeout, setting) {
                (true, _) => " (the gates had taken the rest of its time)".to_owned(),
                (false, Some(setting)) => format!(", the limit of `{setting}`"),
                (false, None) => ", its time limit".to_owned(),
            };
            let why = format!("`{program}` was killed after {limit}{cut}");
            return failed(why, Effort::default());
        }
        End::Cancelled => {
            remove_empty(&log_file);
            return Ok((Outcome::Failed(CANCELLED.to_owned()), Effort::default()));
        }
        _ => (None, Vec::new()),
    };
    let verdict = outcome::verdict(invoke, &stdout);
    let has_failed = failure.is_some() || verdict.is_err();
    let effort = Effort {
        cost: outcome::cost(invoke, &stdout),
        tokens: outcome::tokens(invoke, &stdout),
        until: has_failed
            .then(|| outcome::postponed(invoke, &stdout))
            .flatten(),
        ..Effort::default()
    };
    if let Some(how) = failure {
        let reason = code.and_then(|_| outcome::reason_in(invoke, &stdout));
        let reason = reason.map(|why| format!(": {why}")).unwrap_or_default();
        return failed(format!("`{program}` {how}{reason}"), effort);
    }
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(why) => return failed(format!("`{program}` failed: {why}"), effort),
    };
    let is_written = || version(&file).is_some_and(|after| after.len > 0 && Some(after) != before);
    let text = outcome::text(invoke, &stdout).filter(|_| !is_written());
    if let Some(text) = text {
        let written = std::fs::create_dir_all(&dir);
        let written = written.and_then(|()| disk::replace(&file, format!("{text}\n").as_bytes()));
        if let Err(error) = written {
            let why = format!("{} cannot be written: {error}", shown.display());
            return failed(why, effort);
        }
    } else if !is_written() {
        let why = format!("`{program}` did not write {}", shown.display());
        return failed(why, effort);
    }
    // The log of a successful run is of no use to anyone; if it stays, nothing is lost.
    let _ = std::fs::remove_file(&log_file);
    let severities = &place.chart.findings.severities;
    // Without a verdict, what it found does not count either.
    let found = match verdict {
        Some(_) => outcome::found(invoke, severities, &stdout),
        None => Found::default(),
    };
    Ok((Outcome::Ran { verdict, found }, effort))
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
