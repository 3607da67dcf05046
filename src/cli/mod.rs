//! The command line. Hooks are dispatched first, without clap; clap handles everything else, with the options that
//! the chart declares.

mod check_chart;
mod completions;
mod config;
mod demo;
mod diagram;
mod doctor;
pub(crate) mod enter;
mod error;
mod findings;
mod grammar;
mod list;
mod log;
mod next;
mod output;
mod place;
mod render;
mod report;
mod review;
mod reviewed;
mod schema;
mod stats;
mod status;
mod test;
mod trust;
mod validate;
mod wait;
mod why;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue};

use crate::chart::Chart;
use crate::chart::choice::Choice;
use crate::demo::reviewer;
use crate::diagnostic::suggest::suggest;
use crate::hook;
use crate::os::bond::become_program;
use crate::process::supervisor;
use crate::project::home;
use error::CliError;
use output::{say_styled, tell_error, tell_styled};

/// Runs a command line, whose first word is the program's own name.
pub fn run(args: &[OsString]) -> ExitCode {
    if args.get(1).is_some_and(|word| word == supervisor::ARGUMENT) {
        return supervisor::main();
    }
    if let Some(code) = become_program(args) {
        return code;
    }
    if let Some(call) = as_hook(args) {
        return hook::run(&call);
    }
    if let Some(code) = reviewer::stand_in(args) {
        return code;
    }
    dispatch(args).unwrap_or_else(|error| {
        tell_error(&error);
        ExitCode::FAILURE
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
        ["hook", event] if !event.starts_with('-') => Some(hook::HookCall {
            event,
            chart,
            host,
            timeout: timeout.map(str::parse).transpose().ok()?,
        }),
        _ => None,
    }
}

fn dispatch(args: &[OsString]) -> Result<ExitCode, CliError> {
    let (name, command) = glance(args);
    // `trust` is about the project's own chart, and a hook looks for the chart where the event says.
    let own = match &name {
        None if !matches!(command, Some("trust" | "hook" | "check-chart" | review::NAME)) => {
            trust::own_chart(command)?
        }
        _ => None,
    };
    // `check-chart` reads its charts itself, because it is meant for charts that cannot be used.
    let used = name.as_deref().filter(|_| command != Some("check-chart"));
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
    let matches = match grammar::command(&chart).try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(mut error) => {
            keep_nearest(&mut error);
            let text = error.render().ansi().to_string();
            match error.use_stderr() {
                true => tell_styled(text.trim_end()),
                false => say_styled(text.trim_end()),
            }
            // clap's exit code 2 would block on the host: a hook that is called incorrectly must not do that.
            return Ok(match error.exit_code() {
                0 => ExitCode::SUCCESS,
                _ if command == Some("hook") => ExitCode::FAILURE,
                code => ExitCode::from(u8::try_from(code).unwrap_or(1)),
            });
        }
    };
    carry_out(&choice, &chart, name.as_deref(), &matches)
}

/// Calls the command.
fn carry_out(
    choice: &Choice<'_>,
    chart: &Arc<Chart>,
    name: Option<&str>,
    matches: &ArgMatches,
) -> Result<ExitCode, CliError> {
    match matches.subcommand() {
        Some(("hook", sub)) => {
            let text = |id| sub.get_one::<String>(id).map(String::as_str);
            Ok(hook::run(&hook::HookCall {
                event: text("event").unwrap_or_default(),
                chart: name,
                host: text("host"),
                timeout: sub.get_one("timeout").copied(),
            }))
        }
        Some(("check-chart", sub)) => check_chart::run(sub),
        Some((review::NAME, sub)) => Ok(review::run(chart, sub)),
        Some(("enter", sub)) => enter::enter(chart, sub),
        Some(("next", sub)) => next::run(chart, sub),
        Some(("status", sub)) => status::run(chart, sub),
        Some(("report", sub)) => report::run(chart, sub),
        Some(("log", sub)) => match sub.get_one("why") {
            Some(stop) => why::run(chart, sub, *stop),
            None => log::run(chart, sub),
        },
        Some(("stats", sub)) => stats::run(chart, sub),
        Some(("findings", sub)) => findings::run(chart, sub),
        Some(("resolve", sub)) => findings::resolve(chart, sub),
        Some(("list", sub)) => list::run(chart, sub),
        Some(("validate", sub)) => validate::run(chart, sub),
        Some(("run", sub)) => match sub.subcommand() {
            Some((name, sub)) => enter::run(chart, name, sub),
            None => Ok(ExitCode::SUCCESS),
        },
        Some(("doctor", sub)) => doctor::run(choice, chart, refused(name).as_deref(), sub),
        Some(("diagram", sub)) => diagram::run(chart, sub),
        Some(("test", sub)) => test::run(chart, sub),
        Some(("demo", sub)) => demo::run(choice, chart, sub),
        Some(("render", sub)) => render::run(choice, chart, sub),
        Some(("completions", sub)) => Ok(completions::print(chart, sub)),
        Some(("trust", sub)) => trust::run(chart, sub),
        Some(("config", sub)) => config::run(chart, refused(name).as_deref(), sub),
        Some(("schema", sub)) => Ok(schema::print(chart, sub)),
        // A command of the chart, without `run`.
        Some((name, sub)) => enter::run(chart, name, sub),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Returns why no chart decides in this project, if the command line names none.
fn refused(name: Option<&str>) -> Option<String> {
    match name {
        None => trust::refused(),
        Some(_) => None,
    }
}

/// Suggests only the command that an unknown one was most likely meant to be.
fn keep_nearest(error: &mut clap::Error) {
    let (Some(ContextValue::String(wrong)), Some(ContextValue::Strings(known))) =
        (error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::SuggestedSubcommand))
    else {
        return;
    };
    if let Some(nearest) = suggest(wrong, known.iter().map(String::as_str)) {
        let nearest = ContextValue::Strings(vec![nearest.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, nearest);
    }
}

/// Returns what has to be known before clap reads the command line: the value of `--chart`, which determines the other
/// options, and the command's name.
fn glance(args: &[OsString]) -> (Option<String>, Option<&str>) {
    let (mut chart, mut command) = (None, None);
    let mut words = args.iter().skip(1);
    while let Some(word) = words.next() {
        let value = match word.to_str() {
            Some("--") => break,
            Some("--chart") => words.next().map(|value| value.to_string_lossy().into_owned()),
            Some(option) if option.starts_with('-') => {
                option.strip_prefix("--chart=").map(str::to_owned)
            }
            name => {
                command = command.or(Some(name));
                None
            }
        };
        chart = chart.or(value);
    }
    (chart, command.flatten())
}
