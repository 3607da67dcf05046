//! `taskie next`: prints what to do now, according to the chart's `next` rules, and why. It claims the instance for
//! its session.

use std::sync::Arc;

use serde_json::json;

use crate::chart::Chart;
use crate::commands::about::Asking;
use crate::commands::error::CliError;
use crate::commands::output::{Output, of_reviewer, renamed, warn};
use crate::commands::place;
use crate::commands::transition::obstacle;
use crate::engine::context;
use crate::engine::decision::Answer;
use crate::hook::why_elsewhere;
use crate::page::Page;
use crate::run::asked;
use crate::run::change;
use crate::run::perform::perform;
use crate::store::{driver, postponed};
use crate::text::{capitalized, shown};
use crate::view::finished::finished;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    asking: Asking,
    /// Let the next stop start a reviewer again, after failures, a usage limit or an outage
    #[arg(long)]
    retry: bool,
}

/// Prints the next action.
pub(crate) fn run(chart: &Arc<Chart>, args: &Args) -> Result<Output, CliError> {
    if let Some(nothing) = of_reviewer() {
        return Ok(nothing);
    }
    let session = place::session(&args.asking.about.of)?;
    let place = place::chosen(chart, &args.asking.about)?;
    if args.retry {
        let lifted = postponed::lift(place.journal());
        lifted.map_err(CliError::because("this cannot be recorded"))?;
    }
    let asked_by = session.clone();
    let driver = driver::of(place.journal());
    let mut asked = asked::next(&place, session);
    change::see(&place, &mut asked.fields);
    let performed = perform(&place, &asked)?;
    // Every review waits for that.
    let wrong = place.snapshot().config().err().map(|why| why.to_string());
    warn(performed.warnings.iter().chain(&wrong));
    if let Answer::Refuse(why) = performed.decision.answer {
        // A hook that waited for the limit has started the review at once.
        if args.retry && place.is_reviewed() {
            return Ok(Output::text(&why));
        }
        return Err(CliError::new(why));
    }
    let Answer::Action { action, why } = performed.decision.answer else {
        let message = format!("the chart {} does not say what is next", chart.id);
        let help = "add a rule to `on.next` that has an `action`";
        return Err(CliError::with_help(message, help));
    };
    let stops = !chart.phases.contains_key(&action);
    let obstacle = stops.then(|| obstacle(&place, asked_by.as_deref()));
    let elsewhere = why_elsewhere(&place, asked_by.as_deref()).map(|why| capitalized(&why) + ".");
    let why = elsewhere.or(obstacle.flatten()).unwrap_or(why);
    let why = renamed(chart, &why);
    if args.asking.json {
        return Ok(Output::json(json!({
            "action": action, "why": why, chart.scope.noun(): place.instance.name, "context": performed.context,
        })));
    }
    let mut page = Page::default();
    page.say(&format!("next: {action}\nwhy:  {why}"));
    page.say(&format!("{}: {}", chart.scope.noun(), place.instance.name));
    if let (Some(session), Some(driver)) = (&asked_by, &driver)
        && driver != session
    {
        let noun = chart.scope.noun();
        page.say(&format!(
            "note: this session drives the {noun} now; session {} did so until now",
            shown(driver)
        ));
    }
    if context::is_over(chart, &performed.context) {
        page.say(&finished(&place));
    }
    Ok(Output::of(page))
}
