//! Whether a stop calls the user.

use serde_json::Value as Json;

use crate::engine::event::{Event, Trigger};
use crate::project::state_file;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::store::once::CALL;

/// Why the user is called where nothing can be decided.
pub(crate) const STUCK: &str = "no decision can be made";

/// Returns whether nobody knows yet that no decision can be made about a stop: until that is fixed, no review runs.
pub(crate) fn is_stuck(place: &Place, event: &Event) -> bool {
    let snapshot = place.snapshot();
    let state = snapshot.state.text().unwrap_or_default();
    event.is_stop() && place.is_in_cycle() && !CALL.is_for(place.journal(), state)
}

/// Returns why the user is called at a stop: only if they have not been called for this state yet, or if a review has run since,
/// and never because they have ended a review themselves.
pub(super) fn reason(place: &Place, event: &Event, performed: &Performed) -> Option<String> {
    let unusable = performed.unusable.as_ref();
    let reason = unusable
        .map(|_| format!("{} cannot be used", state_file::FILE))
        .or_else(|| performed.call())
        .filter(|_| event.is_stop())?;
    let ended = performed.decision.ended.as_ref();
    if ended.is_some_and(|ended| ended.effort.is_cancelled) {
        return None;
    }
    let snapshot = place.snapshot();
    let state = snapshot.state.text().unwrap_or_default();
    let has_run = ended.is_some_and(|ended| ended.outcome.failed_gate().is_none());
    if !has_run && CALL.is_for(place.journal(), state) {
        return None;
    }
    if event.fields.get("terminal").is_some() {
        // The user of a command reads its answer. A hook calls, and notes it then.
        note(place, Some(&reason));
    }
    Some(reason)
}

/// Notes that the user knows of the state that a command of theirs has led to: they have typed it in a terminal.
pub(super) fn note_typed(place: &Place, event: &Event, performed: &Performed) {
    let is_typed = event.fields.get("terminal") == Some(&Json::Bool(true));
    let is_command = matches!(event.trigger, Trigger::Command(_) | Trigger::Enter { .. });
    if is_typed && is_command && !performed.decision.patch.is_empty() {
        note(place, None);
    }
}

/// Notes that the user is called for the state that there is now, or has led to it. If that fails, the next stop calls.
pub(super) fn note(place: &Place, why: Option<&str>) {
    let snapshot = place.snapshot();
    let state = snapshot.state.text().unwrap_or_default();
    let _ = CALL.note(place.journal(), state, why);
}
