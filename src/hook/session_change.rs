//! The change of a session that nobody has asked to be reviewed: where the settings say so, it begins with each prompt.

use std::fs;
use std::path::Path;
use std::slice::from_ref;
use std::sync::Arc;

use super::target::{Target, at_home, distrusting, homes};
use crate::chart::Cycle;
use crate::chart::choice::of_changes;
use crate::chart::known::EVERY_STOP;
use crate::engine::context::running_cycle;
use crate::engine::event::Event;
use crate::project::change::{Base, Unknown};
use crate::project::{find, settings, state_file};
use crate::run::perform::perform;
use crate::run::place::Place;
use crate::run::{asked, change};
use crate::store::{driver, postponed};

/// Begins the change of the session with the prompt of its user, unless the last one still waits for a review. Returns what
/// is to be reported.
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
    let found = find::of_session(&root, &chart.scope, Some(&driver::own_name(session)));
    let found = distrusting(&root, &chart.scope.home, found);
    let Some(instance) = found.instance else {
        // An id that no folder can have, or a folder that is not only the user's.
        return match change::is_on(&Place::of_none(&chart, &root))? {
            true => Err(found.warnings.join(" ")),
            false => nothing,
        };
    };
    let mut place = Place::new(chart, root, instance);
    if !change::is_on(&place)? {
        return nothing;
    }
    let prompt = event.fields["prompt"].as_str().unwrap_or_default();
    if change::is_sent(&place, prompt) {
        return nothing;
    }
    let claimed = driver::claimed(from_ref(&place.root), &place.chart.scope.home, session)?;
    let claimed = claimed.map(|claimed| claimed.instance);
    let is_claimed = claimed.as_ref() == Some(&place.instance.name);
    if claimed.is_some_and(|other| !is_claimed && is_in_cycle(&place, &other)) {
        // The review that the user has asked for comes first.
        if has_begun(&place) {
            change::remember(&place, prompt);
        }
        return nothing;
    }
    // What was asked for is over, and nothing has said so to this one.
    let is_resumed = !is_claimed && resume(&place, session)?;
    let is_going_on = (is_claimed || is_resumed) && place.is_in_cycle();
    let mut warnings = Vec::new();
    // What the agent had going on at its last stop is none of the user's work.
    let was_busy = change::take_busy(&place);
    if was_busy && has_begun(&place) {
        go_on(&mut place, session)?;
    } else if !is_going_on {
        change::sweep(&place);
        warnings = start_over(&mut place, session)?;
    }
    change::remember(&place, prompt);
    Ok(warnings)
}

/// Forgets the change of the session, and begins the next one. Returns what is to be reported.
fn start_over(place: &mut Place, session: &str) -> Result<Vec<String>, String> {
    abandon(place);
    // What it has stored so far would look as if it had been killed.
    begin(place, session, Base::Now).inspect_err(|_| change::release(place))
}

/// Has the stops of a session be about its own change again, if that still waits for a review. Returns whether it does.
fn resume(own: &Place, session: &str) -> Result<bool, String> {
    let waits = own.is_in_cycle();
    if waits {
        driver::claim(own.journal(), session)
            .map_err(|error| format!("the session cannot be recorded: {error}"))?;
    }
    Ok(waits)
}

/// Does the same also if it was clean: what has changed since is to be reviewed, whatever prompt comes next.
fn go_on(own: &mut Place, session: &str) -> Result<(), String> {
    let waits = resume(own, session)?;
    let clean = change::base(own).filter(|_| !waits);
    clean.map_or(Ok(()), |clean| begin(own, session, Base::Known(&clean)).map(drop))
}

fn has_begun(own: &Place) -> bool {
    own.dir().join(state_file::FILE).exists()
}

/// Returns the place of the own change of a session that has asked for the review of another one, begun or not.
fn own(asked: &Place, session: &str) -> Option<Place> {
    let name = driver::own_name(session);
    let own = find::of_session(&asked.root, &asked.chart.scope, Some(&name)).instance?;
    Some(Place::new(Arc::clone(&asked.chart), asked.root.clone(), own))
}

/// Ends what a session has to do with the change `asked`, which another one has reviewed now: its stops are about its own change
/// again, if it has one.
pub(super) fn leave(asked: &Place, session: &str) {
    driver::forget(&asked.store, session);
    if let Some(mut own) = own(asked, session).filter(has_begun) {
        // Without it, nothing is reviewed before the next prompt.
        let _ = go_on(&mut own, session);
    }
}

/// Ends the reviews of the change `asked`, for which the session of a stop has asked: its stops are nothing to it from now on.
/// Where each session's change is reviewed, that of this session goes on, or starts over if it was read along: the stop has found
/// `asked` clean then. Returns what is to be reported.
pub(super) fn hand_back(
    asked: &Place,
    event: &Event,
    is_clean: bool,
) -> Result<Vec<String>, String> {
    let session = event.session.as_deref().unwrap_or_default();
    let own = own(asked, session);
    let is_read = is_clean && own.as_ref().is_some_and(|own| is_read_along(own, event));
    driver::forget(&asked.store, session);
    change::forget(asked);
    let Some(mut own) = own.filter(has_begun) else {
        return Ok(Vec::new());
    };
    if let Some(why) = off(&own)? {
        abandon(&own);
        return Ok(if is_read { Vec::new() } else { why });
    }
    if is_read {
        let mut warnings = start_over(&mut own, session)?;
        // This stop has looked: what the user changes before the next prompt does not count.
        let now = change::find(&own, Base::Now).map_err(Unknown::in_words)?;
        let mut stop = event.clone();
        change::describe(&own, &mut stop.fields, &now);
        let performed = perform(&own, &stop).map_err(|stuck| stuck.to_string())?;
        warnings.extend(performed.warnings);
        return Ok(warnings);
    }
    go_on(&mut own, session)?;
    Ok(vec!["The reviews of what this session has changed go on at its next stop.".to_owned()])
}

