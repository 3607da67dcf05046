//! `taskie codex install`: puts the chart's prompts where the Codex CLI finds them, and says what it did.

use std::process::ExitCode;

use clap::ArgMatches;

use super::error::CliError;
use super::output::{say, tell};
use crate::chart::Chart;
use crate::codex::{self, There};

/// Installs the prompts; a file that differs is replaced only if the user says so.
pub(crate) fn run(chart: &Chart, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let Some(("install", matches)) = matches.subcommand() else {
        return Ok(ExitCode::SUCCESS);
    };
    let (force, is_dry) = (matches.get_flag("force"), matches.get_flag("dry-run"));
    let prompts = codex::prompts(chart).map_err(|error| CliError::new(error.to_string()))?;
    if prompts.is_empty() {
        let message = format!("the chart {} has no prompts for Codex", chart.origin);
        return Err(CliError::with_help(
            message,
            "a prompt is a template in a folder `codex` below one of the chart's template folders",
        ));
    }
    let folder = codex::folder().ok_or_else(|| {
        CliError::with_help(
            "neither CODEX_HOME nor HOME is set",
            "set CODEX_HOME to where Codex keeps its files",
        )
    })?;
    let mut left = 0;
    for prompt in &prompts {
        let path = folder.join(&prompt.name);
        let failed = |error: std::io::Error| CliError::new(format!("{}: {error}", path.display()));
        let there = prompt.look(&folder).map_err(failed)?;
        let (is_written, done, to_do) = match (there, force) {
            (There::Same, _) => (false, "is up to date", "is up to date"),
            (There::Nothing, _) => (true, "written", "would be written"),
            (There::Other, true) => (true, "replaced", "would be replaced"),
            (There::Other, false) => {
                left += 1;
                (
                    false,
                    "differs, left as it is",
                    "differs, would be left as it is",
                )
            }
        };
        if is_written && !is_dry {
            prompt.write(&folder).map_err(failed)?;
        }
        say(&format!(
            "{}: {}",
            path.display(),
            if is_dry { to_do } else { done }
        ));
    }
    if left > 0 {
        tell(
            "taskie: a prompt that is there already differs: an earlier version, or someone has changed it",
        );
        tell("  help: --force replaces it");
        return Ok(ExitCode::FAILURE);
    }
    if !is_dry {
        let names: Vec<String> = prompts
            .iter()
            .map(|prompt| format!("/prompts:{}", prompt.name.trim_end_matches(".md")))
            .collect();
        say(&format!(
            "In Codex: {}. No hooks run there, so no review starts by itself.",
            names.join(", ")
        ));
    }
    Ok(ExitCode::SUCCESS)
}
