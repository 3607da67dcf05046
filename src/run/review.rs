//! Runs the review that is due, one at a time for each instance: its gates, then the reviewer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::chart::Cycle;
use crate::clock;
use crate::diagnostic::quote::quoted;
use crate::disk;
use crate::engine::decision::{Effort, Ended, Invocation, Outcome, Step};
use crate::engine::event::Event;
use crate::engine::fault::Fault;
use crate::engine::inspect::Inspector;
use crate::host::hosts::{LONGEST_HOOK, RESERVE};
use crate::project::change::{self, Base};
use crate::project::seen::Seen;
use crate::project::state_file;
use crate::receipt::statement::entries;
use crate::run::change::again;
use crate::run::noticed::Noticed;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::recovery::{paid, record_left};
use crate::run::snapshot::Snapshot;
use crate::run::stuck::{Stuck, io};
use crate::run::under_way::{announced, ended, said_of_running};
use crate::run::{gates, meanwhile, reviewer};
use crate::store::facts::Running;
use crate::store::journal::{Code, Line};
use crate::store::lock::ReviewLock;
use crate::store::running::Begun;

/// What to do next, on the way to an answer.
pub(crate) enum NextStep {
    /// Run the review that is due.
    Review,
    /// Decide again under the write lock, and write: about this event, since gates may have made the change another one.
    Write(Box<Event>),
    /// Do the same after this review.
    Commit(Box<Unwritten>),
    /// The event has its answer.
    Answer(Box<Performed>),
}

/// A review that has ended and is not written yet, with what was there when it began.
pub(crate) struct Unwritten {
    pub(crate) ended: Ended,
    pub(crate) before: Arc<Snapshot>,
    /// A sentence about the files that have changed since.
    pub(crate) changes: Option<String>,
    /// The stop that it is about: gates may have made the change another one.
    pub(crate) event: Event,
    /// Held until the outcome is written: until then, the next hook would see the same review still due.
    pub(crate) lock: ReviewLock,
}

/// Runs the review that is due, unless one is already running. Returns what follows. The hook has been at it for the time `before`.
pub(crate) fn review(place: &Place, event: &Event, before: Duration) -> Result<NextStep, Stuck> {
    let answered = |performed| Ok(NextStep::Answer(Box::new(performed)));
    let lock = place.review_lock().map_err(io("the review cannot be locked"))?;
    // A pause that waits for a review which ended since this stop began comes before the next review, at the next stop.
    let is_noted = place.journal().facts().noted.is_some();
    let Some(lock) = lock.filter(|_| !event.is_stop() || !is_noted) else {
        return answered(Performed::allowed(said_of_running(place)));
    };
    record_left(place);
    let start = Instant::now();
    let hook = hook_timeout(event).saturating_sub(before.as_secs());
    let mut event = event.clone();
    let mut begun = None;
    let mut passed: Option<Vec<String>> = None;
    // Gates take their time and may change the work: after them, this looks and decides again.
    loop {
        // The process that held the lock a moment ago may have done what this decision asks for.
        let snapshot = place.snapshot();
        event = again(place, &event).map_err(Fault::World)?;
        let invocation = match snapshot.decide(&event, None)? {
            Step::Invoke(invocation) => *invocation,
            Step::Done(decision) if decision.writes_nothing() => {
                return answered(Performed::of(&snapshot, decision));
            }
            Step::Done(_) => return Ok(NextStep::Write(Box::new(event))),
        };
        let unwritten = |(ended, changes), before, event, lock| {
            let unwritten = Unwritten { ended, before, changes, event, lock };
            Ok(NextStep::Commit(Box::new(unwritten)))
        };
        if let Some(ended) = paid(place, &invocation) {
            return unwritten((ended, None), snapshot, event, lock);
        }
        let mut announced = announced(&invocation);
        let begun = match &begun {
            Some(begun) => begun,
            None => {
                if let Some(performed) = or_sent_back(place, &event, &snapshot, &invocation) {
                    return answered(performed);
                }
                begun.insert(begin(place, &snapshot, &announced)?)
            }
        };
        let gates = &invocation.gates;
        let outcome = match place.obstacle(&snapshot.as_world(), &invocation) {
            // Don't pay for a review that cannot count.
            Some(obstacle) => Some(Outcome::Failed(obstacle)),
            None if gates.is_empty() || passed.as_ref() == Some(gates) => None,
            None if passed.is_some() => {
                Some(Outcome::Failed("other gates are due than those that have run".to_owned()))
            }
            None => {
                let failed = gates::run(place, &invocation, hook / 2, &lock, begun, &announced)?;
                if failed.is_none() {
                    passed = Some(gates.clone());
                    place.trees().forget();
                    continue;
                }
                failed
            }
        };
        let result = match outcome {
            Some(outcome) => unstarted(place, announced, invocation, outcome),
            None => {
                announced.timeout = time_left(hook, invocation.timeout, start.elapsed());
                run_reviewer(place, (&event, &snapshot), announced, invocation, (begun, &lock))?
            }
        };
        return unwritten(result, snapshot, event, lock);
    }
}

