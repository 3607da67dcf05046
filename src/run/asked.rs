//! Events that no host sends: what a command asks, and what would happen at a stop.

use std::io::IsTerminal as _;

use serde_json::{Value as Json, json};

use super::{change, foresee, place::Place};
use crate::chart::Chart;
use crate::engine::event::Event;
use crate::host::hosts;
use crate::store::driver;

/// Returns the event fields of a command: whether a person typed it, and what the host around it allows.
pub(crate) fn typed() -> Json {
    let mut fields = json!({ "terminal": std::io::stdout().is_terminal() });
    limit(&mut fields);
    fields
}

/// Adds to an event what the host around this process allows.
pub(crate) fn limit(fields: &mut Json) {
    if let Some(host) = hosts::around() {
        host.limit(fields, None);
    }
}

/// Returns the same for a command about `place`, with how its hook is called and whose change it is about.
pub(crate) fn typed_at(place: &Place) -> Json {
    let mut fields = typed();
    fields["bare"] = driver::is_bare(&place.store).into();
    fields["own"] = (place.chart.scope.is_of_changes() && place.is_own()).into();
    fields["sandboxed"] = hosts::around().is_some_and(|host| host.has_sandbox).into();
    fields
}

/// Returns the beginning of a new change.
pub(crate) fn began(chart: &Chart) -> Event {
    foresee::began(chart, typed())
}

/// Returns the next stop of a session, with what has changed, if that is what it is about.
pub(crate) fn seeing_stop(place: &Place, session: Option<&str>) -> Event {
    let bare = driver::is_bare(&place.store);
    let mut fields = json!({ "session_id": session.unwrap_or_default(), "bare": bare });
    limit(&mut fields);
    change::see(place, &mut fields);
    Event::hook("Stop", fields)
}

/// Returns the event that asks what is next.
pub(crate) fn next(place: &Place, session: Option<String>) -> Event {
    Event { session, ..Event::hook("next", typed_at(place)) }
}
