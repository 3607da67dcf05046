//! The command line: the commands, each with what its file declares, and the commands and options of the chart.

pub(super) mod options;

use clap::{ArgAction, Args as _, CommandFactory as _, Parser, Subcommand};
use indexmap::IndexSet;

use self::options::{args_of, args_of_phase, in_words_of, option};
use super::{
    chart, check_chart, config, enter, findings, log, next, render, review, schema, status, verify,
};
use crate::chart::Chart;
use crate::chart::choice::{CHARTS, OWN};
use crate::commands::about::{About, Asking, words};
use crate::host::events::EVENTS;
use crate::host::hosts::HOSTS;

/// An independent reviewer for coding agents, and the workflows around it
#[derive(Debug, Parser)]
#[command(
    name = "taskie",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    max_term_width = 100,
    help_template = "{about-with-newline}{usage-heading} {usage}\n\n{all-args}"
)]
pub(crate) struct CommandLine {
    #[arg(long, global = true, help = workflows())]
    pub(crate) chart: Option<String>,
    /// Print the version. (The first help is to fit a small screen.)
    #[arg(short = 'V', long, action = ArgAction::Version, hide = true)]
    version: Option<bool>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Have what has changed read by an independent reviewer
    Review(review::Args),
    /// Show where things are, whose turn it is, and what the next stop does
    Status(status::Args),
    /// Show what happened, or explain a stop
    Log(log::Args),
    /// List what reviews found, and accept or reject a finding
    Findings(findings::Args),
    /// Say whether what is here is what was reviewed
    Verify(verify::Args),
    /// Print what a pull request needs, as Markdown
    Report(About),
    /// Show each setting and where it comes from; allow what the project may run
    Config(config::Args),
    /// Check the installation, and say what to fix
    #[command(
        after_help = "Exit codes: 0 no problem (warnings don't count), 1 problems, 2 wrong usage"
    )]
    Doctor(Asking),
    /// See it work, without an account
    Demo {
        /// Keep the temporary project and print its path
        #[arg(long)]
        keep: bool,
    },
    /// Check, test, draw and print charts
    Chart(chart::Args),
    /// Find errors in charts before they run
    #[command(hide = true)]
    CheckChart(check_chart::Args),
    /// Preview what the hook would send to whom
    #[command(hide = true)]
    Render(render::Args),
    /// Print a JSON Schema (draft-07)
    #[command(hide = true)]
    Schema(schema::Args),
    /// Check the structure of files the way a stop does
    #[command(
        hide = true,
        after_help = "Exit codes: 0 no finding, 1 findings or an unusable state.json, 2 wrong usage"
    )]
    Validate(Asking),
    /// Answer a hook event, read as JSON from stdin
    #[command(hide = true)]
    Hook {
        #[arg(value_parser = words(EVENTS.iter().map(|(word, _)| *word)))]
        event: String,
        /// The program that sends the event [default: as the event shows]
        #[arg(long, value_parser = words(HOSTS.iter().map(|host| host.id)))]
        host: Option<String>,
        /// How many seconds the hook's entry lets it run [default: 600]
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
    },
    /// Enter a phase: one atomic update of state.json
    #[command(hide = true)]
    Enter(enter::Args),
    /// Show what to do now, and why
    #[command(hide = true)]
    Next(next::Args),
}

fn workflows() -> String {
    let names: Vec<&str> = CHARTS.iter().map(|chart| chart.id).collect();
    format!("The workflow: {}, or the path of a statechart.toml", names.join(", "))
}

/// Where the chart's commands are in the help: in their own order.
const AFTER_ALL: usize = 100;

/// Returns the command line for `chart`.
pub(crate) fn command(chart: &Chart) -> clap::Command {
    let run = run(chart);
    let of_chart: Vec<clap::Command> = run
        .get_subcommands()
        .filter(|command| !OWN.contains(&command.get_name()))
        .cloned()
        .collect();
    CommandLine::command()
        .mut_subcommand("enter", |enter| with_phases(chart, enter))
        .subcommands(of_chart)
        .subcommand(run)
        .mut_subcommands(|command| {
            in_words_of(chart, command.mut_subcommands(|command| in_words_of(chart, command)))
        })
}

/// Adds the phases, and the options that they use.
fn with_phases(chart: &Chart, enter: clap::Command) -> clap::Command {
    let phases: Vec<&str> = chart.phases.keys().map(String::as_str).collect();
    let mut used: IndexSet<&str> = IndexSet::new();
    for phase in chart.phases.keys() {
        used.extend(args_of_phase(chart, phase));
    }
    used.sort_by_key(|name| chart.args.get_index_of(*name));
    let options = used.into_iter().map(|name| option(name, &chart.args[name], false));
    enter.after_help(format!("Phases: {}", phases.join(", "))).args(options)
}

/// The commands of the chart.
fn run(chart: &Chart) -> clap::Command {
    let subcommands = chart.commands.iter().zip(AFTER_ALL..).map(|((name, command), place)| {
        let mut used = args_of(chart, name);
        used.retain(|name| !chart.args[*name].is_stdin());
        // Optional positional arguments come last; otherwise clap panics.
        used.sort_by_key(|name| chart.args[*name].default.is_some());
        let options = used.into_iter().map(|name| option(name, &chart.args[name], true));
        About::augment_args(clap::Command::new(name.clone()).args(options))
            .about(command.about.clone().unwrap_or_default())
            .display_order(place)
    });
    clap::Command::new("run")
        .about("Run a command of the chart")
        .hide(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(subcommands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::choice::Choice;

    #[test]
    fn the_program_knows_its_own_commands() {
        let chart = Choice::of(None).load().unwrap();
        let command = command(&chart);
        command.clone().debug_assert();
        let names = command.get_subcommands().map(|command| command.get_name().to_owned());
        let of_chart = |name: &String| chart.commands.contains_key(name);
        let mut names: Vec<String> = names.filter(|name| !of_chart(name)).collect();
        let mut own = OWN.to_vec();
        names.sort();
        own.sort_unstable();
        assert_eq!(names, own);
    }
}
