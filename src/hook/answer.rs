//! The answer to an event: what the decision says, in the words of the host, and what is counted against the turn. The
//! chart has the wording, in its rules and `templates`.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::absent;
use super::due::AfterAnswer;
use super::output::tell;
use super::session_change;
use super::target::{Target, find_place, place_of_change, release};
use crate::disk;
use crate::engine::decision::{Answer, Step};
use crate::engine::event::{Event, Trigger};
use crate::files::pattern::name_flaw;
use crate::hash;
use crate::host::events::{PROMPT, STOPPED, UNCLAIMED, is_stop};
use crate::host::hosts::{self, Host};
use crate::host::question;
use crate::host::reply::Reply;
use crate::project::change::{Base, Trees, Unknown};
use crate::project::state_file::{self, Reading};
use crate::run::call::UserCall;
use crate::run::change;
use crate::run::perform::{foreseen_news, peek, perform};
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::stuck::Stuck;
use crate::store::driver;
use crate::store::facts::{BlocksInTurn, Done, Said};
use crate::store::once::PROGRAM;
use crate::text::{cut_bytes, shown_lines};

/// How many bytes of the agent's last message a reviewer is given.
const MESSAGE: usize = 10_000;

/// What is said of a change that was clean when the reviewer was given it, and is another one by now.
const OUTDATED: &str =
    "This does not hold for what has changed since the review began: the next stop reviews that.";

/// Why there is no answer.
pub(super) enum Unanswered {
    /// The host has asked this process to end.
    BySignal(i32),
    /// Nobody is waiting for the answer anymore.
    WithHost,
}

/// Returns the messages, for a session that drives nothing, about an instance that nobody drives: once in each of
/// its states. Nothing is started.
fn unclaimed(place: &Place, event: &Event, host: &Host, due: &mut AfterAnswer) -> Vec<String> {
    let asked = Event { trigger: Trigger::Hook(UNCLAIMED.to_owned()), ..event.clone() };
    let Some(session) = event.session.as_deref() else {
        return Vec::new();
    };
    if name_flaw(session).is_some() || !driver::of(place.journal()).is_empty() {
        return Vec::new();
    }
    // What cannot be decided is reported to the session that works on the instance.
    let Ok((Step::Done(decision), snapshot)) = peek(place, &asked) else {
        return Vec::new();
    };
    let messages = decision.messages.iter();
    let messages: Vec<String> =
        messages.map(|text| host.rename_commands(text, place.chart.plugin())).collect();
    let (Some(state), false) = (snapshot.state.text(), messages.is_empty()) else {
        return Vec::new();
    };
    let journal = Arc::clone(place.journal());
    let (said, done) = (format!("unclaimed {session}"), Done::new(state, None));
    if journal.facts().done(&said, state).is_some() {
        return Vec::new();
    }
    // If this cannot be recorded, it is said again.
    due.once(move || drop(journal.note_done(&said, Some(done))));
    messages
}

