//! Previews the next stop with the same `decide` as the hook, or one template. Nothing here writes, locks or starts a process.

use std::sync::Arc;

use crate::chart::Chart;
use crate::diagnostic::excerpt::Excerpt;
use crate::diagnostic::suggest::did_you_mean;
use crate::engine::decide::decide;
use crate::engine::decision::{Ended, Outcome, Step};
use crate::engine::event::Event;
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::engine::world::World;
use crate::expr::source::Text;
use crate::run::place::Place;

/// Why there is no preview.
#[derive(Debug)]
pub(crate) struct RenderError {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// The place in a template.
    pub(crate) excerpt: Option<Box<Excerpt>>,
}

/// What a preview is based on.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) chart: &'a Arc<Chart>,
    pub(crate) world: Arc<dyn World>,
    /// A stop of the agent.
    pub(crate) event: Event,
}

/// Returns what the hook would do at `place`.
pub(crate) fn next(place: &Place, scene: &Scene<'_>) -> Result<Step, RenderError> {
    let chart = scene.chart;
    let decided = |ended| {
        let step = decide(chart, &scene.world, &scene.event, ended);
        step.map_err(|fault| error(chart, &fault))
    };
    let invocation = match decided(None)? {
        done @ Step::Done(_) => return Ok(done),
        Step::Invoke(invocation) => invocation,
    };
    match place.obstacle(&scene.world, &scene.event, &invocation) {
        Some(why) => decided(Some(Ended::new(*invocation, Outcome::Failed(why)))),
        None => Ok(Step::Invoke(invocation)),
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
        let help = did_you_mean(name, names.iter().map(String::as_str))
            .unwrap_or_else(|| format!("the templates are {}", names.join(", ")));
        let message = format!("unknown template `{}`", name.escape_debug());
        return Err(RenderError { message, help: Some(help), excerpt: None });
    }
    let names = Names::new(chart, &scene.world, &scene.event);
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
    rendered.map_err(|found| error(chart, &fault(found)))
}

/// Returns the error for a failed expression or template, with its place there.
fn error(chart: &Chart, fault: &Fault) -> RenderError {
    let excerpt = match fault {
        Fault::Expression { error, .. } if error.line.is_some() => {
            let template = chart.templates.get(&error.source).ok().flatten();
            template.and_then(|text| {
                let place = error.span.clone().unwrap_or(0..text.len());
                Excerpt::new(chart.templates.shown(&error.source), text.into_owned(), place)
            })
        }
        _ => None,
    };
    let message = match (fault, &excerpt) {
        (Fault::Expression { error, .. }, Some(_)) => error.detail.clone(),
        _ => fault.to_string(),
    };
    RenderError { message, help: None, excerpt: excerpt.map(Box::new) }
}
