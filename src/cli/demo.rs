//! `taskie demo`: plays the whole workflow in a temporary project.

use crate::chart::choice::CHARTS;
use crate::commands::error::CliError;
use crate::commands::output::{Output, tell};
use crate::demo;
use crate::scenario::failure::Failure;

/// Plays the demo; with `keep`, its project stays.
pub(crate) fn run(keep: bool) -> Result<Output, CliError> {
    let found = CHARTS.iter().find_map(|chart| Some((chart, chart.demo?)));
    let Some((embedded, scenario)) = found else {
        return Err(CliError::new("no chart has a demo"));
    };
    let chart = &*embedded.load()?;
    demo::play(embedded, scenario, chart, keep).map_err(|error| {
        if let Failure::Unexpected { what, details } = &error {
            if !details.is_empty() {
                tell(details);
            }
            return CliError::new(format!("the demo went wrong: {what}"));
        }
        CliError::new(error.to_string())
    })?;
    Ok(Output::default())
}