/// Returns the answer to an event: that of the chart, or of the project's own. If it has nothing against a stop and none of its
/// cycles is running, the chart of changes answers too.
pub(super) fn reply_to(
    name: &str,
    fields: Json,
    named: Option<&str>,
    quiet: bool,
    host: &Host,
) -> Result<(Reply, AfterAnswer), Unanswered> {
    let event = Event::hook(name, fields);
    if name == "SessionEnd" {
        session_change::release(&event);
        release(event.session.as_deref(), named);
    }
    if name == PROMPT && named.is_none() {
        let begun = session_change::begin_change(&event);
        let found = find_place(name, event.session.as_deref(), named, quiet);
        let (reply, due) = answered(name, event, found, host)?;
        return Ok(match begun {
            Ok(warnings) => (reply.with_warnings(warnings), due),
            Err(why) => {
                let why = format!("What this session changes is not reviewed: {why}");
                (Reply::silent(name, quiet).with_messages(vec![why]).followed_by(reply), due)
            }
        });
    }
    let found = find_place(name, event.session.as_deref(), named, quiet);
    let of_change = match named.is_none() && is_stop(name) {
        true => place_of_change(&event, name),
        false => Ok(None),
    };
    let also = match of_change {
        Ok(None) if named.is_none() => return answered(name, event, found, host),
        Ok(None) => return answer(name, event, found, host),
        Ok(Some(target)) => Ok(session_change::or_own(target, &event)),
        Err(why) => Err(Box::new(Reply::undecided(name, why))),
    };
    let plan = found.as_ref().ok().filter(|target| !target.is_unclaimed);
    let plan = plan.and_then(|target| target.place.as_ref());
    if let Some(plan) = plan.filter(|plan| acts(plan, &event)) {
        let change = also.as_ref().ok().and_then(|target| target.place.as_ref());
        if let Some(change) = change {
            session_change::leave_to(plan, change);
        }
        return answer(name, event, found, host);
    }
    let answer = |found| answer(name, event.clone(), found, host);
    let (first, due) = answer(found)?;
    if first.blocks() {
        return Ok((first, due));
    }
    let (reply, more) = answer(also)?;
    Ok((first.followed_by(reply), due.and(more)))
}

