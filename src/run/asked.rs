//! Events that no host sends: what a command asks, and what would happen at a stop.

use std::io::IsTerminal as _;

use serde_json::{Value as Json, json};

use super::place::Place;
use crate::engine::event::{Event, Trigger};
use crate::hash::IndexMap;
use crate::host::hosts;
use crate::store::driver;

/// The event whose rules answer it.
pub(crate) const RULES: &str = "next";

/// Returns the event fields of a command: whether a person typed it, and what the host around it allows.
pub(crate) fn typed() -> Json {
    let mut fields = json!({ "terminal": std::io::stdout().is_terminal() });
    if let Some(host) = hosts::around() {
        host.limit(&mut fields);
    }
    fields
}

/// Returns the same for a command about `place`, with how its hook is called.
pub(crate) fn typed_at(place: &Place) -> Json {
    let mut fields = typed();
    fields["bare"] = driver::is_bare(&place.store, &place.instance.name).into();
    fields
}

/// Returns the next stop of a session.
pub(crate) fn stop(place: &Place, session: Option<&str>) -> Event {
    let bare = driver::is_bare(&place.store, &place.instance.name);
    let mut fields = json!({ "session_id": session.unwrap_or_default(), "bare": bare });
    if let Some(host) = hosts::around() {
        host.limit(&mut fields);
    }
    Event::hook("Stop", fields)
}

/// Returns the event that asks what is next.
pub(crate) fn next(place: &Place, session: Option<String>) -> Event {
    let trigger = Trigger::Hook(RULES.to_owned());
    Event {
        trigger,
        fields: typed_at(place),
        args: IndexMap::default(),
        session,
    }
}
