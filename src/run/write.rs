//! Decides once more under the write lock, and writes the decision: effects first, then the state, and
//! who drives the instance.

use std::fs;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::chart::known;
use crate::disk;
use crate::engine::context::running_cycle;
use crate::engine::decision::{Answer, Decision, Step};
use crate::engine::event::{Event, Trigger};
use crate::hash::IndexMap;
use crate::host::events::is_event;
use crate::os::file::create_private_folder;
use crate::project::state_file::{self, Reading};
use crate::receipt::file;
use crate::run::effects;
use crate::run::noticed::{self, Noticed, is_for_user};
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::review::Unwritten;
use crate::run::snapshot::Snapshot;
use crate::run::stuck::{Stuck, io};
use crate::store::facts::{Fact, Said};
use crate::store::journal::{DecisionLine, Line};
use crate::store::{driver, postponed};

/// Why nothing is written where that could not be reported to the user.
pub(super) const UNNOTED: &str = "what the user should read cannot be recorded";

/// Decides again under the write lock, and writes. `None` if a review has become due in the meantime.
pub(crate) fn write(place: &Place, event: &Event) -> Result<Option<Performed>, Stuck> {
    let _lock = place.lock()?;
    let snapshot = place.snapshot();
    match snapshot.decide(event, None)? {
        Step::Done(decision) => carry_out(place, event, &snapshot, decision).map(Some),
        Step::Invoke(_) => Ok(None),
    }
}

/// Decides under the write lock about a review that has ended, and writes.
pub(crate) fn commit(place: &Place, run: Unwritten) -> Result<Performed, Stuck> {
    let tree = run.event.fields["tree"].as_str().map(str::to_owned);
    let is_recorded = run.ended.outcome.failed_gate().is_none();
    let performed = decide_and_write(place, run).inspect_err(|stuck| {
        let fact = Fact::Aside { why: stuck.to_string() };
        // It counts as failed: the next one may be lost in the same way. Without this, more are tried.
        let _ = is_recorded.then(|| place.journal().note(fact));
    })?;
    Ok(Performed { tree, ..performed })
}

fn decide_and_write(place: &Place, run: Unwritten) -> Result<Performed, Stuck> {
    let Unwritten { ended, before, changes, event, lock: _review_lock } = run;
    let _lock = place.lock()?;
    let was_started = !ended.effort.not_started;
    let (by, until) = (ended.invocation.name.clone(), ended.effort.until);
    let snapshot = Arc::new(place.snapshot().after_review(&before));
    let step = snapshot.decide(&event, Some(ended))?;
    let mut decision = step.decision().unwrap_or_default();
    if let Some(until) = until {
        // After the decision: this decision is about the run, and the following ones are about the wait. If this cannot be
        // recorded, they just try again.
        let _ = postponed::write(&place.store, &by, until);
    }
    if was_started && decision.is_set_aside() {
        let why = "it did not count, because the state was changed while it ran".to_owned();
        // Without it, reviews that do not count go on for longer.
        let _ = place.journal().note(Fact::Aside { why });
    }
    decision.messages.extend(changes);
    let performed = carry_out(place, &event, &snapshot, decision)?;
    if performed.decision.patch.is_empty() {
        let written = Noticed::of(place, &snapshot.state, true).write(place);
        written.map_err(io(UNNOTED))?;
    }
    Ok(performed)
}

/// Carries out a decision: who drives the instance, files, and the state.
fn carry_out(
    place: &Place,
    event: &Event,
    snapshot: &Arc<Snapshot>,
    decision: Decision,
) -> Result<Performed, Stuck> {
    if let (false, Reading::Broken(why)) = (decision.writes_nothing(), &snapshot.state) {
        return Err(place.broken(why));
    }
    claim(place, event, &decision)?;
    effects::carry_out(place, &decision.effects)?;
    let mut performed = Performed::of(snapshot, decision);
    if !performed.decision.patch.is_empty() {
        write_state(place, event, snapshot, &mut performed)?;
    }
    Ok(performed)
}

