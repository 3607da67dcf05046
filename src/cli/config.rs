//! `taskie config`: prints each setting, and where it comes from.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::trust;
use crate::chart::Chart;
use crate::chart::choice::CHARTS;
use crate::commands::error::CliError;
use crate::commands::output::{Output, warn};
use crate::commands::place;
use crate::page::{Page, short_path};
use crate::project::home;
use crate::project::settings::{self, Setting};
use crate::run::place::Place;
use crate::text::shown;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A project's settings are in .taskie/config.json. Your own, for all projects, are in ~/.config/taskie/taskie.json, or \
        there in $XDG_CONFIG_HOME. The project's value wins over yours, and yours over the default. docs/settings.md says what \
        each means."
)]
pub(crate) struct Args {
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show what this project could run, and allow it
    #[command(
        after_help = "A project's own chart (.taskie/statechart.toml) and settings that say what a reviewer may do have no \
            effect until you allow them here. A change asks again. `--chart PATH` needs no trust.\n\
            Exit codes: 0 trusted, or nothing to trust; 1 not trusted; 2 wrong usage"
    )]
    Trust(trust::Args),
}

/// Prints the settings of the project; outside a project, those that a new one would have.
/// If the project's own chart is `refused`, for this reason, no chart is named.
pub(super) fn run(
    chart: &Arc<Chart>,
    refused: Option<&str>,
    args: &Args,
) -> Result<Output, CliError> {
    if let Some(Command::Trust(args)) = &args.command {
        return trust::run(chart, args);
    }
    let cwd = place::cwd()?;
    let root = home::project_root(&cwd, &chart.scope.home);
    let read = settings::read(chart, root.as_deref().unwrap_or(&cwd), None)
        .map_err(|why| CliError::with_help(why, "fix the file"))?;
    warn(&read.warnings);
    warn(Place::of_none(chart, root.as_deref().unwrap_or(&cwd)).unfit_settings());
    if args.json {
        let settings: Map<String, Json> = read
            .settings
            .iter()
            .map(|(name, setting)| {
                let held_back = setting.held_back.as_ref().map(|held| {
                    let from = held.file.display().to_string();
                    json!({ "value": held.value, "from": from, "why": held.why })
                });
                let from = origin(setting, |path| path.display().to_string());
                let facts = json!({ "value": setting.value, "from": from, "held_back": held_back });
                (name.clone(), facts)
            })
            .collect();
        let named = refused.is_none().then_some(&chart.origin);
        let output = json!({ "chart": named, "refused": refused, "settings": settings });
        return Ok(Output::json(output));
    }
    let mut page = Page::default();
    if let Some(why) = refused {
        page.say(&format!("Chart: none. {}", shown(why)));
    } else if !CHARTS.iter().any(|embedded| embedded.id == chart.origin) {
        page.say(&format!("Chart: {}", shown(&chart.origin)));
    }
    let width = read.settings.keys().map(String::len).max().unwrap_or(0);
    for (name, setting) in &read.settings {
        let held_back = setting.held_back.as_ref().map(|held| {
            let (value, file) = (in_words(&held.value), short_path(&held.file));
            let why = held.why;
            format!("; {value} in {file} is held back: {why}: `taskie config trust`")
        });
        let from = origin(setting, short_path) + &held_back.unwrap_or_default();
        let value = in_words(&setting.value);
        page.say(&format!("{name:width$}  {}  ({})", shown(&value), shown(&from)));
    }
    if read.settings.is_empty() {
        page.say("This chart has no settings.");
    }
    Ok(Output::of(page))
}

/// Returns where a setting's value comes from.
fn origin(setting: &Setting, show: impl Fn(&Path) -> String) -> String {
    let file = setting.origin.as_deref();
    file.map_or_else(|| "default".to_owned(), show)
}

/// Returns a value as it is written in a settings file, with spaces at which a line can be broken.
fn in_words(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(Json::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        _ => value.to_string(),
    }
}
