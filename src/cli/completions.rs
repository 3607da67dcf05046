//! `taskie completions`: a script that completes this command line in a shell.

use std::process::ExitCode;

use clap::ArgMatches;
use clap_complete::Shell;

use super::grammar;
use super::output::say;
use crate::chart::Chart;

/// Prints the script. It completes the phases and commands of `chart`.
pub(super) fn print(chart: &Chart, matches: &ArgMatches) -> ExitCode {
    if let Some(shell) = matches.get_one::<Shell>("shell") {
        let mut script = Vec::new();
        let mut command = grammar::command(chart);
        clap_complete::generate(*shell, &mut command, env!("CARGO_PKG_NAME"), &mut script);
        say(String::from_utf8_lossy(&script).trim_end());
    }
    ExitCode::SUCCESS
}
