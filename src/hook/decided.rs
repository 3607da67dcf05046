//! The answer of one chart to an event, step by step: the fields of the event, what has changed, the decision, what follows
//! from it, and the words for the host. The chart has the wording, in its rules and `templates`.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::due::AfterAnswer;
use super::output::tell;
use super::session_change;
use super::target::Target;
use crate::engine::decision::Step;
use crate::engine::event::{Event, Trigger};
use crate::files::pattern::name_flaw;
use crate::host::events::{STOPPED, UNCLAIMED, is_stop};
use crate::host::hosts::Host;
use crate::host::question;
use crate::host::reply::Reply;
use crate::project::change::{Base, Unknown, read};
use crate::run::change;
use crate::run::foresee::peek;
use crate::run::perform::perform;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::stuck::Stuck;
use crate::store::driver;
use crate::store::facts::{BlocksInTurn, Fact};
use crate::text::{cut_bytes, shown_lines};

/// How many bytes of the agent's last message a reviewer is given.
const MESSAGE: usize = 30_000;

/// What is said of a change that was clean when the reviewer was given it, and is another one by now.
const OUTDATED: &str =
    "This does not hold for what has changed since the review began: the next stop reviews that.";

/// An event that is being answered.
pub(super) struct Answering<'e> {
    pub(super) name: &'e str,
    pub(super) event: &'e Event,
    pub(super) host: &'e Host,
    /// What is done once the host has the answer.
    pub(super) due: AfterAnswer,
}

impl Answering<'_> {
    /// Returns the answer of the chart of `target`.
    pub(super) fn answer(&mut self, target: Target) -> Result<Reply, Stuck> {
        let Target { place, quiet, warnings, messages, is_unclaimed } = target;
        let reply = Reply::silent(self.name, quiet).with_warnings(warnings).with_messages(messages);
        let goes_on = self.event.fields["stop_hook_active"] == Json::Bool(true);
        let Some(place) = place else {
            return Ok(self.reported(reply, goes_on));
        };
        let session = self.event.session.as_deref().filter(|_| is_stop(self.name));
        let mut turn =
            session.and_then(|id| BlocksInTurn::of(self.host, place.journal(), id, goes_on));
        let journal = Arc::clone(place.journal());
        let write = move |turn: BlocksInTurn| {
            let written = journal.note(Fact::Turn { turn });
            written.unwrap_or_else(|error| {
                tell(&format!("the blocks of this turn cannot be counted: {error}"));
            });
        };
        if let Some(turn) = turn.take_if(BlocksInTurn::take_telling) {
            self.due.once(move || write(turn));
            return Ok(Reply::silent(self.name, quiet));
        }
        let mut event = self.event.clone();
        let is_used_up = turn.as_ref().is_some_and(|turn| turn.is_used_up(self.host));
        self.describe(&place, &mut event, is_used_up);
        let decided = match is_unclaimed {
            true => Reply::silent(self.name, quiet).with_messages(self.unclaimed(&place, &event)),
            false => self.decide(&place, &mut event)?,
        };
        let plugin = place.chart.plugin();
        let decided = decided.map_texts(|text| self.host.rename_commands(text, plugin));
        let mut reply = reply.followed_by(decided);
        let message = event.fields["last_assistant_message"].as_str();
        if let Some(asked) = message.filter(|_| self.name == STOPPED).and_then(question::asked) {
            reply.name_question(&asked);
        }
        match turn {
            None => reply = self.reported(reply, goes_on),
            Some(turn) => {
                if let Some(turn) = turn.count(self.host, &mut reply) {
                    self.due.once(move || write(turn));
                }
            }
        }
        // The process is about to end, so the memory of the chart is not freed piece by piece.
        std::mem::forget(place);
        Ok(reply)
    }

    /// Returns an answer about nothing that is counted: once per turn, the agent reports what the host would not show.
    fn reported(&self, mut reply: Reply, goes_on: bool) -> Reply {
        if is_stop(self.name) && !goes_on && !self.host.shows_messages && !reply.blocks() {
            reply.ask_to_tell();
        }
        reply
    }

    /// Adds to an event the fields about its host, and about what its session has going on.
    fn describe(&self, place: &Place, event: &mut Event, ignores_blocks: bool) {
        let fields = &mut event.fields;
        let bare = self.host.is_bare(fields);
        fields["bare"] = Json::from(bare);
        // A plugin also calls the hook at the start of a session, and only then is an old fact looked up.
        if bare || self.name == "SessionStart" {
            driver::set_bare(&place.store, bare);
        }
        if is_stop(self.name) {
            fields["ignores_blocks"] = ignores_blocks.into();
            self.host.describe(fields);
        }
    }

    /// Returns what the chart decides about an event.
    fn decide(&mut self, place: &Place, event: &mut Event) -> Result<Reply, Stuck> {
        let (name, quiet) = (self.name, place.chart.quiet);
        if place.chart.scope.is_of_changes()
            && let Err(why) = see_change(place, event)
        {
            return Ok(Reply::undecided(name, why));
        }
        let mut performed = match perform(place, event) {
            Ok(performed) => performed,
            Err(stuck @ (Stuck::Interrupted { .. } | Stuck::Abandoned)) => return Err(stuck),
            Err(stuck) => return Ok(Reply::undecided(name, stuck.to_string())),
        };
        let more = go_on(place, event, &performed);
        performed.decision.messages.extend(more);
        // An answer that is only repeated says nothing about it.
        let session = event.session.as_ref().filter(|_| is_stop(name) && performed.owed.is_none());
        // That another session has claimed the instance is reported once.
        let is_taken_over = |session: &&String| {
            !place.chart.scope.is_per_session() && driver::is_another(place.journal(), session)
        };
        if let Some(session) = session.filter(is_taken_over) {
            let (store, session) = (place.store.clone(), session.clone());
            self.due.once(move || driver::forget(&store, &session));
        }
        // The chart's own message reports the failure to the user; stderr is for the host's log.
        let failure = performed.decision.failure();
        let failure = failure.map(|why| format!("the review failed: {why}"));
        let reply = performed.decision.into_reply(name, quiet);
        let mut reply = reply.with_warnings(performed.warnings);
        reply.log.extend(failure.into_iter().chain(performed.unrecorded));
        self.due.owe(place.journal(), performed.owed);
        let (journal, said) = (Arc::clone(place.journal()), performed.pending);
        self.due.once(move || journal.say(said));
        Ok(reply)
    }

    /// Returns the messages, for a session that drives nothing, about an instance that nobody drives: once in each of
    /// its states. Nothing is started.
    fn unclaimed(&mut self, place: &Place, event: &Event) -> Vec<String> {
        let asked = Event { trigger: Trigger::Hook(UNCLAIMED.to_owned()), ..event.clone() };
        let session = event.session.as_deref().filter(|session| name_flaw(session).is_none());
        let Some(session) = session.filter(|_| driver::of(place.journal()).is_none()) else {
            return Vec::new();
        };
        // What cannot be decided is reported to the session that works on the instance.
        let Ok((Step::Done(decision), snapshot)) = peek(place, &asked) else {
            return Vec::new();
        };
        let state = snapshot.state.text().filter(|_| !decision.messages.is_empty());
        let Some(state) = state.map(<[u8]>::to_vec) else {
            return Vec::new();
        };
        let journal = Arc::clone(place.journal());
        let said = format!("unclaimed {session}");
        if journal.facts().is_done(&said, &state) {
            return Vec::new();
        }
        // If this cannot be recorded, it is said again.
        self.due.once(move || drop(journal.note_done(&said, Some(&state))));
        decision.messages
    }
}

