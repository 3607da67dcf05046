//! `taskie enter PHASE` and the commands of the chart: the two ways to change the state by hand.

use std::io::{IsTerminal as _, Read as _};
use std::sync::Arc;

use clap::{ArgMatches, FromArgMatches as _};
use serde_json::Value as Json;

use super::error::CliError;
use super::grammar::options::{self, About};
use super::output::{Output, of_reviewer, refuse_agents, renamed, tell, warn};
use super::place::{self, Absent};
use crate::chart::Chart;
use crate::chart::model::FieldType;
use crate::diagnostic::quote::quoted;
use crate::engine::context::ends_pause;
use crate::engine::decision::Answer;
use crate::engine::event::{Event, Trigger};
use crate::engine::fault::Fault;
use crate::hash::IndexMap;
use crate::host::hosts;
use crate::page::Page;
use crate::project::state_file::Reading;
use crate::run::asked::{of_command, seeing_stop, typed_at};
use crate::run::call::UserCall;
use crate::run::noticed;
use crate::run::perform::{check, foresee, obstacle_at_stop, perform};
use crate::run::place::Place;
use crate::run::stuck::Stuck;
use crate::run::under_way;
use crate::store::facts::Fact;
use crate::store::lock::ReviewLock;
use crate::text::{capitalized, full_stop};
use crate::view::finished::finished;

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
    event(trigger, given_args(chart, matches))
}

