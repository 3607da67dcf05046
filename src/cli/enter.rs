//! `taskie enter PHASE` and `taskie run COMMAND`: the two ways in which state changes by hand.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::place::{self, Absent};
use super::{CliError, is_reviewer, say, tell};
use crate::chart::Chart;
use crate::chart::model::FieldType;
use crate::engine::decision::Answer;
use crate::engine::event::{Event, Trigger};
use crate::engine::fault::Fault;
use crate::shell::perform::{Stuck, check, perform};

/// Enters a phase.
pub(crate) fn enter(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let phase = matches
        .get_one::<String>("phase")
        .cloned()
        .unwrap_or_default();
    let is_check = matches.get_flag("check");
    let absent = match phase == chart.initial {
        false => Absent::Refuse,
        true if is_check => Absent::Suppose,
        true => Absent::Make,
    };
    let force = matches.get_flag("force");
    transition(
        chart,
        matches,
        absent,
        is_check,
        Trigger::Enter { phase, force },
    )
}

/// Runs a command of the chart.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(ExitCode::SUCCESS);
    };
    transition(
        chart,
        matches,
        Absent::Refuse,
        false,
        Trigger::Command(name.to_owned()),
    )
}

fn transition(
    chart: &Arc<Chart>,
    matches: &ArgMatches,
    absent: Absent,
    is_check: bool,
    trigger: Trigger,
) -> Result<ExitCode, CliError> {
    if is_reviewer() {
        return Ok(ExitCode::SUCCESS);
    }
    let session = place::session(matches)?;
    let place = place::resolve(chart, matches, session.as_deref(), absent)?;
    let event = Event {
        trigger,
        fields: Json::Object(serde_json::Map::new()),
        args: args(chart, matches),
        session,
    };
    let done = if is_check {
        check(&place, &event)
    } else {
        perform(&place, &event)
    };
    let performed = done.map_err(|stuck| match stuck {
        Stuck::Fault(Fault::Expression { error, place }) => CliError::with_help(
            error.detail.clone(),
            format!("this comes from {place} of the chart {}", chart.origin),
        ),
        Stuck::Broken(why) => CliError::with_help(why, "mend the file, or restore it from git"),
        other => CliError::new(other.to_string()),
    })?;
    for warning in &performed.warnings {
        tell(&format!("taskie: {warning}"));
    }
    if let Answer::Refuse(why) = &performed.decision.answer {
        return Err(CliError::with_help(why.clone(), "nothing was written"));
    }
    let shown = [Some(&chart.state), chart.next.as_ref()]
        .into_iter()
        .flatten();
    let shown: Vec<String> = shown
        .map(|name| {
            format!(
                "{name} {}",
                performed.context.get(name).unwrap_or(&Json::Null)
            )
        })
        .collect();
    let written = if is_check {
        " (it may be entered; nothing was written)"
    } else {
        ""
    };
    say(&format!(
        "{}: {}{written}",
        place::state_file(&place).display(),
        shown.join(", ")
    ));
    if is_check {
        return Ok(ExitCode::SUCCESS);
    }
    for line in performed
        .decision
        .says
        .iter()
        .chain(&performed.decision.messages)
    {
        say(line);
    }
    Ok(ExitCode::SUCCESS)
}

/// The options that were given, each of its type.
fn args(chart: &Chart, matches: &ArgMatches) -> IndexMap<String, Json> {
    let mut args = IndexMap::new();
    for (name, arg) in &chart.args {
        // Not every command takes every option.
        let value = match arg.kind {
            FieldType::Integer => matches
                .try_get_one::<i64>(name)
                .ok()
                .flatten()
                .map(|value| Json::from(*value)),
            FieldType::Boolean => matches
                .try_get_one::<bool>(name)
                .ok()
                .flatten()
                .map(|value| Json::from(*value)),
            FieldType::String | FieldType::Phase => matches
                .try_get_one::<String>(name)
                .ok()
                .flatten()
                .map(|value| Json::from(value.as_str())),
        };
        args.extend(value.map(|value| (name.clone(), value)));
    }
    args
}
