//! `taskie chart`: what the author of a chart needs.

use std::sync::Arc;

use clap::Subcommand;

use super::{charts, check_chart, schema, test};
use crate::chart::Chart;
use crate::commands::error::CliError;
use crate::commands::output::Output;
use crate::diagram::mermaid;
use crate::diagram::picture::Picture;
use crate::scenario::instance::Typist;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find errors in charts before they run
    Check(check_chart::Args),
    /// Play scenarios in memory, and compare the results
    #[command(after_help = "Exit codes: 0 all passed, 1 some failed, 2 wrong usage")]
    Test(test::Args),
    /// Draw the chart for Mermaid
    Draw,
    /// Print each chart with what it extends, as one chart
    Print(charts::Charts),
    /// Print a JSON Schema (draft-07)
    Schema(schema::Args),
}

/// Does what the command says. `named` is the chart of `--chart`.
pub(super) fn run(
    chart: &Arc<Chart>,
    named: Option<&str>,
    args: &Args,
    typist: &Arc<Typist>,
) -> Result<Output, CliError> {
    match &args.command {
        Command::Check(args) => check_chart::run(named, args),
        Command::Test(args) => test::run(chart, args, typist),
        Command::Draw => Ok(Output::text(&mermaid(&Picture::of(chart)))),
        Command::Print(these) => charts::print(named, these),
        Command::Schema(args) => Ok(schema::of(chart, args)),
    }
}
