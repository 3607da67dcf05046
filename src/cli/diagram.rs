//! `taskie diagram`: the chart as a picture, with the path of an instance if one is named.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;

use super::error::CliError;
use super::output::say;
use super::place;
use crate::chart::Chart;
use crate::diagram::mermaid;
use crate::diagram::picture::Picture;
use crate::view::path::of_instance;

/// Prints the picture.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let picture = if place::is_named(matches) {
        of_instance(&place::chosen(chart, matches)?)
    } else {
        Picture::of(chart)
    };
    say(&mermaid(&picture));
    Ok(ExitCode::SUCCESS)
}
