//! `taskie demo`: the whole workflow, played in a temporary project.

use std::process::ExitCode;

use clap::ArgMatches;

use super::{CliError, tell};
use crate::chart::Chart;
use crate::chart::embedded::{CHARTS, Choice};
use crate::demo::{self, DemoError};

/// Plays the demo of the chart that was chosen.
pub(crate) fn run(
    choice: &Choice<'_>,
    chart: &Chart,
    matches: &ArgMatches,
) -> Result<ExitCode, CliError> {
    let Choice::Embedded(embedded) = choice else {
        let message = format!(
            "{} has no demo: only a chart that is compiled in has one",
            chart.origin
        );
        let ids: Vec<&str> = CHARTS.iter().map(|chart| chart.id).collect();
        return Err(CliError::with_help(
            message,
            format!("leave --chart out, or choose from {}", ids.join(", ")),
        ));
    };
    demo::play(embedded, chart, matches.get_flag("keep")).map_err(|error| {
        if let DemoError::Unexpected { details, .. } = &error
            && !details.is_empty()
        {
            tell(details);
        }
        CliError::new(error.to_string())
    })?;
    Ok(ExitCode::SUCCESS)
}
