//! `taskie status`: where an instance stands, what is to be done now, and what the next stop does. Reads only.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::{Map, Value as Json, json};

use super::{CliError, next, place, say, tell};
use crate::chart::Chart;
use crate::chart::model::PhaseType;
use crate::engine::decision::{Answer, Step};
use crate::engine::event::Event;
use crate::engine::world::World as _;
use crate::shell::perform::{Place, Stuck, peek};

/// Prints where the instance stands.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let session = place::session(matches)?;
    let place = place::resolve(chart, matches, session.as_deref(), place::Absent::Refuse)?;
    let stuck = |stuck: Stuck| CliError::new(stuck.to_string());
    let (asked, snapshot) = peek(&place, &next::event(session)).map_err(stuck)?;
    let (stop, _) = peek(&place, &Event::hook("Stop", json!({}))).map_err(stuck)?;
    for warning in snapshot.warnings() {
        tell(&format!("taskie: {warning}"));
    }
    let context = snapshot.context();
    let phase = context
        .get(&chart.state)
        .and_then(Json::as_str)
        .unwrap_or_default();
    let entry = chart.phases.get(phase).map(|entry| &entry.phase);
    let stage = entry.and_then(|entry| entry.stage.clone());
    let is_final = entry.is_some_and(|entry| entry.kind == Some(PhaseType::Final));
    let now = match asked {
        Step::Done(decision) => match decision.answer {
            Answer::Action { action, why } => Some((action, why)),
            _ => None,
        },
        Step::Invoke(_) => None,
    };
    let stop = what(&place, stop);
    if matches.get_flag("json") {
        let mut object = Map::new();
        object.insert(chart.scope.noun.clone(), json!(place.instance.name));
        object.insert("directory".to_owned(), json!(place.instance.dir));
        object.insert("stage".to_owned(), json!(stage));
        object.insert("final".to_owned(), json!(is_final));
        object.insert("context".to_owned(), json!(context));
        object.insert(
            "next".to_owned(),
            json!(now.map(|(action, why)| json!({ "action": action, "why": why }))),
        );
        object.insert("stop".to_owned(), json!(stop));
        say(&Json::Object(object).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = vec![(
        chart.scope.noun.as_str(),
        format!(
            "{}  ({})",
            place.instance.name,
            place.instance.dir.display()
        ),
    )];
    rows.extend(stage.map(|stage| {
        (
            "stage",
            if is_final {
                format!("{stage} (nothing comes after it)")
            } else {
                stage
            },
        )
    }));
    // A field that is null or absent says nothing to a person.
    let fields = context.iter().filter(|(_, value)| !value.is_null());
    rows.extend(fields.map(|(name, value)| {
        (
            name.as_str(),
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        )
    }));
    rows.extend(now.map(|(action, why)| ("next", format!("{action}: {why}"))));
    rows.push(("at a stop", stop));
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in rows {
        say(&format!("{name:width$}  {value}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// What the hook would do, in a line.
fn what(place: &Place, step: Step) -> String {
    match step {
        Step::Invoke(invocation) => match place.obstacle(&invocation) {
            Some(why) => format!(
                "{} {} is due and cannot run: {why}",
                invocation.cycle, invocation.n
            ),
            None => format!(
                "{} {} runs and writes {}",
                invocation.cycle,
                invocation.n,
                place.instance.dir.join(&invocation.file).display()
            ),
        },
        Step::Done(decision) => {
            let said = decision.messages.join(" ");
            match decision.answer {
                Answer::Block(reason) => format!("the agent is sent back: {reason}"),
                _ if said.is_empty() => "it goes through".to_owned(),
                _ => format!("it goes through: {said}"),
            }
        }
    }
}
