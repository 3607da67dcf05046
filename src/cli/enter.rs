//! `taskie enter PHASE` and the commands of the chart: the two ways to change the state by hand.

use std::io::{IsTerminal as _, Read as _};
use std::sync::Arc;

use clap::{ArgMatches, FromArgMatches as _};
use serde_json::Value as Json;

use super::grammar::options;
use crate::chart::Chart;
use crate::commands::about::About;
use crate::commands::error::CliError;
use crate::commands::output::{Output, of_reviewer, refuse_agents, tell};
use crate::commands::place::{self, Absent};
use crate::commands::transition::transition;
use crate::engine::event::{Event, Trigger};
use crate::hash::IndexMap;
use crate::page::Page;
use crate::run::asked::typed_at;
use crate::run::place::Place;
use crate::run::under_way;

/// What `enter` has apart from the options of the chart.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The phase to enter
    phase: String,
    /// Check whether the phase can be entered now, and show what that would write
    #[arg(long)]
    pub(super) check: bool,
    /// Enter the phase even if its guard is false (the state must still fit its schema)
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    about: About,
}

/// Enters a phase; `matches` has the options of the chart.
pub(crate) fn enter(
    chart: &Arc<Chart>,
    args: &Args,
    matches: &ArgMatches,
) -> Result<Output, CliError> {
    if let Some(nothing) = of_reviewer() {
        return Ok(nothing);
    }
    let (phase, is_check) = (&args.phase, args.check);
    let absent = match *phase == chart.initial {
        false => Absent::Refuse,
        true if is_check => Absent::Assume,
        true => Absent::Make,
    };
    if chart.is_final(phase) && args.force {
        refuse_agents("force the end", &chart.call(&format!("enter {phase} --force")))?;
    }
    let session = place::session(&args.about.of)?;
    let place = place::resolve(chart, &args.about, session.as_deref(), absent)?;
    let event = Event { fields: typed_at(&place), session, ..entering(chart, args, matches) };
    let mut page = Page::default();
    transition(&place, &event, true, is_check, &mut page)?;
    Ok(Output::of(page))
}

/// Returns the event of `taskie enter PHASE`, without a session.
pub(super) fn entering(chart: &Chart, args: &Args, matches: &ArgMatches) -> Event {
    let trigger = Trigger::Enter { phase: args.phase.clone(), force: args.force };
    event(trigger, options::given(chart, matches))
}

/// Returns the events of a command of the chart, and of those that it raises, without a session. `stdin` reads the options
/// that come from there.
pub(super) fn running(
    chart: &Chart,
    name: &str,
    matches: &ArgMatches,
    stdin: impl Fn(&str) -> Result<String, CliError>,
) -> Result<Vec<Event>, CliError> {
    let mut given = options::given(chart, matches);
    for name in options::args_of(chart, name) {
        if chart.args[name].is_stdin() {
            given.insert(name.to_owned(), Json::from(stdin(name)?));
        }
    }
    let names = sequence(chart, name).into_iter();
    let events = names.map(|name| event(Trigger::Command(name.to_owned()), given.clone()));
    Ok(events.collect())
}

fn event(trigger: Trigger, args: IndexMap<String, Json>) -> Event {
    Event { trigger, fields: Json::Null, args, session: None }
}

/// Runs a command of the chart, and those that it raises.
pub(crate) fn run(
    chart: &Arc<Chart>,
    name: &str,
    matches: &ArgMatches,
) -> Result<Output, CliError> {
    if let Some(nothing) = of_reviewer() {
        return Ok(nothing);
    }
    let about = About::from_arg_matches(matches)
        .map_err(CliError::because("the options cannot be read"))?;
    let session = place::session(&about.of)?;
    let absent = match chart.scope.is_per_session() {
        true => Absent::Make,
        false => Absent::Refuse,
    };
    let place = place::resolve(chart, &about, session.as_deref(), absent)?;
    let cancels = chart.cancels() == Some(name);
    if cancels || session.is_none() {
        place::refuse_several(&place, &about, &chart.call(name), Place::is_in_cycle)?;
    }
    let events = running(chart, name, matches, stdin)?;
    let mut page = Page::default();
    for (index, event) in events.into_iter().enumerate() {
        let event = Event { fields: typed_at(&place), session: session.clone(), ..event };
        if let Err(error) = transition(&place, &event, index == 0, false, &mut page) {
            page.print();
            return Err(error);
        }
    }
    if cancels {
        under_way::await_end(&place);
    }
    Ok(Output::of(page))
}

/// Returns a command and those that it raises, in order. (No command raises itself.)
fn sequence<'c>(chart: &'c Chart, name: &'c str) -> Vec<&'c str> {
    let raised = chart.commands.get(name).into_iter();
    let raised = raised.flat_map(|command| &command.raise);
    let raised = raised.flat_map(|raised| sequence(chart, raised));
    std::iter::once(name).chain(raised).collect()
}

/// Returns all of stdin, unchanged.
fn stdin(name: &str) -> Result<String, CliError> {
    let mut input = std::io::stdin().lock();
    if input.is_terminal() {
        tell(&format!("taskie: type the {name}, then press Ctrl-D on a line of its own:"));
    }
    let mut text = String::new();
    input
        .read_to_string(&mut text)
        .map_err(CliError::because(format!("the {name} on stdin cannot be read")))?;
    Ok(text)
}
