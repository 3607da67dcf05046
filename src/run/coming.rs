//! How a change begins: what that would write, and the world of a stop at which one begins by itself.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::chart::Chart;
use crate::engine::context::{Context, running_cycle};
use crate::engine::event::{Event, Trigger};
use crate::run::place::Place;
use crate::run::snapshot::Snapshot;
use crate::run::stuck::Stuck;

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
