//! `taskie hook EVENT`: a hook's event on stdin, its answer on stdout.
//!
//! This is the hot path: it is dispatched before the command line is parsed, and returns before the chart is parsed if the
//! project has no home for it, or if the session has claimed nothing and the chart has no rules for such sessions. A hook that cannot decide allows the event and says
//! why.

mod absent;
mod answer;
mod decided;
mod due;
mod event;
mod output;
mod session_change;
mod target;

use std::process::ExitCode;

use serde_json::{Value as Json, json};

use self::answer::reply_to;
use self::output::{print, tell};
use self::target::{Target, change_of, of_project};
use crate::chart::choice::Choice;
use crate::engine::event::Event;
use crate::host::events::{EVENTS, REVIEWER, STOPPED, is_stop};
use crate::host::hosts::{self, HOOK, Host};
use crate::host::reply::Reply;
use crate::os::supervisor;
use crate::project::state_file::Reading;
use crate::run::noticed::STANDS_IN;
use crate::run::place::Place;
use crate::run::stuck::Stuck;

/// How the hook was called.
pub(crate) struct HookCall<'a> {
    /// The host's name of the event.
    event: &'static str,
    /// The value of `--chart`.
    chart: Option<&'a str>,
    /// The value of `--host`.
    host: Option<&'static Host>,
    /// How many seconds its entry asks for.
    timeout: Option<u64>,
}

impl<'a> HookCall<'a> {
    /// Returns the call with these words; `None` if there is no such event or host.
    pub(crate) fn of(
        event: &str,
        chart: Option<&'a str>,
        host: Option<&str>,
        timeout: Option<u64>,
    ) -> Option<Self> {
        let (_, event) = EVENTS.iter().copied().find(|(word, _)| *word == event)?;
        let host = match host {
            Some(id) => Some(Host::named(id)?),
            None => None,
        };
        Some(Self { event, chart, host, timeout })
    }
}

/// Runs one hook.
///
/// If the input is not an event, the exit code is 1: on some hosts, 2 would block the stop, and not every host stops
/// blocking at some point.
pub(crate) fn run(call: &HookCall<'_>) -> ExitCode {
    let (name, chart) = (call.event, call.chart);
    supervisor::remember_host();
    let quiet = matches!(Choice::of(chart), Choice::Embedded(chart) if chart.quiet());
    // The reviewer is a session of its own and fires the same hooks: they must do nothing.
    if std::env::var_os(REVIEWER).is_some() {
        print(&Reply::silent(name, quiet).render(Host::of(&Json::Null)));
        return ExitCode::SUCCESS;
    }
    let mut fields = match event::read() {
        Ok(fields) => fields,
        Err(why) => {
            tell(&why);
            return ExitCode::FAILURE;
        }
    };
    let host = call.host.unwrap_or_else(|| Host::of(&fields));
    if is_stop(name) {
        host.limit(&mut fields, Some(call.timeout.unwrap_or(HOOK)));
    }
    let named = fields["session_id"].as_str().filter(|_| host.names_session == name).map(|id| {
        format!("The id of this session is {id}: add `--session {id}` to every `taskie` command.")
    });
    match reply_to(name, fields, chart, quiet, host) {
        Ok((mut reply, due)) => {
            reply.says.extend(named);
            // The answer comes first: a host that does not read our warnings still gets it.
            if print(&reply.render(host)) {
                due.settle();
            }
            for warning in reply.warnings.iter().chain(&reply.log) {
                tell(warning);
            }
            ExitCode::SUCCESS
        }
        Err(Stuck::Interrupted { signal }) => {
            tell(&format!(
                "ended by signal {signal}; the program that it ran was killed too, and state.json is unchanged"
            ));
            ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))
        }
        Err(_) => {
            tell("the host is gone; the reviewer was killed, and state.json is unchanged");
            ExitCode::FAILURE
        }
    }
}

/// Returns the place of what the next stop of a session would have reviewed; `None` if that is nothing. The error says why
/// that is unknown.
pub(crate) fn place_of_stop(session: &str) -> Result<Option<Place>, String> {
    let Target { place, warnings, is_unclaimed, .. } =
        of_project(STOPPED, Some(session), None, true);
    let plan = place.filter(|_| !is_unclaimed);
    if let Some(plan) = &plan {
        if let Reading::Broken(why) = &plan.snapshot().state {
            return Err(plan.broken(why).to_string());
        }
        if answer::acts(plan, &stop_of(session)) {
            return Ok(Some(plan.clone()));
        }
    }
    let change = change_of(session)?.and_then(|target| target.place);
    match change.or(plan.filter(Place::is_in_cycle)) {
        None if !warnings.is_empty() => Err(warnings.join(" ")),
        waiting => Ok(waiting),
    }
}

/// Returns why the next stop of a session does nothing about the change at `place`; `None` if it is what that stop is about, or
/// if there is no change at `place`.
pub(crate) fn why_elsewhere(place: &Place, session: Option<&str>) -> Option<String> {
    let scope = &place.chart.scope;
    let session = session.filter(|_| scope.is_of_changes())?;
    let other = place_of_stop(session).ok()??;
    (other.dir() != place.dir()).then(|| {
        let (noun, name) = (other.chart.scope.noun(), &other.instance.name);
        format!("the session works on {noun} `{name}` now, and its stops are about that")
    })
}

/// Answers a stop of a session that its host does not send, because a review takes longer than it waits for a hook; `None` if
/// the review was ended.
pub(crate) fn stand_in(session: &str) -> Option<Reply> {
    let host = hosts::around().unwrap_or(hosts::DEFAULT).patient();
    let (reply, due) = reply_to(STOPPED, stop_of(session).fields, None, true, &host).ok()?;
    due.settle_but_owe();
    Some(reply)
}

fn stop_of(session: &str) -> Event {
    Event::hook(STOPPED, json!({ "session_id": session, STANDS_IN: true }))
}
