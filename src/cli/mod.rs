//! The command line. Hooks are dispatched first, without clap; clap handles everything else, with the options that
//! the chart declares.

mod chart;
mod charts;
mod check_chart;
mod config;
mod demo;
mod doctor;
mod enter;
mod findings;
mod grammar;
mod log;
mod next;
mod render;
mod report;
mod review;
mod schema;
mod status;
mod test;
mod trust;
pub(crate) mod typist;
mod validate;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgMatches, FromArgMatches as _};

use crate::chart::Chart;
use crate::chart::choice::{Choice, OWN};
use crate::commands::error::CliError;
use crate::commands::output::{Output, tell_error, tell_styled};
use crate::commands::place::{self, Glance};
use crate::demo::reviewer;
use crate::hook;
use crate::process::supervisor;
use crate::project::home;

use grammar::{Command, CommandLine};

/// Runs a command line, whose first word is the program's own name.
pub fn run(args: &[OsString]) -> ExitCode {
    if args.get(1).is_some_and(|word| word == supervisor::ARGUMENT) {
        return supervisor::main();
    }
    if let Some(call) = as_hook(args) {
        return hook::run(&call);
    }
    if let Some(code) = reviewer::stand_in(args) {
        return code;
    }
    dispatch(args).unwrap_or_else(|error| {
        tell_error(&error);
        ExitCode::from(error.code())
    })
}

/// Returns the command line for the default chart, to generate manual pages from.
pub fn command() -> Option<clap::Command> {
    let chart = Choice::of(None).load().ok()?;
    Some(grammar::command(&chart))
}

/// Recognizes `hook EVENT` with its options, and nothing else; clap handles the rest.
fn as_hook(args: &[OsString]) -> Option<hook::HookCall<'_>> {
    let mut words = args.iter().skip(1).map(|arg| arg.to_str());
    let (mut plain, mut chart, mut host, mut timeout) = (Vec::new(), None, None, None);
    while let Some(word) = words.next() {
        let word = word?;
        let Some(option) = word.strip_prefix("--") else {
            plain.push(word);
            continue;
        };
        let (name, value) = match option.split_once('=') {
            Some(parts) => parts,
            None => (option, words.next()??),
        };
        let given = match name {
            "chart" => &mut chart,
            "host" if !plain.is_empty() => &mut host,
            "timeout" if !plain.is_empty() => &mut timeout,
            _ => return None,
        };
        if given.replace(value).is_some() {
            return None;
        }
    }
    match plain.as_slice() {
        ["hook", event] => {
            hook::HookCall::of(event, chart, host, timeout.map(str::parse).transpose().ok()?)
        }
        _ => None,
    }
}

fn dispatch(args: &[OsString]) -> Result<ExitCode, CliError> {
    let glance = Glance::at(args);
    let (name, words) = (&glance.chart, &glance.words);
    let command = words.first().copied();
    // `config trust` is about the project's own chart, and a hook looks for the chart where the event says. A check reads its
    // charts itself, because it is meant for charts that cannot be used.
    let is_check = matches!(words[..], ["check-chart", ..] | ["chart", "check" | "print", ..]);
    let is_elsewhere =
        is_check || matches!(words[..], ["hook" | review::NAME, ..] | ["config", "trust", ..]);
    let own = match name {
        None if !is_elsewhere => trust::own_chart(command)?,
        _ => None,
    };
    let used = name.as_deref().filter(|_| !is_check);
    let choice = match &own {
        Some(path) => Choice::File(path),
        None if command == Some(review::NAME) && name.is_none() => review::choice(),
        None => Choice::of(used),
    };
    let mut chart = choice.load()?;
    if let (Some(chart), Ok(cwd)) = (Arc::get_mut(&mut chart), place::cwd()) {
        chart.is_default |= own.is_some();
        home::settle(&mut chart.scope, &cwd);
    }
    if name.is_none() && !is_elsewhere {
        chart = place::chart_of(chart, &glance);
    }
    let matches = match grammar::command(&chart).try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            let text = error.render().ansi().to_string();
            match error.use_stderr() {
                true => tell_styled(text.trim_end()),
                false => drop(Output::styled(text.trim_end()).print()),
            }
            // clap's exit code 2 would block on the host: a hook that is called incorrectly must not do that.
            return Ok(match error.exit_code() {
                0 => ExitCode::SUCCESS,
                _ if command == Some("hook") => ExitCode::FAILURE,
                code => ExitCode::from(u8::try_from(code).unwrap_or(1)),
            });
        }
    };
    carry_out(&choice, &chart, name.as_deref(), &matches).map(Output::print)
}

/// Calls the command.
fn carry_out(
    choice: &Choice<'_>,
    chart: &Arc<Chart>,
    name: Option<&str>,
    matches: &ArgMatches,
) -> Result<Output, CliError> {
    let sub = match matches.subcommand() {
        Some(("run", run)) => {
            return run
                .subcommand()
                .map_or(Ok(Output::default()), |(name, sub)| enter::run(chart, name, sub));
        }
        Some((name, sub)) if !OWN.contains(&name) => return enter::run(chart, name, sub),
        Some((_, sub)) => sub,
        None => return Ok(Output::default()),
    };
    let line = CommandLine::from_arg_matches(matches)
        .map_err(CliError::because("the command line cannot be read"))?;
    let named = line.chart.as_deref();
    // Why no chart decides in this project, if the command line names none.
    let refused = || trust::refused().filter(|_| name.is_none());
    match &line.command {
        Command::Review(args) => review::run(chart, args),
        Command::Status(args) => status::run(chart, args),
        Command::Log(args) => log::run(chart, args),
        Command::Findings(args) => findings::run(chart, args),
        Command::Verify(args) => verify::run(chart, args),
        Command::Report(about) => report::run(chart, about),
        Command::Config(args) => config::run(chart, refused().as_deref(), args),
        Command::Doctor(args) => doctor::run(choice, chart, refused().as_deref(), args),
        Command::Demo { keep } => demo::run(*keep),
        Command::Chart(args) => chart::run(chart, named, args, &typist::typist(chart)),
        Command::CheckChart(args) => check_chart::run(named, args),
        Command::Render(args) => render::run(chart, args),
        Command::Schema(args) => Ok(schema::of(chart, args)),
        Command::Validate(args) => validate::run(chart, args),
        Command::Hook { event, host, timeout } => {
            let call = hook::HookCall::of(event, name, host.as_deref(), *timeout);
            Ok(call.map_or_else(Output::default, |call| Output::exit(hook::run(&call))))
        }
        Command::Enter(args) => enter::enter(chart, args, sub),
        Command::Next(args) => next::run(chart, args),
    }
}
