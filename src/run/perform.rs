//! Handles an event, up to its answer: takes a snapshot, decides, runs what the decision invokes, decides again,
//! writes.
//!
//! A decision writes the state at most once, under the write lock, based on a world that was read under that lock, and after
//! all changes to files. If this is killed at any moment, either the old state or the new one remains.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::engine::decision::{Answer, Decision, Ended, Outcome, Step};
use crate::engine::event::{Event, Trigger};
use crate::host::events::is_event;
use crate::host::hosts::RESERVE;
use crate::page::usd;
use crate::project::state_file::Reading;
use crate::run::foresee::peek;
use crate::run::noticed::{NOTED, Noticed, is_for_user};
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::review::{NextStep, hook_timeout, review};
use crate::run::snapshot::Snapshot;
use crate::run::stuck::{Stuck, io};
use crate::run::under_way::{self, running};
use crate::run::write::{UNNOTED, claim, claimant, commit, write};
use crate::store::driver;
use crate::store::facts::{Fact, Said};
use crate::store::journal::{DecisionLine, Line};

/// Decides `event` at `place`, carries the decision out, and writes both to the journal.
pub(crate) fn perform(place: &Place, event: &Event) -> Result<Performed, Stuck> {
    let start = Instant::now();
    let mut result = match event.is_stop() {
        true => stop(place, event, start),
        false => carry_out(place, event, &place.snapshot(), start),
    };
    let written = add_decision(place, event, result.as_ref());
    if let (Err(error), Ok(performed)) = (written, &mut result) {
        performed.unrecorded = Some(format!("the journal cannot be written: {error}"));
    }
    result
}

/// Carries out a stop, and adds what the user reads of the state whatever is decided.
fn stop(place: &Place, event: &Event, start: Instant) -> Result<Performed, Stuck> {
    let early = pause_noted(place);
    let misfit = place.journal().misfit();
    let snapshot = place.snapshot();
    let is_for_user = is_for_user(event) && !matches!(snapshot.state, Reading::Broken(_));
    if is_for_user && Noticed::of(place, &snapshot.state, false).is_news() {
        let _lock = place.lock()?;
        // Another process may have written both since.
        let written = Noticed::of(place, &place.state(), false).write(place);
        written.map_err(io(UNNOTED))?;
    }
    let mut performed = carry_out(place, event, &snapshot, start)?;
    performed.warnings.extend(misfit.map(|path| {
        format!(
            "{} was not written by taskie here, and is not used: what reviews have cost so far is unknown.",
            path.display()
        )
    }));
    let has_done = !performed.decision.writes_nothing() || performed.decision.ended.is_some();
    if has_done && let Some(paused) = pause_noted(place) {
        performed.hold(paused);
    }
    if is_for_user {
        performed.pending = Said { news: place.journal().facts().left.news.clone(), owed: None };
    }
    let news = performed.pending.news.iter().cloned();
    performed.decision.messages.splice(0..0, early.into_iter().chain(news));
    Ok(performed)
}

/// Adds a line about the decision on `event`, or about why there is none.
fn add_decision(
    place: &Place,
    event: &Event,
    result: Result<&Performed, &Stuck>,
) -> std::io::Result<()> {
    // A session that has claimed nothing leaves no trace.
    let leaves_none = |done: &Performed| done.decision.writes_nothing() && !place.dir().is_dir();
    if result.is_ok_and(|done| done.is_in_journal || leaves_none(done)) {
        return Ok(());
    }
    let line = match result {
        Ok(performed) => performed.line(place, event),
        Err(stuck) => {
            let mut line = DecisionLine::new(&place.instance.name, event);
            line.stuck = Some(stuck.to_string());
            line
        }
    };
    place.journal().add(&Line::Decision(line))
}

