//! `taskie schema`: prints the JSON Schemas that editors use.

use std::process::ExitCode;

use clap::ArgMatches;

use super::say;
use crate::chart::Chart;
use crate::schema;

/// Prints the schema that was asked for.
pub(crate) fn print(chart: &Chart, _matches: &ArgMatches) -> ExitCode {
    // Values of our own making always have a JSON text.
    say(&serde_json::to_string_pretty(&schema::state::of(chart)).unwrap_or_default());
    ExitCode::SUCCESS
}