/// Returns the answer of one chart, of a session that has no change reviewed: if that should be so, it comes with why.
fn answered(
    name: &str,
    event: Event,
    mut found: Result<Target, Box<Reply>>,
    host: &Host,
) -> Result<(Reply, AfterAnswer), Unanswered> {
    let drives = found.as_ref().is_ok_and(|target| !target.is_unclaimed);
    let mut due = AfterAnswer::default();
    let why = absent::unreviewed((name, &event), host, drives, &mut due);
    let why: Vec<String> = why.into_iter().collect();
    let mut first = Reply::silent(name, true);
    match &mut found {
        _ if !is_stop(name) => first = first.with_messages(why),
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

/// Returns the answer of one chart.
fn answer(
    name: &str,
    mut event: Event,
    found: Result<Target, Box<Reply>>,
    host: &Host,
) -> Result<(Reply, AfterAnswer), Unanswered> {
    let goes_on = event.fields["stop_hook_active"] == Json::Bool(true);
    // Where nothing is counted, the agent reports once per turn what the host would not show.
    let reported = |mut reply: Reply| {
        if is_stop(name) && !goes_on && !host.shows_messages && !reply.blocks() {
            reply.ask_to_tell();
        }
        reply
    };
    let found = match found {
        Ok(found) => found,
        Err(reply) => return Ok((reported(*reply), AfterAnswer::default())),
    };
    let (mut warnings, mut due) = (found.warnings, found.due);
    let silent = Reply::silent(name, found.quiet);
    let Some(mut place) = found.place else {
        return Ok((reported(silent.with_warnings(warnings)), due));
    };
    if event.is_stop() {
        host.describe(&mut event.fields);
        wait_once(&place, &mut event.fields, &mut due);
    }
    let is_own = place.is_own();
    if is_own {
        warnings.extend(session_change::moved(&place));
        change::note_busy(&place, hosts::is_busy(&event.fields));
    }
    let journal = Arc::clone(place.journal());
    let state = place.dir().join(state_file::FILE);
    let session = event.session.clone().filter(|_| is_stop(name));
    let bare = host.is_bare(&event.fields);
    event.fields["bare"] = Json::from(bare);
    // A plugin also calls the hook at the start of a session, and only then is an old record looked up.
    if bare || name == "SessionStart" {
        driver::set_bare(place.journal(), bare);
    }
    let turn = (session.as_deref())
        .and_then(|session| BlocksInTurn::of(host, place.journal(), session, goes_on));
    let (chart, root) = (Arc::clone(&place.chart), place.root.clone());
    let mark = || {
        // No state shows what a session has changed.
        let read = || Trees::of(&root, None, &chart.scope).read().ok();
        let tree = if is_own { Some(read()?) } else { None };
        let tree = tree.map_or_else(String::new, |tree| tree.id.clone());
        Some(hash::number(tree + &disk::text(&state).unwrap_or_default()))
    };
    if turn.as_ref().is_some_and(|turn| turn.was_telling(mark)) {
        return Ok((silent, due));
    }
    if is_stop(name) {
        warnings.extend(change::other_rules(&place));
        let is_used_up = turn.as_ref().is_some_and(|turn| turn.is_used_up(host));
        event.fields["ignores_blocks"] = is_used_up.into();
    }
    let message = event.fields["last_assistant_message"].as_str().filter(|_| name == STOPPED);
    let asked = message.and_then(question::asked);
    let done = match found.is_unclaimed {
        true => Ok(silent.with_messages(unclaimed(&place, &event, host, &mut due))),
        false => decided(name, &mut place, &mut event, (host, &mut due)),
    };
    let mut reply = done?.with_warnings(warnings);
    if let Some(asked) = asked {
        reply.name_question(&asked);
    }
    let reply = match turn {
        Some(turn) => {
            if let Some(turn) = turn.count(host, mark, &mut reply) {
                due.once(move || {
                    let written = turn.write(&journal);
                    written.unwrap_or_else(|error| {
                        tell(&format!("the blocks of this turn cannot be counted: {error}"));
                    });
                });
            }
            reply
        }
        None => reported(reply),
    };
    if let (true, Some(text)) = (is_own, reply.reason()) {
        change::note_sent(&place.dir(), &text);
    }
    // The process is about to end, so the memory of the chart is not freed piece by piece.
    std::mem::forget(place);
    Ok((reply, due))
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
        due.once(move || drop(PROGRAM.note(&journal, &[], None)));
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
    let (is_own, quiet) = (place.is_own(), place.chart.quiet);
    let silent = Reply::silent(name, quiet);
    match session_change::off(place) {
        Ok(None) => {}
        Ok(Some(why)) => {
            let (chart, root) = (Arc::clone(&place.chart), place.root.clone());
            let place = Place::new(chart, root, place.instance.clone());
            due.once(move || session_change::abandon(&place));
            return Ok(silent.with_warnings(why));
        }
        Err(why) => return Ok(undecided(place, event, why, due)),
    }
    match see_change(place, event) {
        Ok(true) => {}
        // Its last answer has not been given yet.
        Ok(false) if place.journal().facts().left.owed.is_some() || has_news(place) => {}
        Ok(false) => return Ok(silent),
        Err(why) => return Ok(undecided(place, event, why, due)),
    }
    let result = perform(place, event);
    let session = event.session.as_deref();
    let session = session.filter(|_| event.is_stop());
    let done = result.as_ref().ok().filter(|_| event.is_stop());
    let call = done.and_then(|done| UserCall::of(place, event, done));
    let mut waits = Vec::new();
    if place.chart.scope.is_of_changes() && !place.is_in_cycle() {
        let outdated = result.as_ref().ok().filter(|done| change::is_outdated(place, event, done));
        let given = outdated.and_then(|done| done.tree(event));
        let base = given.filter(|_| is_own).or_else(|| event.fields["base"].as_str());
        if let (Some(_), Some(base), Some(session)) = (given, base, session) {
            waits.push(OUTDATED.to_owned());
            let began = session_change::begin(place, session, Base::Known(base));
            waits.extend(began.unwrap_or_else(|why| vec![why]));
        } else if is_own {
            change::forget_prompts(place);
        } else if session.is_some() {
            let done = result.as_ref().ok();
            let is_clean = done.is_some_and(|done| done.decision.advances());
            let back = session_change::hand_back(place, event, is_clean);
            waits.extend(back.unwrap_or_else(|why| vec![why]));
        } else {
            change::forget(place);
        }
    }
    match result {
        Ok(mut performed) => {
            performed.decision.messages.extend(waits);
            // An answer that is only repeated says nothing about it.
            let new_to = session.filter(|_| performed.owed.is_none());
            if let Some(session) = new_to.filter(|session| is_taken_over(place, session)) {
                let (place, session) = (place.clone(), session.to_owned());
                due.once(move || session_change::leave(&place, &session));
            }
            let once = std::mem::take(&mut performed.once);
            if event.is_stop() && !once.is_empty() {
                let said = place.journal().facts().said;
                performed.warnings.retain(|text| !once.contains(text) || !said.contains(text));
                let once = once.into_iter().filter(|text| !said.contains(text)).collect();
                due.say(place.journal(), Said { once, ..Said::default() });
            }
            let reply = reply_of(performed, place, (name, quiet), due);
            due.call(call);
            Ok(reply.map_texts(|text| host.rename_commands(text, place.chart.plugin())))
        }
        Err(Stuck::Interrupted { signal }) => Err(Unanswered::BySignal(signal)),
        Err(Stuck::Abandoned) => Err(Unanswered::WithHost),
        Err(stuck) => Ok(undecided(place, event, stuck.to_string(), due)),
    }
}

/// Returns whether the user is to read something about the instance at this stop, whatever is decided.
fn has_news(place: &Place) -> bool {
    let snapshot = place.snapshot();
    matches!(snapshot.state, Reading::Sound { .. }) && !foreseen_news(place, &snapshot).is_empty()
}

/// Returns whether another session has claimed the instance that `session` claimed. That is reported once.
fn is_taken_over(place: &Place, session: &str) -> bool {
    let drivers = driver::of(place.journal());
    !place.chart.scope.is_per_session() && driver::are_others(&drivers, Some(session))
}

/// Returns the answer to an event about which nothing can be decided. The user is called: the loop stands still.
fn undecided(place: &Place, event: &Event, why: String, due: &mut AfterAnswer) -> Reply {
    let Trigger::Hook(name) = &event.trigger else {
        return Reply::undecided("event", why);
    };
    let call = UserCall::of_stuck(place, event, &why);
    let reply = Reply::undecided(name, why);
    due.call(call);
    reply
}

/// Finds out what has changed, if the chart reviews changes and is reviewing this one, and adds it to the event. Only then
/// is the place looked at for this: it validates the state, which takes longer than a whole stop of a plan. Returns whether
/// there is something to decide.
fn see_change(place: &mut Place, event: &mut Event) -> Result<bool, String> {
    let session = event.session.clone().filter(|_| event.is_stop());
    let fields = &mut event.fields;
    let is_of_change = place.chart.scope.is_of_changes();
    if is_of_change {
        fields["own"] = place.is_own().into();
    }
    let Some(base) = is_of_change.then(|| change::base(place)).flatten() else {
        return Ok(true);
    };
    let base = Base::Known(&base);
    let change = change::find(place, base).map_err(Unknown::in_words)?;
    change::describe(place, fields, &change);
    if place.is_own() && !place.is_in_cycle() {
        // The agent has gone on without a prompt.
        let counts = !fields["lines"].is_null() || fields["unread"] != json!([]);
        if let (true, Some(session)) = (counts, session) {
            session_change::begin(place, &session, base)?;
        } else {
            return Ok(false);
        }
    }
    // It becomes part of an argument of a program.
    if let Json::String(text) = &mut fields["last_assistant_message"] {
        *text = shortened(&shown_lines(text), place);
    }
    Ok(true)
}

/// Returns the agent's last message, of which a reviewer is given only so much: an argument has an end. Of what is cut, the lines
/// about findings are kept.
fn shortened(text: &str, place: &Place) -> String {
    if text.len() <= MESSAGE {
        return text.to_owned();
    }
    let start = cut_bytes(text.to_owned(), MESSAGE / 2);
    let rest = &text[start.trim_end_matches('…').len()..];
    let findings = place.snapshot().ledger();
    let is_about = |line: &&str| findings.iter().any(|entry| line.contains(&entry.id));
    let about: Vec<&str> = rest.lines().filter(is_about).collect();
    format!("{start}\n{}", cut_bytes(about.join("\n"), MESSAGE / 2))
}

/// Returns what a decision that was carried out says, and adds what is due once the host has it.
pub(super) fn reply_of(
    performed: Performed,
    place: &Place,
    (name, quiet): (&str, bool),
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
