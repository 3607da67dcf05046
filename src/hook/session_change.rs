//! The change of a session: it begins when the user asks for its review, or, where the settings say so, with each prompt.
//!
//! The review of a plan's code takes its place: the change is dropped once that has passed, unless a review has read it.

use super::target::{at_home, change_of, distrusting, homes};
use crate::chart::choice::of_changes;
use crate::clock;
use crate::engine::event::Event;
use crate::project::change::{Base, Unknown, read};
use crate::project::find::{self, Newest};
use crate::project::settings;
use crate::run::perform::perform;
use crate::run::place::Place;
use crate::run::{asked, change};
use crate::store::facts::{Fact, Prompt};
use crate::store::{driver, postponed};

/// Begins the change of the session with the prompt of its user, unless a review is still due. Returns what is to be reported.
pub(super) fn begin_change(event: &Event) -> Result<Vec<String>, String> {
    let nothing = Ok(Vec::new());
    let (Some(session), Some(embedded)) = (event.session.as_deref(), of_changes()) else {
        return nothing;
    };
    let mut on = None;
    for (root, home) in homes(embedded).filter(|(root, _)| settings::are_given(embedded, root)) {
        let chart = at_home(embedded, home)?;
        if on.is_none() && change::is_on(&Place::of_none(&chart, &root))? {
            on = Some((root, chart));
        }
    }
    let Some((root, chart)) = on else { return nothing };
    let found = find::of_session(&chart.scope, Some(&driver::own_name(session)));
    let Newest { instance, warnings } = distrusting(&root, &chart.scope.home, found);
    // An id that no folder can have, or a folder that is not only the user's.
    let instance = instance.ok_or_else(|| warnings.join(" "))?;
    let place = Place::new(chart, root, instance);
    let prompt = event.fields["prompt"].as_str().unwrap_or_default();
    if change::is_sent(&place, prompt) && change::base(&place).is_some() {
        // The agent goes on with what is known.
        return nothing;
    }
    let mut began = nothing;
    if !place.is_in_cycle() {
        change::sweep(&place);
        let (time, now) = (clock::now(), place.trees().read().map_err(Unknown::in_words)?);
        began = begin(&place, session, Base::Tree(&now.id));
        if let Some(head) = place.trees().head() {
            let prompt = Prompt { time, tree: now.id.clone(), head };
            // If this fails, reviewers also read what a checkout brings.
            let _ = place.journal().note(Fact::Prompted(prompt));
        }
    }
    change::remember(&place, prompt);
    began
}

/// Has what a session changes from `base` on reviewed at its stops. Returns what is to be reported.
pub(super) fn begin(place: &Place, session: &str, base: Base<'_>) -> Result<Vec<String>, String> {
    let found = read(place.trees(), base).map_err(Unknown::in_words)?;
    let mut began = asked::began(&place.chart);
    change::describe(place, &mut began.fields, &found);
    began.session = Some(session.to_owned());
    // A reviewer that has failed before may be there again.
    let _ = postponed::forgive(place.journal());
    let performed = perform(place, &began).map_err(|stuck| stuck.to_string())?;
    Ok(performed.warnings)
}

/// Drops the change of a session that has ended, unless that still waits for a review: the session may be resumed.
pub(super) fn end(event: &Event) {
    // One that cannot be read now stays as it is.
    let found = event.session.as_deref().map(change_of);
    if let Some(Ok(Some(target))) = found
        && let Some(place) = target.place.filter(|place| !place.is_in_cycle())
    {
        change::abandon(&place);
    }
}
