//! `taskie next`: prints what to do now, according to the chart's `next` rules, and why. It claims the instance for
//! its session.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use indexmap::IndexMap;
use serde_json::json;

use super::error::CliError;
use super::output::{is_reviewer, say, say_json, typed, warn};
use super::place;
use crate::chart::Chart;
use crate::engine::decision::Answer;
use crate::engine::event::{Event, Trigger};
use crate::host::hosts;
use crate::shell::git;
use crate::shell::perform::perform;
use crate::store::postponed;

/// The event whose rules answer it.
pub(crate) const RULES: &str = "next";

/// Prints the next action.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    if is_reviewer() {
        return Ok(ExitCode::SUCCESS);
    }
    let session = place::session(matches)?;
    let place = place::chosen(chart, matches)?;
    if matches.get_flag("retry") {
        let lifted = postponed::lift(&place.store);
        lifted.map_err(|error| CliError::new(format!("this cannot be recorded: {error}")))?;
    }
    let performed = perform(&place, &event(session))?;
    let flaw = git::untrusted_locks(&place.root, &chart.scope.home).map(|why| format!("{why}."));
    warn(performed.warnings.iter().chain(&flaw));
    let Answer::Action { action, why } = performed.decision.answer else {
        let message = format!("the chart {} does not say what is next", chart.id);
        return Err(CliError::new(message));
    };
    if matches.get_flag("json") {
        say_json(json!({
            "action": action, "why": why, chart.scope.noun.as_str(): place.instance.name, "context": performed.context,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("next: {action}"));
    say(&format!("why:  {why}"));
    say(&format!("{}: {}", chart.scope.noun, place.instance.name));
    Ok(ExitCode::SUCCESS)
}

/// Returns the next stop of a session.
pub(super) fn stop(session: Option<&str>) -> Event {
    let mut fields = json!({ "session_id": session.unwrap_or_default() });
    if let Some(host) = hosts::around() {
        host.limit(&mut fields);
    }
    Event::hook("Stop", fields)
}

/// Returns the event that asks what is next.
pub(super) fn event(session: Option<String>) -> Event {
    let trigger = Trigger::Hook(RULES.to_owned());
    Event {
        trigger,
        fields: typed(),
        args: IndexMap::new(),
        session,
    }
}
