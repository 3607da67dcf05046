//! `taskie config`: each setting, and where it comes from.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgMatches, Command};
use serde_json::{Map, Value as Json, json};

use super::error::CliError;
use super::output::{say, tell};
use crate::chart::Chart;
use crate::shell::find::{self, Surroundings};
use crate::shell::settings::{self, Origin};

/// The version of the JSON. It changes if a field is removed or gets another meaning.
const VERSION: u32 = 1;

/// The command line of `config`.
pub(super) fn command() -> Command {
    Command::new("config")
        .about("Show each setting, its value and where it comes from")
        .after_help(
            "A project's settings are in config.json in its home folder. Your own, for all projects, are in \
             taskie/CHART.json in $XDG_CONFIG_HOME or ~/.config. The project's value wins over yours, and yours over \
             the default. `taskie schema config` prints the JSON Schema.",
        )
}

/// Prints the settings of the project, or those that a new one has.
pub(super) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let cwd = std::env::current_dir()
        .map_err(|error| CliError::new(format!("the working directory cannot be read: {error}")))?;
    let root = find::project_root(&cwd, &chart.scope.home, &Surroundings::from_env());
    let read = settings::read(chart, root.as_deref().unwrap_or(&cwd))
        .map_err(|why| CliError::with_help(why, "fix the file"))?;
    for warning in &read.warnings {
        tell(&format!("taskie: {warning}"));
    }
    let origin = |origin: &Origin| match origin {
        Origin::Default => "default".to_owned(),
        Origin::File(path) => path.display().to_string(),
    };
    if matches.get_flag("json") {
        let settings: Map<String, Json> = read
            .settings
            .iter()
            .map(|(name, setting)| {
                let from = origin(&setting.origin);
                let facts =
                    json!({ "value": setting.value, "from": from, "ignored": setting.is_ignored });
                (name.clone(), facts)
            })
            .collect();
        say(&json!({ "version": VERSION, "settings": settings }).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    let width = read.settings.keys().map(String::len).max().unwrap_or(0);
    for (name, setting) in &read.settings {
        let ignored = match setting.is_ignored {
            true => "; the project's own is ignored until you run `taskie trust`",
            false => "",
        };
        let from = origin(&setting.origin);
        say(&format!(
            "{name:width$}  {}  ({from}{ignored})",
            setting.value
        ));
    }
    if read.settings.is_empty() {
        say("This chart has no settings.");
    }
    Ok(ExitCode::SUCCESS)
}
