//! Runs the review that is due, one at a time for each instance, and finds out its outcome.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use crate::diagnostic::quote::quoted;
use crate::disk;
use crate::engine::decision::{Effort, Ended, Invocation, Outcome, Step};
use crate::engine::event::Event;
use crate::engine::spent::PastReview;
use crate::host::hosts::{LONGEST_HOOK, RESERVE};
use crate::project::git::{self, Git};
use crate::project::{seen, state_file};
use crate::run::attempt::{Attempt, Due};
use crate::run::meanwhile::ChangedFiles;
use crate::run::noticed::Noticed;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::snapshot::Snapshot;
use crate::run::stuck::{Stuck, io};
use crate::run::under_way::{already_running, announced, ended, record_left};
use crate::store::journal::Line;
use crate::store::lock::ReviewLock;
use crate::store::once::SEND_BACK;
use crate::store::running::{Begun, cancel_file};

/// What to do next, on the way to an answer.
pub(crate) enum NextStep {
    /// Run the review that is due.
    Review,
    /// Decide again under the write lock, and write; after this review, if there was one.
    Write(Option<Box<Unwritten>>, Arc<Git>),
    /// The event has its answer.
    Answer(Box<Performed>),
}

/// A run that has ended and is not written yet, with what was there when it began.
pub(crate) struct Unwritten {
    pub(crate) ended: Ended,
    /// How many phases had been entered and commands run before it.
    pub(crate) revision: u64,
    pub(crate) before: Arc<Snapshot>,
    /// The files that have changed since; `None` if no reviewer was started.
    pub(crate) changed: Option<ChangedFiles>,
    /// The stop that it is about.
    pub(crate) event: Event,
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

/// Runs the review that is due, unless one is already running. Returns what follows. The hook has been at it for the time `before`.
pub(crate) fn review(place: &Place, event: &Event, before: Duration) -> Result<NextStep, Stuck> {
    let answered = |performed| Ok(NextStep::Answer(Box::new(performed)));
    if event.session.is_some()
        && let Some(why) = git::untrusted_locks(&place.root, &place.chart.scope.home)
    {
        return answered(Performed::allowed(format!("No review was started: {why}.")));
    }
    let running = ReviewLock::try_acquire(&place.store, &place.instance.name, &place.dir())
        .map_err(io("the review cannot be locked"))?;
    // A pause that waits for a review which ended since this stop began comes before the next review, at the next stop.
    let is_noted = place.journal().facts().noted.is_some();
    let running = running.filter(|_| !event.is_stop() || !is_noted);
    let Some(running) = running else {
        return answered(Performed::allowed(already_running(place, event)));
    };
    record_left(place);
    // The process that held the lock a moment ago may have done what this decision asks for.
    let lock = place.lock()?;
    let revision = place.journal().facts().revision;
    drop(lock);
    let git = Arc::default();
    let snapshot = place.snapshot_with(&git, false);
    let invocation = match snapshot.decide(event, None)? {
        Step::Invoke(invocation) => *invocation,
        Step::Done(decision) if decision.writes_nothing() => {
            return answered(Performed::of(&snapshot, decision));
        }
        Step::Done(_) => return Ok(NextStep::Write(None, git)),
    };
    if let Some(ended) = paid(place, &invocation) {
        let (changed, event, before) = (None, event.clone(), snapshot);
        let unwritten = Unwritten { ended, revision, before, changed, event, lock: running };
        return Ok(NextStep::Write(Some(Box::new(unwritten)), Arc::default()));
    }
    let state = snapshot.state.text().unwrap_or_default();
    let goes_on = event.fields["stop_hook_active"] == true;
    let was_sent_back = goes_on && SEND_BACK.is_for(place.journal(), state);
    if let Some(performed) = sent_back(event, &invocation, was_sent_back) {
        // If it stays unknown, the agent is sent back until the host ignores it.
        let _ = SEND_BACK.note(place.journal(), state);
        return answered(performed);
    }
    let hook = hook_timeout(event).saturating_sub(before.as_secs());
    let Some(attempt) = begin(place, event, (&snapshot, invocation), revision, hook, &running)?
    else {
        return Ok(NextStep::Write(None, Arc::default()));
    };
    let Attempt { outcome, effort, changed, event, invocation, .. } = attempt;
    let ended = Ended { invocation, outcome, superseded: false, effort };
    let before = snapshot;
    let unwritten = Unwritten { ended, revision, before, changed, event, lock: running };
    Ok(NextStep::Write(Some(Box::new(unwritten)), Arc::default()))
}

/// Begins the review that is due, and waits for its end: the journal has both, before anything is decided about it. `None` if it
/// is no longer due after its gates.
fn begin(
    place: &Place,
    event: &Event,
    (snapshot, invocation): (&Arc<Snapshot>, Invocation),
    revision: u64,
    hook: u64,
    lock: &ReviewLock,
) -> Result<Option<Attempt>, Stuck> {
    let announced = announced(&invocation);
    // What is not in the journal, no limit counts.
    let uncounted =
        "no review was started, because the journal, which counts reviews, could not be written";
    let cancel = cancel_file(&place.store, &place.instance.name);
    let begun = Begun::say(place.journal(), cancel, &announced).map_err(io(uncounted))?;
    let write_lock = place.lock()?;
    // A file system that stores no state stores no verdict either, and that would be paid for and lost.
    disk::try_to_replace(&place.dir().join(state_file::FILE))
        .map_err(io("no review was started, because its result could not be written"))?;
    // Without it, what is changed during the review is not named.
    let _ = Noticed::of(place, &snapshot.state, false).write(place);
    drop(write_lock);
    let due = Due { snapshot, revision, hook, lock, begun: &begun };
    let attempt = due.attempt(place, event.clone(), invocation, announced)?;
    if let Some(Attempt { announced, outcome, effort, seen, .. }) = &attempt
        && outcome.failed_gate().is_none()
    {
        // If the process is killed after this, the verdict is known, and not paid for again.
        let review = ended(place, announced.clone(), seen.clone(), outcome, effort);
        let _ = place.journal().add_first(&Line::Review(review));
    }
    Ok(attempt)
}

/// Returns the end of the review that is due if it has ended before, nothing was decided about it, and nothing has changed since.
fn paid(place: &Place, due: &Invocation) -> Option<Ended> {
    let paid = place.journal().undecided().filter(|paid| is_about_now(place, &paid.run, due))?;
    let (by, run) = (paid.by, paid.run);
    let effort = Effort { by, seconds: run.seconds, cost: run.cost, ..Effort::default() };
    let outcome = Outcome::Ran { verdict: run.verdict, found: run.found };
    Some(Ended { effort, ..Ended::new(due.clone(), outcome) })
}

/// Returns whether a review is the one that is due, and nothing has changed since.
fn is_about_now(place: &Place, run: &PastReview, due: &Invocation) -> bool {
    let tree = (&*place.root, place.trees());
    let seen = || seen::seen(&place.chart, tree, &place.dir(), &due.subject).all;
    (&run.cycle, run.n) == (&due.cycle, due.n) && run.seen == seen()
}

/// The number of seconds that an agent's shell waits for a command on any host.
const CALL: u64 = 50;

/// Returns what a stop does where a review is due: `step`, unless the agent has to run the review.
pub(crate) fn or_called(stop: &Event, step: Step) -> Step {
    let called = match &step {
        Step::Invoke(invocation) => sent_back(stop, invocation, false),
        Step::Done(_) => None,
    };
    called.map_or(step, |performed| Step::Done(performed.decision))
}

/// Returns the answer to a stop whose host does not wait as long as the review may take: the agent runs it with a command. It is
/// sent back for that once a turn for each review: `was_sent_back` says that it was.
fn sent_back(event: &Event, invocation: &Invocation, was_sent_back: bool) -> Option<Performed> {
    let longest = event.fields["longest_review"].as_u64();
    let longest = longest.filter(|longest| event.is_stop() && invocation.timeout > *longest)?;
    let host = event.fields["host"].as_str().unwrap_or("the host");
    let session = event.session.as_ref();
    let session = session.map(|id| format!(" --session {}", quoted(id)));
    let command = format!(
        "{} review --wait {}{}",
        env!("CARGO_PKG_NAME"),
        longest.clamp(1, CALL),
        session.unwrap_or_default()
    );
    let cycle = &invocation.cycle;
    Some(match was_sent_back {
        true => Performed::allowed(format!(
            "The {cycle} is still due, and only the agent can run it here: `{command}`."
        )),
        false => Performed::blocked(format!(
            "The {cycle} is due, and may take longer than {host} waits for a hook. Run `{command}`, and again as long as it \
             says that it is not over yet. Then do what its answer says."
        )),
    })
}

/// Returns how many seconds the host gives this hook.
pub(crate) fn hook_timeout(event: &Event) -> u64 {
    let longest = event.fields.get("longest_review").and_then(Json::as_u64);
    let of_host = longest.map_or(u64::MAX, |longest| longest.saturating_add(RESERVE));
    LONGEST_HOOK.min(of_host)
}
