//! Events that no host sends: what a command asks, and what would happen at a stop; and what the rules for them know from
//! the journal.

use std::io::IsTerminal as _;

use serde_json::{Value as Json, json};

use super::{change, coming, place::Place, under_way};
use crate::chart::Chart;
use crate::engine::decision::{Answer, Gates, Step};
use crate::engine::event::{Event, Trigger};
use crate::hash::IndexMap;
use crate::host::events::{is_event, is_stop};
use crate::host::hosts;
use crate::run::foresee::{foresee, peek};
use crate::store::at_work::AtWork;
use crate::store::driver;
use crate::store::journal::{GateLine, Line};
use crate::store::lock::ReviewLock;
use crate::text::full_stop;

/// The event whose rules answer it.
pub(crate) const RULES: &str = "next";

/// Returns the event fields of a command: whether a person typed it, and what the host around it allows.
pub(crate) fn typed() -> Json {
    let mut fields = json!({ "terminal": std::io::stdout().is_terminal() });
    limit(&mut fields);
    fields
}

/// Adds to an event what the host around this process allows.
pub(crate) fn limit(fields: &mut Json) {
    if let Some(host) = hosts::around() {
        host.limit(fields, None);
    }
}

/// Returns the same for a command about `place`, with how its hook is called.
pub(crate) fn typed_at(place: &Place) -> Json {
    let mut fields = typed();
    fields["bare"] = driver::is_bare(&place.store).into();
    // In a host's sandbox, the shell of the agent often cannot write there.
    fields["sandboxed"] = (hosts::around().is_some() && place.store.place().1.is_some()).into();
    fields
}

/// Returns the same for a command of the chart, with what its rules know of the agent and of what it is about.
pub(crate) fn of_command(place: &Place) -> Json {
    let mut fields = typed_at(place);
    let at_work = at_work(place, &place.journal().read(), &drivers(place));
    fields["stopped"] = at_work.has_stopped.into();
    let (store, name) = (&place.store, &place.instance.name);
    fields["reviewing"] = ReviewLock::is_held(store, name, &place.dir()).into();
    fields["own"] = (place.chart.scope.is_of_changes() && place.is_own()).into();
    fields
}

/// Returns the sessions that drive the instance.
pub(crate) fn drivers(place: &Place) -> Vec<String> {
    match place.chart.scope.is_per_session() {
        true => vec![place.instance.name.clone()],
        false => driver::of(place.journal()),
    }
}

/// Returns whether the agent of these sessions is at work, by the journal's `lines`.
pub(crate) fn at_work(place: &Place, lines: &[Line], drivers: &[String]) -> AtWork {
    let mut at_work = AtWork::of(&place.chart, lines, drivers);
    at_work.has_stopped |= is_killed(place);
    at_work
}

/// Returns whether the hook was killed that ran the last review.
fn is_killed(place: &Place) -> bool {
    place.journal().facts().running.is_some() && under_way::current(place).is_none()
}

/// Returns the beginning of a new change.
pub(crate) fn began(chart: &Chart) -> Event {
    coming::began(chart, typed())
}

/// Returns the next stop of a session, with what has changed, if that is what it is about.
pub(crate) fn seeing_stop(place: &Place, session: Option<&str>) -> Event {
    let mut event = stop(place, session);
    change::see(place, &mut event.fields);
    event
}

/// Returns the next stop of a session.
pub(crate) fn stop(place: &Place, session: Option<&str>) -> Event {
    let bare = driver::is_bare(&place.store);
    let mut fields = json!({ "session_id": session.unwrap_or_default(), "bare": bare });
    limit(&mut fields);
    Event::hook("Stop", fields)
}

/// Returns the event that asks what is next; `gate` is the one that is in the way of the next stop, if one is.
pub(crate) fn next(place: &Place, session: Option<String>, gate: Option<&FailingGate>) -> Event {
    let trigger = Trigger::Hook(RULES.to_owned());
    let mut fields = typed_at(place);
    if let Some(gate) = gate {
        fields["failed_gate"] = gate.command.as_str().into();
        fields["gate_failure"] = gate.text.as_str().into();
        fields["gate_ended_turn"] = gate.has_ended_turn.into();
    }
    Event { trigger, fields, args: IndexMap::default(), session }
}

/// Returns whether a phase comes next that the agent can work on now.
pub(crate) fn is_agents(place: &Place, session: &str) -> bool {
    let asked = next(place, Some(session.to_owned()), None);
    let decision = peek(place, &asked).ok().and_then(|(step, _)| step.decision());
    decision.is_some_and(|decision| match decision.answer {
        Answer::Action { action, .. } => place.chart.phases.contains_key(&action),
        _ => false,
    })
}

/// A gate that failed when it ran last.
#[derive(Debug)]
pub(crate) struct FailingGate {
    command: String,
    /// How it has failed, as a sentence.
    pub(crate) text: String,
    /// The agent was no longer sent back for it.
    pub(crate) has_ended_turn: bool,
}

impl FailingGate {
    /// Returns the gate that failed last, by the journal's `lines`, if it is one of those that are `due`.
    pub(crate) fn of(lines: &[Line], due: &Gates) -> Option<Self> {
        let gates = lines.iter().rev().filter_map(|line| match line {
            Line::Gate(gate) => Some(gate),
            Line::Decision(_) | Line::Review(_) => None,
        });
        let mut gates = gates.peekable();
        let is_due = |gate: &&&GateLine| due.commands.contains(&gate.command);
        let last = *gates.peek().filter(is_due)?;
        let why = last.error.as_ref()?;
        let is_same = |gate: &&GateLine| gate.error.is_some() && gate.command == last.command;
        let times = gates.take_while(is_same).count();
        // Nobody has entered a phase or run a command since that stop.
        let stop = lines.iter().rev().find_map(|line| match line {
            Line::Decision(decided) if is_stop(&decided.event) => Some(decided),
            Line::Decision(decided) if decided.event == RULES || is_event(&decided.event) => None,
            Line::Decision(decided) => Some(decided),
            Line::Gate(_) | Line::Review(_) => None,
        });
        let stop = stop.filter(|stop| {
            let gate = stop.review.as_ref().and_then(|run| run.gate.as_ref());
            gate == Some(&last.command)
        });
        let often = match times {
            1 => String::new(),
            many => format!(" {many} times in a row"),
        };
        let (command, end) = (last.command.clone(), full_stop(why));
        Some(Self {
            text: format!("The gate `{command}` has failed{often}: it {why}{end}"),
            command,
            has_ended_turn: stop.is_some_and(|stop| stop.answer != "block"),
        })
    }

    /// Returns the one that is in the way of the next stop of the session that drives the instance.
    pub(crate) fn at(place: &Place) -> Option<Self> {
        let drivers = driver::of(place.journal());
        let stop = stop(place, drivers.first().map(String::as_str));
        match foresee(place, &stop).ok()? {
            Step::Invoke(due) => Self::of(&place.journal().read(), &due.gates),
            Step::Done(_) => None,
        }
    }
}
