//! The answer of one chart to an event, step by step: the fields of the event, what has changed, the decision, what follows
//! from it, and the words for the host. The chart has the wording, in its rules and `templates`.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::due::{AfterAnswer, Answered, Unanswered};
use super::output::tell;
use super::session_change;
use super::target::Target;
use crate::engine::decision::Step;
use crate::engine::event::{Event, Trigger};
use crate::files::pattern::name_flaw;
use crate::hash;
use crate::host::events::{STOPPED, UNCLAIMED, is_stop};
use crate::host::hosts::Host;
use crate::host::question;
use crate::host::reply::Reply;
use crate::project::change::{Base, Unknown};
use crate::project::state_file::Reading;
use crate::run::change;
use crate::run::foresee::peek;
use crate::run::perform::{foreseen_news, perform};
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::stuck::Stuck;
use crate::store::driver;
use crate::store::facts::BlocksInTurn;
use crate::store::once::PROGRAM;
use crate::text::{cut_bytes, shown_lines};

/// How many bytes of the agent's last message a reviewer is given.
const MESSAGE: usize = 30_000;

/// What is said of a change that was clean when the reviewer was given it, and is another one by now.
const OUTDATED: &str =
    "This does not hold for what has changed since the review began: the next stop reviews that.";

/// Returns the answer of the chart of what was `found`.
pub(super) fn answer(
    name: &str,
    mut event: Event,
    found: Result<Target, Box<Reply>>,
    host: &Host,
) -> Result<Answered, Unanswered> {
    let goes_on = event.fields["stop_hook_active"] == Json::Bool(true);
    // Where nothing is counted, the agent reports once per turn what the host would not show.
    let reported = |mut reply: Reply| {
        if is_stop(name) && !goes_on && !host.shows_messages && !reply.blocks() {
            reply.ask_to_tell();
        }
        reply
    };
    let Target { mut due, place, quiet, warnings, is_unclaimed } = match found {
        Ok(found) => found,
        Err(reply) => return Ok((reported(*reply), AfterAnswer::default())),
    };
    let silent = Reply::silent(name, quiet);
    let Some(mut place) = place else {
        return Ok((reported(silent.with_warnings(warnings)), due));
    };
    let session = event.session.clone().filter(|_| is_stop(name));
    let mut turn = session.and_then(|id| BlocksInTurn::of(host, place.journal(), &id, goes_on));
    let journal = Arc::clone(place.journal());
    let write = move |turn: BlocksInTurn| {
        let written = turn.write(&journal);
        written.unwrap_or_else(|error| {
            tell(&format!("the blocks of this turn cannot be counted: {error}"));
        });
    };
    if let Some(turn) = turn.take_if(BlocksInTurn::take_telling) {
        due.once(move || write(turn));
        return Ok((silent, due));
    }
    describe(name, &place, &mut event, host, &mut due);
    if is_stop(name) {
        let is_used_up = turn.as_ref().is_some_and(|turn| turn.is_used_up(host));
        event.fields["ignores_blocks"] = is_used_up.into();
    }
    let message = event.fields["last_assistant_message"].as_str().filter(|_| name == STOPPED);
    let asked = message.and_then(question::asked);
    let mut reply = match is_unclaimed {
        true => silent.with_messages(unclaimed(&place, &event, host, &mut due)),
        false => decided(name, &mut place, &mut event, (host, &mut due))?,
    };
    reply = reply.with_warnings(warnings);
    if let Some(asked) = asked {
        reply.name_question(&asked);
    }
    match turn {
        None => reply = reported(reply),
        Some(turn) => {
            if let Some(turn) = turn.count(host, &mut reply) {
                due.once(move || write(turn));
            }
        }
    }
    // The process is about to end, so the memory of the chart is not freed piece by piece.
    std::mem::forget(place);
    Ok((reply, due))
}

