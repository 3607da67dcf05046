//! Whether a stop calls the user.

use crate::engine::event::{Event, Trigger};
use crate::host::events::is_stop;
use crate::run::beside;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::store::once::CALL;

/// Returns why the user is called at a stop: only if they have not been called for this state yet, or if a review has run since,
/// and never because they have ended a review themselves.
pub(super) fn reason(place: &Place, event: &Event, performed: &Performed) -> Option<String> {
    let is_stop = matches!(&event.trigger, Trigger::Hook(name) if is_stop(name));
    let reason = performed.call().filter(|_| is_stop)?;
    let ended = performed.decision.ended.as_ref();
    if ended.is_some_and(|ended| ended.effort.is_cancelled) {
        return None;
    }
    let wakes = event.fields.get("wakes").is_some();
    if wakes && beside::is_worth_waking(place, performed) {
        // The agent is woken first, and the stop after that calls.
        return None;
    }
    let snapshot = place.snapshot();
    let state = snapshot.state.text().unwrap_or_default();
    let (store, name) = (&place.store, &place.instance.name);
    let has_run = ended.is_some_and(|ended| ended.outcome.failed_gate().is_none());
    if !has_run && CALL.is_for(store, name, state) {
        return None;
    }
    // If it stays unknown, the next stop calls again.
    let _ = CALL.note(store, name, state);
    Some(reason)
}
