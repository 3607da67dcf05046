//! `taskie simulate`: plays a chart in memory, with a simulated agent and given verdicts.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::{Value as Json, json};

use super::error::{CliError, FIX};
use super::output::{Target, say_json};
use super::{enter, place};
use crate::chart::Chart;
use crate::disk;
use crate::page::{PLAIN, STRONG};
use crate::project::state_file::{self, Reading};
use crate::run::place::Place;
use crate::scenario::agent::Agent;
use crate::scenario::failure::Failure;
use crate::scenario::instance::PlayedInstance;
use crate::scenario::player::Player;
use crate::scenario::save;
use crate::scenario::script::ScenarioStep;
use crate::scenario::stage::Stage as _;
use crate::store::journal::DecisionLine;

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        Self::new(failure.to_string())
    }
}

/// The name of the session that the events are about.
const SESSION: &str = "simulated";

/// Plays the chart.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let verdicts: Vec<String> =
        matches.get_many("verdicts").into_iter().flatten().cloned().collect();
    let tasks = matches.get_one::<u16>("tasks").map_or(2, |tasks| usize::from(*tasks));
    let is_json = matches.get_flag("json");
    let saved = Target::of(matches, "save")?;
    let instance = instance(chart, matches)?;
    let begins = instance.state();
    let mut steps: Vec<ScenarioStep> = found(&instance).into_iter().collect();
    let mut player = Player::new(chart, instance);
    let mut agent = Agent::new(verdicts, tasks);
    if !is_json {
        let title = format!("taskie simulate: {}", chart.id);
        player.page.text(STRONG, &title);
    }
    let mut lines = Vec::new();
    let (mut number, mut last) = (1, None);
    let ended = loop {
        let step = match agent.next(&player.stage, last.as_ref()) {
            Ok(step) => step,
            Err(why) => break why,
        };
        let before = player.stage.state();
        let played = player.step(number, &step);
        lines.extend(player.decided.iter().map(in_json));
        if !is_json {
            player.page.print();
        }
        let answer = played?;
        let after = player.stage.state();
        steps.push(save::expecting(&step, &player.decided, &after, &before));
        agent.has_seen(&step, last.as_ref());
        if answer.is_some() {
            number += 1;
            last = answer;
        }
    };
    if let Some(saved) = saved {
        let about = format!("A simulation of {}: {ended}.", chart.id);
        saved.write(&save::write(&about, begins.as_ref(), &steps))?;
    }
    if is_json {
        let phase = player.phase();
        say_json(json!({
            "chart": chart.id, "phase": phase, "ended": ended, "decisions": lines,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    player.sum_up(None);
    player.page.blank();
    let ended = format!("It ends here: {}.", ended.trim_end_matches('.'));
    player.page.text(PLAIN, &ended);
    player.page.print();
    Ok(ExitCode::SUCCESS)
}

/// Returns the step that writes the files that are already there; `None` if there are none.
fn found(instance: &PlayedInstance) -> Option<ScenarioStep> {
    let mut files: Vec<_> = instance.disk.files.iter().collect();
    files.sort_by_key(|(_, (_, written))| *written);
    let files = files.into_iter();
    let found = ScenarioStep {
        write: files.map(|(name, (text, _))| (name.clone(), text.clone())).collect(),
        config: instance.disk.config.clone(),
        ..ScenarioStep::default()
    };
    (!found.write.is_empty()).then_some(found)
}

/// Returns an instance that has not started, or the named one in its current state on disk.
fn instance(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<PlayedInstance, CliError> {
    let mut instance = PlayedInstance::new(chart, enter::typist(chart), SESSION);
    if !place::is_named(matches) {
        return Ok(instance);
    }
    let place = place::chosen(chart, matches)?;
    let snapshot = place.snapshot();
    match &snapshot.state {
        Reading::Missing => {}
        Reading::Sound { context, .. } => {
            instance.context.clone_from(context);
            instance.started = true;
        }
        Reading::Broken(why) => {
            let file = place::state_file(&place);
            let message = format!("{}: {why}", file.display());
            return Err(CliError::with_help(message, FIX));
        }
    }
    let settings = place.settings();
    let settings = settings.map_err(|why| CliError::with_help(why, FIX))?;
    instance.disk.config.extend(settings.values());
    for (name, text) in files(&place)? {
        instance.write(&name, &text)?;
    }
    Ok(instance)
}

/// Returns the files of an instance, oldest first.
fn files(place: &Place) -> Result<Vec<(String, String)>, CliError> {
    let dir = place.dir();
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(&dir) {
        let entry = entry.map_err(|error| CliError::new(error.to_string()))?;
        let Ok(name) = entry.path().strip_prefix(&dir) else {
            continue;
        };
        if !entry.file_type().is_file() || name == Path::new(state_file::FILE) {
            continue;
        }
        let text = disk::read(&place.root, entry.path())
            .map_err(CliError::because(format!("{} cannot be read", entry.path().display())))?;
        let modified = entry.metadata().ok().and_then(|meta| meta.modified().ok());
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        files.push((modified, name.to_string_lossy().into_owned(), text));
    }
    files.sort();
    Ok(files.into_iter().map(|(_, name, text)| (name, text)).collect())
}

/// Returns a decision as JSON, for programs.
fn in_json(decided: &DecisionLine) -> Json {
    let rules = decided.fired();
    let rules = rules.map(|rule| json!({ "rule": rule.rule, "about": rule.about }));
    json!({
        "event": decided.event, "rules": rules.collect::<Vec<_>>(), "review": decided.review,
        "changed": decided.changed, "answer": decided.answer, "action": decided.action,
    })
}