/// Returns the events of a command of the chart, and of those that it raises, without a session. `stdin` reads the options
/// that come from there.
pub(super) fn running(
    chart: &Chart,
    name: &str,
    matches: &ArgMatches,
    stdin: impl Fn(&str) -> Result<String, CliError>,
) -> Result<Vec<Event>, CliError> {
    let mut given = given_args(chart, matches);
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
    let is_running =
        |place: &Place| ReviewLock::is_held(&place.store, &place.instance.name, &place.dir());
    if cancels || session.is_none() {
        place::refuse_several(&place, &about, &chart.call(name), |place| match cancels {
            true => is_running(place),
            false => place.is_in_cycle(),
        })?;
    }
    let events = running(chart, name, matches, stdin)?;
    let mut page = Page::default();
    for (index, event) in events.into_iter().enumerate() {
        let event = Event { fields: of_command(&place), session: session.clone(), ..event };
        if let Err(error) = transition(&place, &event, index == 0, false, &mut page) {
            page.print();
            return Err(error);
        }
    }
    if cancels {
        under_way::await_end(&place);
    }
    place::choice(&place, &about).iter().for_each(|choice| page.say(choice));
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

/// Returns the command line of this process as the user can type it anywhere in the project.
fn typed(place: &Place) -> String {
    let words = std::env::args().skip(1).map(|word| quoted(&word));
    let mut words: Vec<String> = std::iter::once("taskie".to_owned()).chain(words).collect();
    if !words.iter().any(|word| *word == format!("--{}", place.chart.scope.noun)) {
        words.push(place.option());
    }
    words.join(" ")
}

/// Carries out one transition, or only checks whether it is possible. If it does not apply and `is_first`, nothing
/// has been written.
fn transition(
    place: &Place,
    event: &Event,
    is_first: bool,
    is_check: bool,
    page: &mut Page,
) -> Result<(), CliError> {
    let chart = &place.chart;
    if let Some(other) = noticed::other_chart(place, &place.journal().facts().left) {
        let (noun, name) = (&chart.scope.noun, &place.instance.name);
        return Err(CliError::with_help(
            format!(
                "{noun} `{name}` goes by {other}: no command of {} writes its state",
                chart.origin
            ),
            "run the command of that chart: with its `--chart`, or without one".to_owned(),
        ));
    }
    let is_agents = matches!(event.trigger, Trigger::Command(_)) && hosts::around().is_some();
    if is_agents && let Ok(would) = check(place, event) {
        let is_looser = |(name, value): &(&String, &Json)| {
            chart.context[*name].is_looser(value, would.before.get(*name).unwrap_or(&Json::Null))
        };
        if let Some((name, _)) = would.decision.patch.iter().find(is_looser) {
            refuse_agents(&format!("loosen `{name}`"), &typed(place))?;
        }
    }
    let news = place.journal().facts().left.news;
    let done = if is_check { check(place, event) } else { perform(place, event) };
    // What a rule says of a state that cannot be used is about the defaults.
    let done = done.and_then(|performed| match &place.snapshot().state {
        Reading::Broken(why) if matches!(performed.decision.answer, Answer::Refuse(_)) => {
            Err(place.broken(why))
        }
        _ => Ok(performed),
    });
    let performed = done.map_err(|stuck| match stuck {
        Stuck::Fault(Fault::Expression { error, place }) => CliError::with_help(
            error.detail.clone(),
            format!("check {place} in the chart {}", chart.origin),
        ),
        Stuck::Broken(why) => CliError::with_help(why, chart.scope.remedy()),
        other => other.into(),
    })?;
    warn(performed.warnings.iter().chain(&performed.notes));
    if let Answer::Refuse(why) = &performed.decision.answer {
        let (program, option) = (chart.program(), place.option());
        let help = format!("`{program} status {option}` says what comes next");
        return Err(CliError::with_help(
            renamed(chart, why),
            match is_first {
                true => format!("nothing was written; {help}"),
                false => help,
            },
        ));
    }
    let now = place.journal().facts().left.news;
    for news in now.iter().filter(|text| is_agents && !news.contains(text)) {
        warn(UserCall::tell(place, event, news));
    }
    let decision = &performed.decision;
    let (noun, name) = (&chart.scope.noun, &place.instance.name);
    match &event.trigger {
        Trigger::Enter { phase, .. } if is_check => {
            page.say(&format!("{phase} may be entered in {noun} '{name}'; nothing was written."));
            return Ok(());
        }
        Trigger::Enter { phase, .. } if chart.is_final(phase) => {
            let finished = finished(place);
            page.say(&finished);
            if event.session.is_some() {
                // The agent reads this here, and the user at the next stop.
                let _ = place.journal().note(Fact::News { text: finished });
            }
        }
        Trigger::Enter { phase, .. } => {
            let before = &performed.before;
            let ended = ends_pause(chart, before, &performed.context);
            let ended = if ended { " The pause is over." } else { "" };
            page.say(&format!("Entered {phase} in {noun} '{name}'.{ended}"));
        }
        _ if decision.says.is_empty() && !decision.patch.is_empty() => {
            let fields = std::iter::once(&chart.state).chain(&chart.next);
            let values = fields.filter_map(|field| performed.context.get(field)?.as_str());
            let values = values.collect::<Vec<_>>().join(", then ");
            page.say(&format!("The {noun} '{name}' has changed: {values}."));
        }
        _ => {}
    }
    let obstacle = match &event.trigger {
        Trigger::Enter { .. } => obstacle(place, event.session.as_deref()),
        Trigger::Command(_) | Trigger::Hook(_) => None,
    };
    // What rules tell a session about a review that is due holds for one that can run.
    let is_kept = obstacle.is_none() || event.session.is_none();
    let said = decision.says.iter().filter(|_| is_kept);
    for line in said.chain(&obstacle).chain(&decision.messages) {
        page.say(&renamed(chart, line));
    }
    let moves_on = decision.advances();
    let is_command = matches!(event.trigger, Trigger::Command(_));
    if is_first
        && !is_check
        && decision.effects.is_empty()
        && let Some(running) = match is_command && !moves_on {
            true => under_way::running_on(place),
            false => under_way::running(place),
        }
    {
        match moves_on && under_way::end(place) {
            true => {
                under_way::await_end(place);
                page.say("The review that was running is ended: nothing waits for it anymore.");
            }
            false => page.say(&running),
        }
    }
    Ok(())
}

/// Says what is in the way of the next stop of this session, if anything is.
pub(super) fn obstacle(place: &Place, session: Option<&str>) -> Option<String> {
    let why = obstacle_at_stop(place, &foresee(place, &seeing_stop(place, session)))?;
    let why = capitalized(&why);
    // Without a session, nobody's turn ends.
    let then = session.map_or(" first", |_| ", then end your turn");
    Some(format!("{why}{} Fix that{then}.", full_stop(&why)))
}

/// Returns the given options, converted to their types.
fn given_args(chart: &Chart, matches: &ArgMatches) -> IndexMap<String, Json> {
    let mut args = IndexMap::default();
    for (name, arg) in &chart.args {
        // Not every command has every option.
        let value = match arg.of.kind {
            FieldType::Boolean => given::<bool>(matches, name),
            _ => given::<Json>(matches, name),
        };
        args.extend(value.map(|value| (name.clone(), value)));
    }
    args
}

fn given<T: Into<Json> + Clone + Send + Sync + 'static>(
    matches: &ArgMatches,
    name: &str,
) -> Option<Json> {
    let value = matches.try_get_one::<T>(name).ok().flatten();
    value.cloned().map(Into::into)
}
