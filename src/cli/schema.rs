//! `taskie schema`: prints the JSON Schemas that editors use.

use std::process::ExitCode;

use clap::ArgMatches;

use super::output::say_json_text;
use crate::chart::Chart;
use crate::chart::schema;

/// Prints a schema.
pub(crate) fn print(chart: &Chart, matches: &ArgMatches) -> ExitCode {
    let schema = match matches.get_one::<String>("of").map(String::as_str) {
        Some("statechart") => schema::statechart::for_editors(),
        Some("config") => schema::state::of_config(chart),
        _ => schema::state::of(chart),
    };
    // Values of our own making always have a JSON text.
    say_json_text(&serde_json::to_string_pretty(&schema).unwrap_or_default());
    ExitCode::SUCCESS
}