/// Returns whether the review that a stop has run has read all that has changed in `own`: from the same versions on. What was
/// found in it, no other review has checked.
fn is_read_along(own: &Place, event: &Event) -> bool {
    let range = event.fields["range"].as_str().unwrap_or_default();
    let before = range.split(' ').next().unwrap_or_default();
    let base = change::base(own).filter(|_| !has_reviews(own));
    base.is_some_and(|base| change::begins_like(own, &base, before))
}

/// Returns what a stop is about: where nothing has changed in the change for which its session has asked, that is the session's
/// own one.
pub(super) fn or_own(mut target: Target, event: &Event) -> Target {
    let session = event.session.as_deref().unwrap_or_default();
    let asked = target.place.as_mut();
    let asked = asked.filter(|asked| !asked.is_own() && asked.is_in_cycle() && !has_reviews(asked));
    let instead = asked.and_then(|asked| {
        let own = own(asked, session).filter(has_begun)?;
        let base = change::base(asked)?;
        let found = change::find(asked, Base::Known(&base)).ok()?;
        found.files.is_empty().then_some(own)
    });
    if let Some(own) = instead {
        target.place = Some(own);
    }
    target
}

/// Returns whether a cycle of another change in the same work tree is running.
fn is_in_cycle(place: &Place, name: &str) -> bool {
    let other = find::of_name(&place.root, &place.chart.scope, name).instance;
    let other = other.map(|other| Place::new(Arc::clone(&place.chart), place.root.clone(), other));
    other.is_some_and(|other| other.is_in_cycle())
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

/// Returns what is reported at a stop of a session whose change is not reviewed, because this was turned off since: the agent
/// can do that, too. `None` if it is reviewed.
pub(super) fn off(place: &Place) -> Result<Option<Vec<String>>, String> {
    if !place.is_own() || change::is_on(place)? {
        return Ok(None);
    }
    let setting = place.is_in_cycle().then_some(EVERY_STOP);
    let was_on = |setting| {
        format!(
            "`{setting}` is no longer on: no review has found clean what has changed since your prompt."
        )
    };
    Ok(Some(setting.map(was_on).into_iter().collect()))
}

/// Says that the agent has moved to another work tree than that of the session's change, where nothing is reviewed.
pub(super) fn moved(reviewed: &Place) -> Option<String> {
    let embedded = of_changes()?;
    let (here, _) = homes(embedded).next()?;
    (reviewed.is_own() && here != reviewed.root).then(|| {
        format!(
            "The agent is now in {}, where nothing that it changes is reviewed before your next prompt: this session's change is that \
             of {}.",
            here.display(),
            reviewed.root.display()
        )
    })
}

/// Leaves what a session changes to the reviews of a plan, if these read all of it: nothing is read twice. What a review has
/// found in it is not forgotten.
pub(super) fn leave_to(plan: &Place, change: &Place) {
    let snapshot = plan.snapshot();
    let view = snapshot.view();
    if !view.running().is_some_and(Cycle::is_of_code) || has_reviews(change) {
        return;
    }
    // What was committed before the plan began, its reviewers are not given.
    let given = plan.journal().base(&plan.chart);
    let ends = change::base(change).zip(given);
    if ends.is_some_and(|(base, given)| change::begins_like(change, &base, &given)) {
        abandon(change);
    }
}

/// Returns whether a review of the cycle that is running has found something out.
fn has_reviews(place: &Place) -> bool {
    let snapshot = place.snapshot();
    let context = snapshot.context();
    let cycle = running_cycle(&place.chart, context);
    let count = cycle.and_then(|cycle| context.get(&cycle.count)?.as_u64());
    count.is_some_and(|count| count > 0)
}

/// Forgets the change, if it is that of a session. Its next prompt begins another one.
pub(super) fn abandon(place: &Place) {
    if !place.is_own() {
        return;
    }
    driver::leave(place.journal());
    let _ = fs::remove_file(place.dir().join(state_file::FILE));
    change::release(place);
}

/// Ends the driving of the changes of a session that has ended, and removes its own one, unless that still waits for a review:
/// the session may be resumed.
pub(super) fn release(event: &Event) {
    let (Some(session), Some(embedded)) = (event.session.as_deref(), of_changes()) else {
        return;
    };
    for (root, home) in homes(embedded) {
        let own = driver::own_name(session);
        let claimed = driver::claimed(from_ref(&root), &home, session);
        let claimed = claimed.ok().flatten().map(|claimed| claimed.instance);
        let claimed = claimed.filter(|claimed| *claimed != own);
        let folder = root.join(&home).join(embedded.folder());
        let names = [Some(own), claimed].into_iter().flatten();
        for name in names.filter(|name| folder.join(name).is_dir()) {
            let Ok(chart) = at_home(embedded, home.clone()) else {
                return;
            };
            let found = find::of_name(&root, &chart.scope, &name);
            let found = distrusting(&root, &chart.scope.home, found);
            let Some(instance) = found.instance else {
                continue;
            };
            let place = Place::new(chart, root.clone(), instance);
            match place.is_own() && !place.is_in_cycle() {
                true => abandon(&place),
                false => driver::release(&place.store, session),
            }
        }
    }
}