/// Adds to an event the fields about its host, and about what its session has going on.
fn describe(name: &str, place: &Place, event: &mut Event, host: &Host, due: &mut AfterAnswer) {
    let fields = &mut event.fields;
    let bare = host.is_bare(fields);
    fields["bare"] = Json::from(bare);
    // A plugin also calls the hook at the start of a session, and only then is an old fact looked up.
    if bare || name == "SessionStart" {
        driver::set_bare(&place.store, bare);
    }
    if is_stop(name) {
        host.describe(fields);
        wait_once(place, fields, due);
    }
}

/// Lets no second stop in a row wait for a program in the background: it may never end.
fn wait_once(place: &Place, fields: &mut Json, due: &mut AfterAnswer) {
    let journal = Arc::clone(place.journal());
    let runs = fields["program"].is_string();
    let has_waited = PROGRAM.is_for(&journal, &[]);
    if has_waited {
        fields["program"] = Json::Null;
    }
    if runs && !has_waited {
        due.once(move || drop(PROGRAM.note(&journal, &[])));
    } else if has_waited && !runs {
        due.once(move || PROGRAM.forget(&journal));
    }
}

/// Returns what the chart decides about an event, and adds what is due once the host has it.
fn decided(
    name: &str,
    place: &mut Place,
    event: &mut Event,
    (host, due): (&Host, &mut AfterAnswer),
) -> Result<Reply, Unanswered> {
    let quiet = place.chart.quiet;
    match see_change(place, event, due) {
        Ok(None) => {}
        Ok(Some(warnings)) => return Ok(Reply::silent(name, quiet).with_warnings(warnings)),
        Err(why) => return Ok(Reply::undecided(name, why)),
    }
    let mut performed = match perform(place, event) {
        Ok(performed) => performed,
        Err(Stuck::Interrupted { signal }) => return Err(Unanswered::BySignal(signal)),
        Err(Stuck::Abandoned) => return Err(Unanswered::WithHost),
        Err(stuck) => return Ok(Reply::undecided(name, stuck.to_string())),
    };
    let more = end_change(place, event, &performed);
    performed.decision.messages.extend(more);
    // An answer that is only repeated says nothing about it.
    let session = event.session.as_ref().filter(|_| is_stop(name) && performed.owed.is_none());
    if let Some(session) = session.filter(|session| is_taken_over(place, session)) {
        let (store, session) = (place.store.clone(), session.clone());
        due.once(move || driver::forget(&store, &session));
    }
    let reply = reply_of(name, quiet, performed, place, due);
    Ok(reply.map_texts(|text| host.rename_commands(text, place.chart.plugin())))
}

/// Finds out what has changed, if the chart reviews changes and is reviewing this one, and adds it to the event. Returns what is
/// to be reported if there is nothing to decide.
fn see_change(
    place: &mut Place,
    event: &mut Event,
    due: &mut AfterAnswer,
) -> Result<Option<Vec<String>>, String> {
    if !place.chart.scope.is_of_changes() {
        return Ok(None);
    }
    if let Some(why) = session_change::off(place)? {
        let abandoned =
            Place::new(Arc::clone(&place.chart), place.root.clone(), place.instance.clone());
        due.once(move || change::abandon(&abandoned));
        return Ok(Some(why));
    }
    let session = event.session.clone().filter(|_| event.is_stop());
    let fields = &mut event.fields;
    fields["own"] = place.is_own().into();
    let Some(base) = change::base(place) else {
        return Ok(None);
    };
    let base = Base::Known(&base);
    let change = change::find(place, base).map_err(Unknown::in_words)?;
    change::describe(place, fields, &change);
    if place.is_own() && !place.is_in_cycle() {
        // The agent has gone on without a prompt.
        let counts = !fields["lines"].is_null() || fields["unread"] != json!([]);
        match session.filter(|_| counts) {
            Some(session) => drop(session_change::begin(place, &session, base)?),
            None => return Ok((!is_to_be_said(place)).then(Vec::new)),
        }
    }
    // It becomes part of an argument of a program.
    if let Json::String(text) = &mut fields["last_assistant_message"] {
        *text = cut_bytes(shown_lines(text).into_owned(), MESSAGE);
    }
    Ok(None)
}

