//! The entry of the hook that runs reviews beside the turn: it does nothing else, and reports nothing but the result of a review.

use serde_json::Value as Json;

use super::answer::{Unanswered, reply_of};
use super::due::AfterAnswer;
use super::output::tell;
use super::target::find_place;
use crate::engine::event::Event;
use crate::host::hosts::Host;
use crate::host::reply::Reply;
use crate::run::call::UserCall;
use crate::run::stuck::Stuck;
use crate::run::{beside, wake};
use crate::store::driver;

/// Returns what wakes the agent; `None` if there is no review to run, or if the host cannot wake it. Changes without a plan are
/// reviewed by the entry that holds the turn.
pub(super) fn reply_to(
    name: &str,
    fields: Json,
    named: Option<&str>,
    host: &Host,
) -> Result<Option<(Reply, AfterAnswer)>, Unanswered> {
    let mut event = Event::hook(name, fields);
    if !host.wakes {
        return Ok(None);
    }
    // What is in the way of a decision, the other entry reports.
    let found = find_place(name, event.session.as_deref(), named, true).ok();
    let found = found.filter(|found| !found.is_unclaimed);
    let Some(place) = found.and_then(|found| found.place) else {
        return Ok(None);
    };
    host.describe(&mut event.fields);
    event.fields["bare"] = driver::is_bare(&place.store).into();
    event.fields["wakes"] = true.into();
    let performed = wake::perform(&place, &mut event).map_err(|stuck| {
        // Nobody is woken. What is not about a review, the other entry reports at the same time.
        if let Stuck::Lost { .. } = stuck {
            let call = UserCall::of_stuck(&place, &event, &stuck.to_string());
            call.into_iter().flat_map(UserCall::start).for_each(|why| tell(&why));
        }
        stuck
    })?;
    let Some(performed) = performed else {
        return Ok(None);
    };
    let call = UserCall::of(&place, &event, &performed);
    let wakes = beside::is_worth_waking(&place, &performed);
    let mut due = AfterAnswer::default();
    let mut reply = reply_of(performed, name, true, &mut due);
    due.call(call);
    if wakes && !reply.blocks() {
        reply.ask_to_tell();
    }
    Ok(Some((reply.map_texts(|text| host.rename_commands(text, place.chart.plugin())), due)))
}