/// Finds out what has changed, if the change at `place` is being reviewed, and adds it to the event.
fn see_change(place: &Place, event: &mut Event) -> Result<(), String> {
    let session = event.session.clone().filter(|_| event.is_stop());
    let fields = &mut event.fields;
    fields["own"] = place.is_own().into();
    let Some(base) = change::base(place) else {
        return Ok(());
    };
    let base = Base::Known(&base);
    let change = read(place.trees(), base).map_err(Unknown::in_words)?;
    change::describe(place, fields, &change);
    // The agent has gone on without a prompt.
    let goes_on = !fields["lines"].is_null() || fields["unread"] != json!([]);
    if goes_on
        && !place.is_in_cycle()
        && let Some(session) = session
    {
        session_change::begin(place, &session, base)?;
    }
    // It becomes part of an argument of a program.
    if let Json::String(text) = &mut fields["last_assistant_message"] {
        *text = cut_bytes(shown_lines(text).into_owned(), MESSAGE);
    }
    Ok(())
}

/// Where the reviews of a change are over, begins the next one with what has changed since the last of them began. Returns what is
/// to be reported.
fn go_on(place: &Place, event: &Event, performed: &Performed) -> Vec<String> {
    let session = event.session.as_deref().filter(|_| event.is_stop());
    let Some(session) = session.filter(|_| place.is_own() && !place.is_in_cycle()) else {
        return Vec::new();
    };
    let given = performed.tree.as_deref().filter(|_| change::is_outdated(place, performed));
    let Some(given) = given else {
        return Vec::new();
    };
    let began = session_change::begin(place, session, Base::Tree(given));
    [vec![OUTDATED.to_owned()], began.unwrap_or_else(|why| vec![why])].concat()
}