/// Returns whether the user is to read something about the instance at this stop, whatever is decided.
fn is_to_be_said(place: &Place) -> bool {
    let snapshot = place.snapshot();
    let has_news = || !foreseen_news(place, &snapshot).is_empty();
    place.journal().facts().left.owed.is_some()
        || matches!(snapshot.state, Reading::Sound { .. }) && has_news()
}

/// Ends what a session has to do with a change whose reviews are over, or begins the next one with what has changed since the
/// review began. Returns what is to be reported.
fn end_change(place: &mut Place, event: &Event, performed: &Performed) -> Vec<String> {
    if !place.chart.scope.is_of_changes() || place.is_in_cycle() {
        return Vec::new();
    }
    let session = event.session.as_deref().filter(|_| event.is_stop());
    let given = performed.tree.as_deref().filter(|_| change::is_outdated(place, performed));
    if let (Some(given), Some(session)) = (given, session) {
        let base = event.fields["base"].as_str().filter(|_| !place.is_own());
        let began = session_change::begin(place, session, Base::Known(base.unwrap_or(given)));
        let more = began.unwrap_or_else(|why| vec![why]);
        return [vec![OUTDATED.to_owned()], more].concat();
    }
    if let Some(session) = session.filter(|_| !place.is_own()) {
        driver::forget(&place.store, session);
    }
    Vec::new()
}

/// Returns whether another session has claimed the instance that `session` claimed. That is reported once.
fn is_taken_over(place: &Place, session: &str) -> bool {
    !place.chart.scope.is_per_session() && driver::is_another(place.journal(), session)
}

/// Returns what a decision that was carried out says, and adds what is due once the host has it.
fn reply_of(
    name: &str,
    quiet: bool,
    performed: Performed,
    place: &Place,
    due: &mut AfterAnswer,
) -> Reply {
    // The chart's own message reports the failure to the user; stderr is for the host's log.
    let failure = performed.decision.failure();
    let failure = failure.map(|why| format!("the review failed: {why}"));
    let reply = performed.decision.into_reply(name, quiet);
    let mut reply = reply.with_warnings(performed.warnings);
    reply.log.extend(failure.into_iter().chain(performed.unrecorded));
    due.owe(place.journal(), performed.owed);
    due.say(place.journal(), performed.pending);
    reply
}

/// Returns the messages, for a session that drives nothing, about an instance that nobody drives: once in each of
/// its states. Nothing is started.
fn unclaimed(place: &Place, event: &Event, host: &Host, due: &mut AfterAnswer) -> Vec<String> {
    let asked = Event { trigger: Trigger::Hook(UNCLAIMED.to_owned()), ..event.clone() };
    let session = event.session.as_deref().filter(|session| name_flaw(session).is_none());
    let Some(session) = session.filter(|_| driver::of(place.journal()).is_none()) else {
        return Vec::new();
    };
    // What cannot be decided is reported to the session that works on the instance.
    let Ok((Step::Done(decision), snapshot)) = peek(place, &asked) else {
        return Vec::new();
    };
    let Some(state) = snapshot.state.text().filter(|_| !decision.messages.is_empty()) else {
        return Vec::new();
    };
    let journal = Arc::clone(place.journal());
    let (said, done) = (format!("unclaimed {session}"), hash::number(state));
    if journal.facts().is_done(&said, state) {
        return Vec::new();
    }
    // If this cannot be recorded, it is said again.
    due.once(move || drop(journal.note_done(&said, Some(done))));
    let messages = decision.messages.iter();
    messages.map(|text| host.rename_commands(text, place.chart.plugin())).collect()
}