/// Writes the state, after the line about the decision: of a process that is killed in between, the next one knows that by the
/// state that it finds.
fn write_state(
    place: &Place,
    event: &Event,
    snapshot: &Snapshot,
    performed: &mut Performed,
) -> Result<(), Stuck> {
    let decision = &performed.decision;
    // As it is in the file: what does not count for a review is there all the same.
    let before = snapshot.state.context().unwrap_or_else(|| snapshot.context());
    let text = new_state(place, snapshot, &decision.patch)?;
    let mut noticed = Noticed::of(place, &snapshot.state, decision.ended.is_some());
    noticed.write(place).map_err(io(UNNOTED))?;
    let left = match state_file::parse(&place.chart, &text) {
        Reading::Sound { context: after, .. } => {
            noticed::decided(place, noticed.left, event, (before, &after, &text), decision)
        }
        _ => noticed.left,
    };
    performed.owed = left.owed.as_ref().map(|owed| owed.at.clone());
    if is_for_user(event) {
        performed.pending = Said { news: left.news.clone(), owed: None };
    }
    let line = DecisionLine { wrote: Some(Box::new(left)), ..performed.line(place, event) };
    place.journal().add_first(&Line::Decision(line)).map_err(io(UNNOTED))?;
    performed.is_in_journal = true;
    let dir = place.dir();
    let made = match place.chart.scope.is_of_changes() {
        // Nobody else reads what a reviewer finds.
        true => create_private_folder(&dir),
        false => fs::create_dir_all(&dir),
    };
    made.and_then(|()| disk::replace(&dir.join(state_file::FILE), &text)).map_err(io(format!(
        "{} cannot be written",
        place.instance.dir.join(state_file::FILE).display()
    )))?;
    // Without it, a state that is taken back to what it was counts as never written.
    let _ = place.journal().note(Fact::Landed);
    let cycle = |context| running_cycle(&place.chart, context).map(|cycle| &cycle.id);
    let was = cycle(before);
    let has_ended = was.is_some() && was != cycle(&performed.context);
    if has_ended && let Err(error) = add_receipts(place) {
        performed.warnings.push(format!("the receipt cannot be written: {error}"));
    }
    Ok(())
}

/// Adds a receipt for each cycle that has ended, also for those that somebody else has ended, or whose process was killed first.
pub(crate) fn add_receipts(place: &Place) -> std::io::Result<()> {
    let settings = place.settings().map(|read| read.settings).unwrap_or_default();
    let is_committed = settings.get(known::RECEIPTS).is_some_and(|it| it.value == file::COMMIT);
    file::add(&place.chart, (&place.root, &place.instance.dir), place.journal(), is_committed)
}

/// Returns the text of the state that `patch` leads to.
fn new_state(
    place: &Place,
    snapshot: &Snapshot,
    patch: &IndexMap<String, Json>,
) -> Result<Vec<u8>, Stuck> {
    let context = snapshot.context();
    let (old, absent) = match &snapshot.state {
        Reading::Sound { text, absent, digits, .. } => {
            (Some(text.as_slice()), [absent.as_slice(), digits].concat())
        }
        Reading::Missing => (None, place.chart.context.keys().cloned().collect()),
        Reading::Broken(why) => return Err(place.broken(why)),
    };
    // A new state has the required fields and the assigned ones, in the chart's order.
    let is_written = |name: &String| {
        patch.contains_key(name) || old.is_some() || !place.chart.context[name].optional
    };
    let fields = absent.into_iter().filter(is_written);
    let fields = fields.map(|name| (name.clone(), context[&name].clone()));
    let text = state_file::with(&place.chart, old, &fields.collect(), context, patch)
        .map_err(io("the state cannot be created"))?;
    // What others read must be what the schema promises, whatever a chart assigns.
    match state_file::misfit_of_schema(&place.chart, &text) {
        Some(why) => Err(place.broken(&format!("it would not fit its schema: {why}"))),
        None => Ok(text),
    }
}

/// Returns the session that claims the instance with this decision, if any that does not drive it: one that enters a phase or asks what is next, or
/// one that runs a command where nobody drives the instance. A change is that of a session or of a branch, and where each session
/// has an instance of its own, there is nothing to claim either.
pub(crate) fn claimant<'e>(
    place: &Place,
    event: &'e Event,
    decision: &Decision,
) -> Option<&'e str> {
    let is_refused = matches!(decision.answer, Answer::Refuse(_));
    let scope = &place.chart.scope;
    let is_open = !is_refused && !scope.is_per_session() && !scope.is_of_changes();
    let session = event.session.as_deref().filter(|_| is_open)?;
    let takes_up = match &event.trigger {
        Trigger::Hook(name) if is_event(name) => {
            event.is_stop() && driver::is_resumed(place.journal(), session)
        }
        Trigger::Hook(_) | Trigger::Enter { .. } => true,
        Trigger::Command(_) => driver::of(place.journal()).is_none(),
    };
    (takes_up && !driver::drives(place.journal(), session)).then_some(session)
}

/// Makes the event's session the driver of the instance, if the event claims it. The caller holds the write lock.
pub(crate) fn claim(place: &Place, event: &Event, decision: &Decision) -> Result<(), Stuck> {
    let Some(session) = claimant(place, event, decision) else {
        return Ok(());
    };
    driver::claim(place.journal(), session)
        .map_err(io("the session that drives it cannot be recorded"))
}
