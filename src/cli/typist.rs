//! The command lines of scenarios: `taskie enter …` and the commands of the chart.

use std::sync::Arc;

use clap::{ArgMatches, FromArgMatches as _};

use super::enter::{Args, entering, running};
use super::grammar;
use crate::chart::Chart;
use crate::chart::choice::OWN;
use crate::engine::event::Event;
use crate::scenario::instance::Typist;

/// The answer to a scenario that runs something else.
const UNKNOWN: &str = "a scenario can run only `taskie enter` and the commands of the chart";

/// Returns what reads the command lines of scenarios: `taskie enter …` and the commands of the chart.
pub(crate) fn typist(chart: &Arc<Chart>) -> Arc<Typist> {
    let chart = Arc::clone(chart);
    Arc::new(move |line: &str, stdin: &str| events(&chart, line, stdin))
}

fn events(chart: &Chart, line: &str, stdin: &str) -> Result<Vec<Event>, String> {
    let words = shlex::split(line).ok_or("a quote is not closed")?;
    let matches = grammar::command(chart).try_get_matches_from(words);
    let matches = matches.map_err(|error| {
        let why = error.to_string();
        let why = why.lines().next().unwrap_or_default();
        why.trim_start_matches("error: ").to_owned()
    })?;
    let command = |(name, matches): (&str, &ArgMatches)| {
        running(chart, name, matches, |_| Ok(stdin.to_owned()))
            .map_err(|_| format!("`{name}` cannot be run"))
    };
    match matches.subcommand() {
        Some(("enter", matches)) => match Args::from_arg_matches(matches) {
            Ok(args) if !args.check => Ok(vec![entering(chart, &args, matches)]),
            _ => Err(UNKNOWN.to_owned()),
        },
        Some(("run", matches)) => matches.subcommand().map_or(Ok(Vec::new()), command),
        Some((name, matches)) if !OWN.contains(&name) => command((name, matches)),
        _ => Err(UNKNOWN.to_owned()),
    }
}
