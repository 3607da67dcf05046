//! Which charts answer an event: that of the plans, or the project's own, and that of changes after it.

use serde_json::Value as Json;

use super::absent;
use super::decided::answer;
use super::due::{AfterAnswer, Answered, Unanswered};
use super::session_change;
use super::target::{Target, find_place, place_of_change, release};
use crate::chart::Cycle;
use crate::engine::decision::{Answer, Step};
use crate::engine::event::Event;
use crate::host::events::{PROMPT, is_stop};
use crate::host::hosts::Host;
use crate::host::reply::Reply;
use crate::run::change;
use crate::run::foresee::peek;
use crate::run::place::Place;

/// Returns the answer to an event: that of the chart, or of the project's own. If it has nothing against a stop and none of its
/// cycles is running, the chart of changes answers too.
pub(super) fn reply_to(
    name: &str,
    fields: Json,
    named: Option<&str>,
    quiet: bool,
    host: &Host,
) -> Result<Answered, Unanswered> {
    let event = Event::hook(name, fields);
    if name == "SessionEnd" {
        session_change::release(&event);
        release(event.session.as_deref(), named);
    }
    let begun = match name == PROMPT && named.is_none() {
        true => session_change::begin_change(&event),
        false => Ok(Vec::new()),
    };
    let found = find_place(name, event.session.as_deref(), named, quiet);
    let answered = match named {
        None if is_stop(name) => of_stop(name, event, found, host),
        None => or_absent(name, event, found, host),
        Some(_) => answer(name, event, found, host),
    };
    let (reply, due) = answered?;
    Ok(match begun {
        Ok(warnings) => (reply.with_warnings(warnings), due),
        Err(why) => {
            let why = format!("What this session changes is not reviewed: {why}");
            (Reply::silent(name, quiet).with_messages(vec![why]).followed_by(reply), due)
        }
    })
}

/// Returns the answer to a stop about the plan that was `found`, about the change that the session has reviewed, or both.
fn of_stop(
    name: &str,
    event: Event,
    found: Result<Target, Box<Reply>>,
    host: &Host,
) -> Result<Answered, Unanswered> {
    let change = match place_of_change(&event, name) {
        Ok(None) => return or_absent(name, event, found, host),
        Ok(Some(target)) => Ok(target),
        Err(why) => Err(Box::new(Reply::undecided(name, why))),
    };
    let plan = found.as_ref().ok().filter(|target| !target.is_unclaimed);
    let plan = plan.and_then(|target| target.place.as_ref());
    if let Some(plan) = plan.filter(|plan| acts(plan, &event)) {
        let is_of_code = plan.snapshot().view().running().is_some_and(Cycle::is_of_code);
        if let Ok(Target { place: Some(change), .. }) = &change
            && is_of_code
        {
            change::abandon(change);
        }
        return answer(name, event, found, host);
    }
    let (first, due) = answer(name, event.clone(), found, host)?;
    if first.blocks() {
        return Ok((first, due));
    }
    let (reply, more) = answer(name, event, change, host)?;
    Ok((first.followed_by(reply), due.and(more)))
}

/// Returns the answer of one chart, of a session that has no change reviewed: if that should be so, it comes with why.
fn or_absent(
    name: &str,
    event: Event,
    mut found: Result<Target, Box<Reply>>,
    host: &Host,
) -> Result<Answered, Unanswered> {
    let drives = found.as_ref().is_ok_and(|target| !target.is_unclaimed);
    let mut due = AfterAnswer::default();
    let why = absent::unreviewed((name, &event), host, drives, &mut due);
    let mut first = Reply::silent(name, true);
    match &mut found {
        _ if !is_stop(name) => first = first.with_messages(why.into_iter().collect()),
        Ok(target) => target.warnings.extend(why),
        Err(reply) => reply.warnings.extend(why),
    }
    let (reply, more) = answer(name, event, found, host)?;
    Ok((first.followed_by(reply), due.and(more)))
}

/// Returns whether a cycle of the instance is running, and the stop is about it: while a review that is due only waits for the
/// user, the stop is for others, too.
pub(super) fn acts(place: &Place, event: &Event) -> bool {
    let does = |step: Step| match step {
        Step::Invoke(_) => true,
        Step::Done(decision) => {
            !decision.patch.is_empty() || matches!(decision.answer, Answer::Block(_))
        }
    };
    let snapshot = place.snapshot();
    let view = snapshot.view();
    let Some(cycle) = view.running() else {
        return false;
    };
    !view.standing(cycle).is_due || peek(place, event).is_ok_and(|(step, _)| does(step))
}
