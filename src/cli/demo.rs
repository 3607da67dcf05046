//! `taskie demo`: plays the whole workflow in a temporary project.

use std::process::ExitCode;

use clap::ArgMatches;

use super::error::CliError;
use super::output::tell;
use crate::chart::Chart;
use crate::chart::choice::{CHARTS, Choice};
use crate::demo;
use crate::scenario::failure::Failure;

/// Plays the chart's demo.
pub(crate) fn run(
    choice: &Choice<'_>,
    chart: &Chart,
    matches: &ArgMatches,
) -> Result<ExitCode, CliError> {
    let scenario = match choice {
        Choice::Embedded(embedded) => embedded.demo.map(|scenario| (*embedded, scenario)),
        Choice::File(_) => None,
    };
    let Some((embedded, scenario)) = scenario else {
        let message = format!("{} has no demo", chart.origin);
        let with_demo = CHARTS.iter().filter(|chart| chart.demo.is_some());
        let ids: Vec<&str> = with_demo.map(|chart| chart.id).collect();
        return Err(CliError::with_help(
            message,
            format!("omit --chart: the demo is of {}", ids.join(", ")),
        ));
    };
    demo::play(embedded, scenario, chart, matches.get_flag("keep")).map_err(|error| {
        if let Failure::Unexpected { what, details } = &error {
            if !details.is_empty() {
                tell(details);
            }
            return CliError::new(format!("the demo went wrong: {what}"));
        }
        CliError::new(error.to_string())
    })?;
    Ok(ExitCode::SUCCESS)
}
