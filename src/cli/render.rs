//! `taskie render`: previews what the hook sends. Stdout contains only the text; notes about it go to stderr.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;

use crate::chart::Chart;
use crate::commands::about::About;
use crate::commands::error::{CliError, FIX};
use crate::commands::output::{Output, tell, warn};
use crate::commands::place;
use crate::engine::decision::Step;
use crate::engine::event::Event;
use crate::hook::why_elsewhere;
use crate::page;
use crate::preview::{command, error, in_words, prompt, template};
use crate::project::state_file::Reading;
use crate::run::asked;
use crate::run::foresee;
use crate::run::foresee::foresee;
use crate::run::perform::foreseen_news;
use crate::run::place::Place;
use crate::run::review::or_called;
use crate::run::stuck::Stuck;
use crate::store::driver;
use crate::text::shown_lines;
use clap::ArgGroup;

#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("what").args(["template", "next"]).required(true)))]
pub(crate) struct Args {
    /// Show this template, filled in
    template: Option<String>,
    /// Show what the Stop hook would send now; runs nothing, writes nothing
    #[arg(long)]
    next: bool,
    #[command(flatten)]
    about: About,
}

/// Returns the requested preview.
pub(crate) fn run(chart: &Arc<Chart>, args: &Args) -> Result<Output, CliError> {
    let session = place::session(&args.about.of)?;
    let place = match place::find(chart, &args.about)? {
        Some(place) => place,
        None if args.next => place::chosen(chart, &args.about)?,
        None => not_started(chart)?,
    };
    let driver = driver::of(place.journal());
    // In a terminal, the stop of the session that drives the instance is meant.
    let session = session.or_else(|| driver.clone());
    let mut event = asked::seeing_stop(&place, session.as_deref());
    let cwd = std::env::current_dir().unwrap_or_default();
    event.fields["cwd"] = cwd.display().to_string().into();
    let text = match &args.template {
        Some(name) => filled_in(&place, &event, name)?,
        None => {
            if let Some(why) = why_elsewhere(&place, session.as_deref()) {
                return Err(CliError::new(why));
            }
            if driver.is_none() && !chart.scope.is_per_session() {
                let noun = chart.scope.noun();
                tell(&format!(
                    "taskie: no session drives the {noun}: what follows is the first stop after one has taken it up"
                ));
            }
            next(&place, &event)?
        }
    };
    print(&text);
    Ok(Output::default())
}

/// Returns a template, filled in as at the next stop.
fn filled_in(place: &Place, event: &Event, name: &str) -> Result<String, CliError> {
    let snapshot = foresee::at_stop(place, place.snapshot(), event);
    if let Reading::Broken(why) = &snapshot.state {
        let message = format!("{}: {why}", place::state_file(place).display());
        return Err(CliError::with_help(message, FIX));
    }
    let text = template(&place.chart, &snapshot.as_world(), event, name)?;
    warn(snapshot.warnings());
    Ok(text)
}

/// Returns what the hook would send; says on stderr what it would do.
fn next(place: &Place, event: &Event) -> Result<String, CliError> {
    let chart = &place.chart;
    let step = foresee(place, event).map_err(|stuck| match stuck {
        Stuck::Fault(fault) => error(chart, &fault).into(),
        stuck => CliError::from(stuck),
    })?;
    let snapshot = place.snapshot();
    let mut decision = match or_called(event, step) {
        Step::Invoke(invocation) => {
            warn(snapshot.warnings());
            tell(&command(place, &invocation));
            return Ok(prompt(&invocation).unwrap_or_default().to_owned());
        }
        Step::Done(decision) => decision,
    };
    decision.messages.splice(0..0, foreseen_news(place, &snapshot));
    let rule = decision.fired.last();
    let rule = rule.map_or_else(String::new, |rule| in_words(chart, rule));
    let reply = decision.into_reply("Stop", chart.quiet).with_warnings(snapshot.warnings());
    let say = |what: &str| tell(&format!("taskie: the next stop is {what}"));
    Ok(match (reply.reason(), reply.message()) {
        (Some(reason), message) => {
            say(&format!("blocked{rule}; message to the agent:"));
            if let Some(message) = message {
                tell(&format!("taskie: message to the user: {message}"));
            }
            reason
        }
        (None, Some(message)) => {
            say(&format!("allowed{rule}; message to the user:"));
            message
        }
        (None, None) => {
            say(&format!("allowed{rule}, without a message"));
            String::new()
        }
    })
}

/// Prints the text. On a terminal, a line break follows, so that the shell's prompt starts on a new line.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let end = if out.is_terminal() && !text.is_empty() { "\n" } else { "" };
    // A reader that is gone is not an error.
    let text = shown_lines(text);
    let text = page::fitted(&text, page::columns());
    let _ = write!(out, "{text}{end}").and_then(|()| out.flush());
}

/// Returns an instance that has not started, which is enough for a prompt.
fn not_started(chart: &Arc<Chart>) -> Result<Place, CliError> {
    let noun = chart.scope.noun();
    let name = noun.to_uppercase();
    tell(&format!("taskie: no {noun} found; showing a {noun} `{name}` that has not started"));
    let root = std::env::current_dir().unwrap_or_default();
    let instance = place::named(chart, &name)?;
    Ok(Place::new(Arc::clone(chart), root, instance))
}
