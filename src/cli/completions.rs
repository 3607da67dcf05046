//! `taskie completions`: a script that completes this command line in a shell.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, Command, ValueHint};
use clap_complete::Shell;

use super::grammar::{self, options};
use super::output::say;
use crate::chart::Chart;

/// The only value that clap knows for the name of an instance. The script looks the names up instead, when they are needed.
const NAMES: &str = "__taskie_names__";

/// Prints the script. It completes the phases and commands of `chart`, and the names of its instances.
pub(super) fn print(chart: &Chart, matches: &ArgMatches) -> ExitCode {
    if let Some(shell) = matches.get_one::<Shell>("shell") {
        let mut script = Vec::new();
        let phases: Vec<String> = chart.phases.keys().cloned().collect();
        let command = grammar::command(chart).mut_subcommand("enter", |enter| {
            enter.mut_arg("phase", |arg| arg.value_parser(PossibleValuesParser::new(phases)))
        });
        let mut command = with_names(command);
        clap_complete::generate(*shell, &mut command, env!("CARGO_PKG_NAME"), &mut script);
        let names = format!("{} list --names 2>/dev/null", chart.program());
        let script = looking_up(*shell, &String::from_utf8_lossy(&script), &names);
        say(script.trim_end());
    }
    ExitCode::SUCCESS
}

/// Marks where the command line takes the name of an instance.
fn with_names(command: Command) -> Command {
    let marked = command.mut_args(|arg| match arg.get_id() == options::INSTANCE {
        true => arg.value_hint(ValueHint::Unknown).value_parser(PossibleValuesParser::new([NAMES])),
        false => arg,
    });
    marked.mut_subcommands(with_names)
}

/// Returns the script with what `command` prints in the places that are marked. The scripts of the other shells complete no
/// values.
fn looking_up(shell: Shell, script: &str, command: &str) -> String {
    match shell {
        Shell::Bash => script.replace(NAMES, &format!("$({command})")),
        // It stands between single quotes there.
        Shell::Zsh => script.replace(
            &format!("({NAMES})"),
            &format!("{{compadd -- ${{(f)\"$({command})\"}}}}").replace('\'', r"'\''"),
        ),
        Shell::Fish => script.replace(&format!("{NAMES}\\t''"), &format!("({command})")),
        _ => script.to_owned(),
    }
}