/// Says that a review begins: the journal has that before anything is started.
fn begin<'p>(
    place: &'p Place,
    snapshot: &Snapshot,
    announced: &Running,
) -> Result<Begun<'p>, Stuck> {
    // What is not in the journal, no limit counts.
    let uncounted =
        "no review was started, because the journal, which counts reviews, could not be written";
    let _lock = place.lock()?;
    let begun = Begun::say(place.journal(), announced).map_err(io(uncounted))?;
    // A file system that stores no state stores no verdict either, and that would be paid for and lost.
    disk::try_to_replace(&place.dir().join(state_file::FILE))
        .map_err(io("no review was started, because its result could not be written"))?;
    // Without it, what is changed during the review is not named.
    let _ = Noticed::of(place, &snapshot.state, false).write(place);
    Ok(begun)
}

/// Runs the reviewer. Returns the end of the review, which the journal has before anything is decided about it, and what has
/// changed meanwhile.
fn run_reviewer(
    place: &Place,
    (event, snapshot): (&Event, &Arc<Snapshot>),
    mut announced: Running,
    invocation: Invocation,
    (begun, lock): (&Begun<'_>, &ReviewLock),
) -> Result<(Ended, Option<String>), Stuck> {
    let view = Inspector::of_event(&place.chart, &snapshot.as_world(), event);
    let is_of_code = view.running().is_some_and(Cycle::is_of_code);
    let code = is_of_code.then(|| code(place, event)).flatten();
    let seen = Seen { code, ..place.seen(&invocation.subject) };
    let tree = place.trees().read().ok();
    announced.started = clock::now();
    announced.is_started = true;
    // Without it, others do not see that it has begun.
    let _ = begun.then(&announced);
    let run = reviewer::run(place, &invocation, announced.timeout, lock);
    let (outcome, spent) = run.inspect_err(|stuck| {
        let spent = effort(&announced, Effort::default());
        let outcome = Outcome::Failed(stuck.to_string());
        let lost = ended(place, announced.clone(), Seen::default(), &outcome, &spent);
        // Without this line, no limit counts what is lost.
        let _ = place.journal().add(&Line::Review(lost));
    })?;
    let effort = effort(&announced, spent);
    // What has been paid for comes first: the tree takes its time.
    let ended = record(place, announced, seen.clone(), invocation, outcome, effort);
    Ok((ended, meanwhile::changes(place, &seen, tree)))
}

/// Returns the end of a review for which no reviewer was started.
fn unstarted(
    place: &Place,
    announced: Running,
    invocation: Invocation,
    outcome: Outcome,
) -> (Ended, Option<String>) {
    let effort = effort(&announced, reviewer::free());
    let seen = place.seen(&invocation.subject);
    (record(place, announced, seen, invocation, outcome, effort), None)
}

/// Adds who has been at it for how long.
fn effort(announced: &Running, effort: Effort) -> Effort {
    Effort { seconds: announced.elapsed().as_secs(), by: announced.by.clone(), ..effort }
}

/// Writes the end of a review to the journal, unless a gate says it: if the process is killed after this, the verdict is known, and
/// not paid for again.
fn record(
    place: &Place,
    announced: Running,
    seen: Seen,
    invocation: Invocation,
    outcome: Outcome,
    effort: Effort,
) -> Ended {
    if outcome.failed_gate().is_none() {
        let review = ended(place, announced, seen, &outcome, &effort);
        // Without this line, only a kill before the decision loses the verdict.
        let _ = place.journal().add_first(&Line::Review(review));
    }
    Ended { effort, ..Ended::new(invocation, outcome) }
}

/// Returns the code that a review at `event` sees, compared with what the change is compared with, or with what the last review saw
/// that passed.
fn code(place: &Place, event: &Event) -> Option<Code> {
    let base = event.fields["base"].as_str().map(str::to_owned);
    let base = base.or_else(|| place.journal().facts().left.base.clone());
    let base = base.as_deref().map_or(Base::AtHand, Base::Known);
    let change = change::read(place.trees(), base).ok()?;
    let files = entries(&change.files);
    Some(Code { head: Some(change.head), base: change.base, tree: change.after, files })
}

/// Returns how many of its `limit` seconds a reviewer has left after its gates have taken so long: the host must not end
/// the hook before it.
fn time_left(hook: u64, limit: u64, gates: Duration) -> u64 {
    limit.min(hook.saturating_sub(RESERVE + gates.as_secs()).max(1))
}

/// The number of seconds that an agent's shell waits for a command on any host.
const CALL: u64 = 50;

/// What is done once the agent is sent back to run the review that is due.
const SEND_BACK: &str = "sent-back";

/// Returns what a stop does where a review is due: `step`, unless the agent has to run the review.
pub(crate) fn or_called(stop: &Event, step: Step) -> Step {
    let called = match &step {
        Step::Invoke(invocation) => sent_back(stop, invocation, false),
        Step::Done(_) => None,
    };
    called.map_or(step, |performed| Step::Done(performed.decision))
}

/// Returns the answer to a stop after which the agent has to run the review, and notes that it is sent back for that.
fn or_sent_back(
    place: &Place,
    event: &Event,
    snapshot: &Snapshot,
    due: &Invocation,
) -> Option<Performed> {
    let state = snapshot.state.text().unwrap_or_default();
    let goes_on = event.fields["stop_hook_active"] == true;
    let was_sent_back = goes_on && place.journal().facts().is_done(SEND_BACK, state);
    let performed = sent_back(event, due, was_sent_back)?;
    // If it stays unknown, the agent is sent back until the host ignores it.
    let _ = place.journal().note_done(SEND_BACK, Some(state));
    Some(performed)
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
