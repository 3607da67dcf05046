//! Which charts answer an event: that of the plans, or the project's own, and that of changes after it.

use serde_json::Value as Json;

use super::absent;
use super::decided::Answering;
use super::due::AfterAnswer;
use super::session_change;
use super::target::{Target, change_of, of_project, release};
use crate::chart::Cycle;
use crate::engine::decision::{Answer, Step};
use crate::engine::event::Event;
use crate::host::events::{PROMPT, is_stop};
use crate::host::hosts::Host;
use crate::host::reply::Reply;
use crate::run::change;
use crate::run::foresee::peek;
use crate::run::place::Place;
use crate::run::stuck::Stuck;
use crate::text::full_stop;

/// Returns the answer to an event, and what is done once the host has it. The error says that this process has to end. The chart of the plans answers, or the project's own. If
/// it has nothing against a stop and none of its cycles is running, the chart of changes answers too.
pub(super) fn reply_to(
    name: &str,
    fields: Json,
    named: Option<&str>,
    quiet: bool,
    host: &Host,
) -> Result<(Reply, AfterAnswer), Stuck> {
    let event = Event::hook(name, fields);
    if name == "SessionEnd" {
        session_change::end(&event);
        release(event.session.as_deref(), named);
    }
    let begun = match name == PROMPT && named.is_none() {
        true => session_change::begin_change(&event),
        false => Ok(Vec::new()),
    };
    let mut plan = of_project(name, event.session.as_deref(), named, quiet);
    match begun {
        Ok(warnings) => plan.warnings.extend(warnings),
        Err(why) => {
            let end = full_stop(&why);
            plan.messages.push(format!("What this session changes is not reviewed: {why}{end}"));
        }
    }
    let session = event.session.as_deref().filter(|_| named.is_none() && is_stop(name));
    let change = session.map_or(Ok(None), change_of);
    let change = change.unwrap_or_else(|why| Some(Target::undecided(name, &why)));
    let mut answering = Answering { name, event: &event, host, due: AfterAnswer::default() };
    if named.is_none() && change.is_none() {
        plan.messages.extend(absent::unreviewed(&answering, plan.driven().is_some()));
    }
    let reply = of_both(&mut answering, plan, change)?;
    Ok((reply, answering.due))
}

/// Returns the answer about the plan, about the change that the session has reviewed, or about both.
fn of_both(
    answering: &mut Answering<'_>,
    plan: Target,
    change: Option<Target>,
) -> Result<Reply, Stuck> {
    let Some(change) = change else {
        return answering.answer(plan);
    };
    if let Some(place) = plan.driven().filter(|place| acts(place, answering.event)) {
        let is_of_code = place.snapshot().view().running().is_some_and(Cycle::is_of_code);
        let reply = answering.answer(plan)?;
        if is_of_code && reply.has_passed {
            // What a review has found in the change is still to be fixed, and what the user has asked for is still to be read.
            let is_over = |place: &&Place| change::is_on(place) == Ok(true) && !has_reviews(place);
            change.place.iter().filter(is_over).for_each(change::abandon);
        }
        return Ok(reply);
    }
    let first = answering.answer(plan)?;
    match first.blocks() {
        true => Ok(first),
        false => Ok(first.followed_by(answering.answer(change)?)),
    }
}

/// Returns whether the cycle that is running has had a review.
fn has_reviews(place: &Place) -> bool {
    let snapshot = place.snapshot();
    let view = snapshot.view();
    view.running().is_some_and(|cycle| view.standing(cycle).count > 0)
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