fn carry_out(
    place: &Place,
    event: &Event,
    snapshot: &Arc<Snapshot>,
    start: Instant,
) -> Result<Performed, Stuck> {
    let answered = owed(place, event, snapshot).or_else(|| kept_for_review(place, event));
    if let Some(performed) = answered {
        return Ok(performed);
    }
    let mut next = match first_step(place, event, snapshot)? {
        NextStep::Answer(performed) => return Ok(*performed),
        next => next,
    };
    let mut event = event.clone();
    // The review that has ended, if this is already the next one at the same stop.
    let mut earlier: Option<(Performed, Duration)> = None;
    // In each round but the last, someone else has changed what is due, or a cycle has ended and the next one has begun.
    loop {
        let performed = match next {
            NextStep::Answer(performed) => return Ok(performed.after(earlier)),
            NextStep::Review => {
                let before = earlier.as_ref().map_or(Duration::ZERO, |(_, took)| *took);
                next = review(place, &event, before)?;
                continue;
            }
            NextStep::Write(now) => {
                event = *now;
                let Some(performed) = write(place, &event)? else {
                    next = NextStep::Review;
                    continue;
                };
                performed
            }
            NextStep::Commit(run) => commit(place, *run)?,
        };
        let left = cost_left(&event, &performed);
        let then = follows(place, &event, &performed, start).filter(|_| left.is_some());
        let Some(then) = then else {
            return Ok(performed.after(earlier));
        };
        // If it cannot be written, neither can the next line, and that is reported.
        let _ = add_decision(place, &event, Ok(&performed));
        event.fields["max_cost"] = left.unwrap_or_default();
        earlier = Some((performed.after(earlier), start.elapsed()));
        next = then;
    }
}

/// Decides about an event, and returns what follows.
fn first_step(place: &Place, event: &Event, snapshot: &Arc<Snapshot>) -> Result<NextStep, Stuck> {
    let performed = match snapshot.decide(event, None)? {
        Step::Invoke(_) => return Ok(NextStep::Review),
        Step::Done(decision) if let Some(pause) = pause(place, event, &decision) => {
            let _lock = place.lock()?;
            note(place, Some(pause)).map_err(io("the pause cannot be recorded"))?;
            let call = place.chart.call(pause);
            Performed::said(format!(
                "`{call}` takes effect when the review that is running has ended."
            ))
        }
        Step::Done(decision) if decision.writes_nothing() => {
            if claimant(place, event, &decision).is_some() {
                let _lock = place.lock()?;
                claim(place, event, &decision)?;
            }
            Performed::of(snapshot, decision)
        }
        Step::Done(_) => return Ok(NextStep::Write(Box::new(event.clone()))),
    };
    Ok(NextStep::Answer(Box::new(performed)))
}

/// Returns what the next review of the same command may cost after this one, null if that has no limit; `None` if nothing is left,
/// or if the cost of this one is unknown.
fn cost_left(event: &Event, performed: &Performed) -> Option<Json> {
    let Some(most) = event.fields["max_cost"].as_f64() else { return Some(Json::Null) };
    let cost = performed.decision.ended.as_ref()?.effort.cost?;
    let left = ((most - usd(cost).as_f64()?) * 1e6).round() / 1e6;
    (left > 0.0).then(|| json!(left))
}

/// Returns what follows at once if this decision sends the agent back only to stop again, because a cycle has ended or its
/// review needs no answer: the review that is due next, if it fits into the rest of the host's time; or the end of another
/// cycle without reviews. Gates need their own time.
fn follows(
    place: &Place,
    event: &Event,
    performed: &Performed,
    start: Instant,
) -> Option<NextStep> {
    let decision = &performed.decision;
    let is_sent_back = matches!(decision.answer, Answer::Block(_));
    // A command that reviews a change has no agent to send back.
    let is_by_hand = place.chart.scope.is_of_changes() && event.session.is_none();
    let needs_no_answer = |ended: &Ended| matches!(&ended.outcome, Outcome::Ran { found, .. } if is_by_hand || found.is_nothing());
    let goes_on = decision.advances() || decision.ended.as_ref().is_some_and(needs_no_answer);
    // Reviews by a model that the user has named do not add up.
    let names_model = event.fields["model"].as_str().is_some_and(|model| !model.is_empty());
    if !is_sent_back || !goes_on || names_model || place.journal().facts().noted.is_some() {
        return None;
    }
    let (step, snapshot) = peek(place, event).ok()?;
    match step {
        Step::Invoke(due) => {
            // By hand, a review is due although the last one waits for an answer.
            let next = snapshot.context().get(place.chart.next.as_ref()?);
            if !decision.advances() && next.is_none_or(|next| *next != *due.cycle) {
                return None;
            }
            let left = hook_timeout(event).saturating_sub(start.elapsed().as_secs() + RESERVE);
            (due.timeout <= left && due.gates.is_empty()).then_some(NextStep::Review)
        }
        Step::Done(next) => next.advances().then(|| NextStep::Write(Box::new(event.clone()))),
    }
}

