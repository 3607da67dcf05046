//! `taskie completions`: a script that completes this command line in a shell.

use std::process::ExitCode;

use clap_complete::Shell;

use super::grammar;
use super::output::say;
use crate::chart::Chart;

/// Prints the script, which completes the commands of `chart`, too.
pub(super) fn print(chart: &Chart, shell: Shell) -> ExitCode {
    let mut script = Vec::new();
    let name = env!("CARGO_PKG_NAME");
    clap_complete::generate(shell, &mut grammar::command(chart), name, &mut script);
    say(String::from_utf8_lossy(&script).trim_end());
    ExitCode::SUCCESS
}
