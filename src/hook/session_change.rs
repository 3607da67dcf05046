//! The change of a session that nobody has asked to be reviewed: where the settings say so, it begins with each prompt.
//!
//! A review that was asked for, and a plan whose code is being reviewed, take the place of this change: it is dropped when they
//! begin to act. The next prompt begins a new one.

use std::path::Path;
use std::slice::from_ref;

use super::target::{at_home, distrusting, homes, of_claim};
use crate::chart::choice::of_changes;
use crate::chart::known::EVERY_STOP;
use crate::engine::event::Event;
use crate::project::change::{Base, Unknown};
use crate::project::find::{self, Newest};
use crate::project::settings;
use crate::run::perform::perform;
use crate::run::place::Place;
use crate::run::{asked, change};
use crate::store::{driver, postponed};

/// Begins the change of the session with the prompt of its user, unless a review is still due. Returns what is to be reported.
pub(super) fn begin_change(event: &Event) -> Result<Vec<String>, String> {
    let nothing = Ok(Vec::new());
    let (Some(session), Some(embedded)) = (event.session.as_deref(), of_changes()) else {
        return nothing;
    };
    let is_named = |root: &Path| settings::is_named(embedded, root, EVERY_STOP);
    let Some((root, home)) = homes(embedded).find(|(root, _)| is_named(root)) else {
        return nothing;
    };
    let chart = at_home(embedded, home)?;
    if !change::is_on(&Place::of_none(&chart, &root))? {
        return nothing;
    }
    let found = find::of_session(&root, &chart.scope, Some(&driver::own_name(session)));
    let Newest { instance, warnings } = distrusting(&root, &chart.scope.home, found);
    // An id that no folder can have, or a folder that is not only the user's.
    let instance = instance.ok_or_else(|| warnings.join(" "))?;
    let mut place = Place::new(chart, root, instance);
    let prompt = event.fields["prompt"].as_str().unwrap_or_default();
    if change::is_sent(&place, prompt) {
        return nothing;
    }
    let claimed = driver::claimed(from_ref(&place.root), &place.chart.scope.home, session)?;
    let claimed = claimed.and_then(|claimed| place.of_name(&claimed.instance));
    let mut warnings = Vec::new();
    match claimed.filter(Place::is_in_cycle) {
        // The review that the user has asked for comes first.
        Some(claimed) if !claimed.is_own() => return nothing,
        Some(_) => {}
        None => {
            change::sweep(&place);
            change::forget_prompts(&place);
            // What it has stored so far would look as if it had been killed.
            let began = begin(&mut place, session, Base::Now);
            warnings = began.inspect_err(|_| change::release(&place))?;
        }
    }
    change::remember(&place, prompt);
    Ok(warnings)
}

/// Has what a session changes from `base` on reviewed at its stops. Returns what is to be reported.
pub(super) fn begin(
    place: &mut Place,
    session: &str,
    base: Base<'_>,
) -> Result<Vec<String>, String> {
    let found = change::find(place, base).map_err(Unknown::in_words)?;
    let mut began = asked::began(&place.chart);
    change::describe(place, &mut began.fields, &found);
    began.session = Some(session.to_owned());
    // A reviewer that has failed before may be there again.
    let _ = postponed::forgive(place.journal());
    let performed = perform(place, &began).map_err(|stuck| stuck.to_string())?;
    Ok(performed.warnings)
}

/// Ends the driving of the change of a session that has ended, and removes its own one, unless that still waits for a review:
/// the session may be resumed.
pub(super) fn release(event: &Event) {
    let (Some(session), Some(embedded)) = (event.session.as_deref(), of_changes()) else {
        return;
    };
    for (root, home) in homes(embedded) {
        let Ok(Some(claimed)) = driver::claimed(from_ref(&root), &home, session) else {
            continue;
        };
        let Ok(chart) = at_home(embedded, home) else {
            return;
        };
        let found = of_claim(&claimed, &chart.scope).instance;
        let place = found.map(|instance| Place::new(chart, root, instance));
        match place.filter(|place| place.is_own() && !place.is_in_cycle()) {
            Some(own) => change::abandon(&own),
            None => driver::release(&claimed.store, session),
        }
    }
}
