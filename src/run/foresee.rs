//! What would be decided about an event now, what is in its way, and how a change begins.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::chart::Chart;
use crate::engine::context::{Context, running_cycle};
use crate::engine::decision::{Ended, Outcome, Step};
use crate::engine::event::{Event, Trigger};
use crate::project::state_file::Reading;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::snapshot::Snapshot;
use crate::run::stuck::Stuck;

/// Returns what the chart would decide about `event` at `place` now. Nothing is run, locked or written.
pub(crate) fn peek(place: &Place, event: &Event) -> Result<(Step, Arc<Snapshot>), Stuck> {
    let snapshot = at_stop(place, place.snapshot(), event);
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

/// Returns the beginning of a new change.
pub(crate) fn began(chart: &Chart, fields: Json) -> Event {
    Event {
        trigger: Trigger::Enter { phase: chart.initial.clone(), force: false },
        fields,
        args: Context::default(),
        session: None,
    }
}

/// Returns the fields that the beginning of a change would set, which `began` is; `None` if a review waits already.
pub(crate) fn entered(snapshot: &Arc<Snapshot>, began: &Event) -> Result<Option<Context>, Stuck> {
    Ok(snapshot.decide(began, None)?.patch())
}

/// Returns the snapshot in which `stop` is decided: if the agent has gone on after its change was settled, another one begins.
pub(crate) fn at_stop(place: &Place, snapshot: Arc<Snapshot>, stop: &Event) -> Arc<Snapshot> {
    let goes_on = place.is_own()
        && stop.is_stop()
        && stop.fields.get("lines").is_some_and(|lines| !lines.is_null())
        && running_cycle(&place.chart, snapshot.context()).is_none();
    let entered = goes_on.then(|| entered(&snapshot, &began(&place.chart, stop.fields.clone())));
    match entered {
        // What cannot begin is reported by the stop.
        Some(Ok(Some(fields))) => Arc::new(snapshot.again(&fields)),
        _ => snapshot,
    }
}
