//! `taskie completions`: a script that completes this command line in a shell.

use std::process::ExitCode;

use clap::ArgMatches;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::grammar;
use super::output::say;
use crate::chart::Chart;

/// Prints the script. It completes the phases and commands of `chart`.
pub(super) fn print(chart: &Chart, matches: &ArgMatches) -> ExitCode {
    if let Some(shell) = matches.get_one::<Shell>("shell") {
        let mut script = Vec::new();
        let phases: Vec<String> = chart.phases.keys().cloned().collect();
        let mut command = grammar::command(chart).mut_subcommand("enter", |enter| {
            enter.mut_arg("phase", |arg| {
                arg.value_parser(PossibleValuesParser::new(phases))
            })
        });
        clap_complete::generate(*shell, &mut command, env!("CARGO_PKG_NAME"), &mut script);
        say(String::from_utf8_lossy(&script).trim_end());
    }
    ExitCode::SUCCESS
}
