//! `taskie status`: shows the current phase, what it waits for, and what the next stop does. It only reads.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;

use super::error::CliError;
use super::output::say_json;
use super::{place, watch};
use crate::chart::Chart;
use crate::page;
use crate::view::facts::Facts;
use crate::view::screen;

/// Prints the situation of the instance.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let session = place::session(matches)?;
    let is_json = matches.get_flag("json");
    if matches.get_flag("watch") {
        return watch::run(chart, matches, session.as_deref(), is_json);
    }
    let place = place::chosen(chart, matches)?;
    let facts = Facts::gather(&place, session.as_deref());
    if is_json {
        say_json(screen::json(&facts));
        return Ok(ExitCode::SUCCESS);
    }
    // A reader that is gone is not an error.
    page::print(screen::lines(
        &facts,
        page::width(),
        matches.get_flag("all"),
    ));
    Ok(ExitCode::SUCCESS)
}