/// Returns the command that `event` is if it only lets nothing come next, and a review is running: that has been paid for, and
/// the command takes effect after it.
fn pause<'e>(place: &Place, event: &'e Event, decision: &Decision) -> Option<&'e str> {
    let Trigger::Command(name) = &event.trigger else {
        return None;
    };
    let next = decision.patch.get(place.chart.next.as_ref()?)?;
    let is_pause = next.is_null() && decision.effects.is_empty() && !decision.advances();
    let is_alone = event.fields.get(NOTED).is_none() && place.chart.commands[name].raise.is_empty();
    // A reviewer that waits for its gates is not started then.
    (is_pause && is_alone && under_way::current(place)?.gate.is_none()).then_some(name)
}

/// Notes which command takes effect after the review that is running.
fn note(place: &Place, command: Option<&str>) -> std::io::Result<()> {
    place.journal().note(Fact::Noted { command: command.map(str::to_owned) })
}

/// Lets the pause take effect that was to wait for the review, if that has ended or died; returns what the user reads.
fn pause_noted(place: &Place) -> Option<String> {
    let facts = place.journal().facts();
    let command = facts.noted.as_ref()?;
    if place.is_reviewed() {
        return None;
    }
    let fields = json!({ NOTED: true });
    let done = perform(place, &Event { fields, ..Event::command(command) }).ok()?;
    // If it stays noted, the next stop finds it done.
    let _ = note(place, None);
    let call = place.chart.call(command);
    let is_done = !done.decision.patch.is_empty();
    is_done.then(|| format!("The review has ended, and `{call}` takes effect now."))
}

/// Returns the messages that a stop which is foreseen would have for the user, whatever is decided about it.
pub(crate) fn foreseen_news(place: &Place, snapshot: &Snapshot) -> Vec<String> {
    match &snapshot.state {
        Reading::Broken(_) => Vec::new(),
        state => Noticed::of(place, state, false).left.news,
    }
}

/// Returns the answer to an earlier stop that the host never received.
fn owed(place: &Place, event: &Event, snapshot: &Snapshot) -> Option<Performed> {
    let Reading::Sound { text, .. } = &snapshot.state else {
        return None;
    };
    if !event.is_stop() {
        return None;
    }
    let facts = place.journal().facts();
    let owed = facts.left.owed.as_ref()?;
    if event.session.as_deref().is_some_and(|session| driver::is_another(place.journal(), session))
    {
        // Another session goes on with it.
        return None;
    }
    let decision = owed.for_state(text)?;
    Some(Performed { decision, owed: Some(owed.at.clone()), ..Performed::default() })
}

/// Refuses a phase that a session wants to enter while a review runs for another session: the outcome, which has been paid
/// for, would not count, and no one would continue with it. What comes next is unknown before it has ended.
fn kept_for_review(place: &Place, event: &Event) -> Option<Performed> {
    let session = event.session.as_deref();
    let is_refused = match &event.trigger {
        _ if place.chart.scope.is_per_session() => false,
        Trigger::Enter { force: false, .. } => {
            session.is_some_and(|session| !driver::drives(place.journal(), session))
        }
        Trigger::Hook(name) => !is_event(name),
        Trigger::Enter { .. } | Trigger::Command(_) => false,
    };
    if !is_refused {
        return None;
    }
    running(place).map(Performed::refused)
}
