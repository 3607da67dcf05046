//! What would be decided about an event now, and what is in its way.

use std::sync::Arc;

use crate::engine::decision::{Ended, Outcome, Step};
use crate::engine::event::Event;
use crate::project::state_file::Reading;
use crate::run::coming;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::snapshot::Snapshot;
use crate::run::stuck::Stuck;

/// Returns what the chart would decide about `event` at `place` now. Nothing is run, locked or written.
pub(crate) fn peek(place: &Place, event: &Event) -> Result<(Step, Arc<Snapshot>), Stuck> {
    let snapshot = coming::at_stop(place, place.snapshot(), event);
    let step = snapshot.decide(event, None)?;
    Ok((step, snapshot))
}

/// Does the same as [`peek`], except that a run whose subject is missing counts as failed, as it does in the hook.
pub(crate) fn foresee(place: &Place, event: &Event) -> Result<Step, Stuck> {
    let (step, snapshot) = peek(place, event)?;
    let Step::Invoke(invocation) = step else {
        return Ok(step);
    };
    let Some(why) = place.obstacle(&snapshot.as_world(), &invocation) else {
        return Ok(Step::Invoke(invocation));
    };
    let ended = Ended::new(*invocation, Outcome::Failed(why));
    Ok(snapshot.decide(event, Some(ended))?)
}

/// Returns what is in the way of the stop that is foreseen, as the end of a sentence.
pub(crate) fn obstacle_at_stop(foreseen: &Result<Step, Stuck>) -> Option<String> {
    match foreseen {
        Ok(step) => {
            let why = step.failure();
            why.map(|why| format!("the review that is due cannot run: {why}"))
        }
        Err(stuck) => Some(format!("no decision can be made at the next stop: {stuck}")),
    }
}

/// Returns the result that `event` would have at `place` now, with the errors that carrying it out would cause. The
/// decision must not ask for a run. Nothing is run, locked or written.
pub(crate) fn check(place: &Place, event: &Event) -> Result<Performed, Stuck> {
    let (step, snapshot) = peek(place, event)?;
    let decision = step.decision().unwrap_or_default();
    if let (false, Reading::Broken(why)) = (decision.writes_nothing(), &snapshot.state) {
        return Err(place.broken(why));
    }
    Ok(Performed::of(&snapshot, decision))
}
