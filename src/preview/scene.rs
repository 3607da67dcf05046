//! Previews the next stop with the same `decide` as the hook, without running anything; or previews one template.

use std::sync::Arc;

use super::assumptions::{Assumptions, cycle_help, review_help};
use super::error::RenderError;
use crate::chart::Chart;
use crate::diagnostic::suggest::did_you_mean;
use crate::diagnostic::toml::Document;
use crate::engine::check;
use crate::engine::decide::decide;
use crate::engine::decision::{Ended, Invocation, Outcome, Step};
use crate::engine::event::Event;
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::engine::world::World;
use crate::expr::source::Text;
use crate::expr::syntax::names_in;
use crate::run::place::Place;

/// What a preview is based on.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) chart: &'a Arc<Chart>,
    pub(crate) world: Arc<dyn World>,
    /// A stop of the agent.
    pub(crate) event: Event,
    pub(crate) assumed: &'a Assumptions,
}

/// Returns what the hook would do at `place`.
pub(crate) fn next(place: &Place, scene: &Scene<'_>) -> Result<Step, RenderError> {
    let chart = scene.chart;
    let decided = |ended| {
        let step = decide(chart, &scene.world, &scene.event, ended);
        step.map_err(|fault| RenderError::of(chart, &fault))
    };
    let invocation = match decided(None)? {
        done @ Step::Done(_) if scene.assumed.outcome.is_none() => return Ok(done),
        Step::Done(_) => {
            let message = "no review is due, so none can end";
            return Err(RenderError::new(message, cycle_help(chart)));
        }
        Step::Invoke(invocation) => invocation,
    };
    let outcome = scene.assumed.outcome.clone();
    let obstacle = || place.obstacle(&scene.world, &scene.event, &invocation);
    let Some(outcome) = outcome.or_else(|| obstacle().map(Outcome::Failed)) else {
        return Ok(Step::Invoke(invocation));
    };
    let ended = Ended::new(*invocation, outcome);
    match decided(Some(ended))? {
        done @ Step::Done(_) => Ok(done),
        Step::Invoke(_) => {
            let message = "the rules ask for a second run in one decision";
            Err(RenderError::new(message, None))
        }
    }
}

/// Returns the template `name`, filled in from the state. If the user has replaced a prompt, it is the user's text.
pub(crate) fn template(scene: &Scene<'_>, name: &str) -> Result<String, RenderError> {
    let chart = scene.chart;
    let is_known = |name: &str| matches!(chart.templates.get(name), Ok(Some(_)));
    let full = format!("{name}.md");
    let name = if is_known(&full) { &full } else { name };
    if !is_known(name) {
        let names = chart.templates.names();
        let help = did_you_mean(name, names.iter().map(String::as_str)).unwrap_or_else(|| {
            format!("run `{} render --list` to see all of them", chart.program())
        });
        let message = format!("unknown template `{}`", name.escape_debug());
        return Err(RenderError::new(message, Some(help)));
    }
    let names = Names::new(chart, &scene.world, &scene.event);
    if let Some(outcome) = &scene.assumed.outcome {
        let Some(cycle) = names.running() else {
            let message = "no cycle is running that a review could belong to";
            return Err(RenderError::new(message, cycle_help(chart)));
        };
        let ended = review(&names, cycle, outcome).map_err(|fault| RenderError::of(chart, &fault));
        names.set_review(Arc::new(ended?));
    }
    names.set_preview();
    let rendered = match chart.prompt_of(name) {
        Some(prompt) => {
            let text = Text(format!("{{{{ prompts['{prompt}'] }}}}"));
            names.expressions.text(&text, &names.root())
        }
        None => names.expressions.template(name, &names.root()),
    };
    // Not `Fault::at`: a missing option is shown where the template uses it.
    let fault = |error| Fault::Expression { place: name.to_owned(), error };
    rendered.map_err(|error| with_help(&names, RenderError::of(chart, &fault(error))))
}

/// Returns the running cycle's review: the next one if it is due, or else the last one, whose answer is owed.
fn review(names: &Names, cycle: &crate::chart::Cycle, outcome: &Outcome) -> Result<Ended, Fault> {
    let n = (names.count(cycle) + i64::from(names.is_due(cycle)?)).max(1);
    let invocation = Invocation {
        name: String::new(),
        cycle: cycle.id.clone(),
        n,
        file: names.file_name(cycle, &cycle.review, n)?,
        ..Invocation::default()
    };
    Ok(Ended::new(invocation, outcome.clone()))
}

/// Adds help: what the user can assume so that the template can be rendered.
fn with_help(names: &Names, error: RenderError) -> RenderError {
    let token = error.excerpt.as_ref().map_or("", |excerpt| excerpt.token()).to_owned();
    // Something that a replaceable prompt fills in has no place in a template.
    let is_about = |name: &str| match token.as_str() {
        "" => error.message.contains(name),
        token => token.contains(name),
    };
    let help = if is_about("gate.") && names.review().is_none() {
        Some("assume that one has failed with --set gate.output=TEXT".to_owned())
    } else if is_about("review.") && names.review().is_none() {
        Some(review_help(&names.chart))
    } else if is_about("cycle.") && names.running().is_none() {
        cycle_help(&names.chart)
    } else {
        let arg = token.split_once("args.").map(|(_, rest)| rest);
        arg.map(|arg| format!("give it with --set args.{arg}=VALUE"))
    };
    RenderError { help, ..error }
}

/// Returns the templates that `chart`, whose TOML is `toml`, uses, each with the names that it looks at.
pub(crate) fn templates(chart: &Chart, toml: &str) -> Vec<(String, Vec<String>)> {
    let uses = check::inspect(chart, &Document::parse(toml)).uses;
    let names = chart.templates.names().into_iter();
    let used = names.filter(|name| {
        uses.contains(&format!("template:{name}")) || chart.prompt_of(name).is_some()
    });
    used.map(|name| {
        let text = chart.templates.get(&name).ok().flatten();
        let mut needs = text.map_or_else(Vec::new, |text| Vec::from_iter(names_in(&text)));
        needs.sort();
        (name, needs)
    })
    .collect()
}
