//! Previews a template. Nothing here writes, locks or starts a process.

use std::sync::Arc;

use crate::chart::Chart;
use crate::diagnostic::excerpt::Excerpt;
use crate::diagnostic::quote::quoted;
use crate::diagnostic::suggest::did_you_mean;
use crate::engine::decision::{Fired, Invocation};
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

/// Returns the template `name`, filled in from the state. If the user has replaced a prompt, it is the user's text.
pub(crate) fn template(
    chart: &Arc<Chart>,
    world: &Arc<dyn World>,
    event: &Event,
    name: &str,
) -> Result<String, RenderError> {
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
    let names = Names::new(chart, world, event);
    let text = match chart.prompt_of(name) {
        Some(prompt) => format!("{{{{ prompts['{prompt}'] }}}}"),
        None => format!("{{% include '{name}' %}}"),
    };
    // It is rendered outside its rule: what the guard of that would have ensured may be missing.
    let rendered = names.expressions.strict_text(&Text(text), &names.root());
    // Not `Fault::at`: a missing option is shown where the template uses it.
    let fault = |error| Fault::Expression { place: name.to_owned(), error };
    let help = "it is shown outside its rule, where what it is about may be missing: a running cycle, a review that has run";
    let help = Some(help.to_owned());
    rendered.map_err(|found| RenderError { help, ..error(chart, &fault(found)) })
}

/// Returns the place and the `about` of a rule.
pub(crate) fn in_words(chart: &Chart, rule: &Fired) -> String {
    match chart.about(&rule.place) {
        Some(about) => format!(" ({}: {about})", rule.place),
        None => format!(" ({})", rule.place),
    }
}

/// Returns the review's command as a shell line, without the prompt.
pub(crate) fn command(place: &Place, invocation: &Invocation) -> String {
    let shown = invocation.argv.len() - usize::from(prompt(invocation).is_some());
    let words = invocation.argv.iter().take(shown).map(|word| quoted(word));
    let words = words.chain(prompt(invocation).map(|_| "PROMPT".to_owned()));
    format!(
        "taskie: {} {} is due; the next stop runs this, which writes {}:\n  {}",
        invocation.cycle,
        invocation.n,
        place.instance.dir.join(&invocation.file).display(),
        words.collect::<Vec<_>>().join(" ")
    )
}

/// Returns the prompt of a reviewer: the last argument, if it is a text.
pub(crate) fn prompt(invocation: &Invocation) -> Option<&str> {
    let last = invocation.argv.last()?;
    last.contains(char::is_whitespace).then_some(last)
}

/// Returns the error for a failed expression or template, with its place there.
pub(crate) fn error(chart: &Chart, fault: &Fault) -> RenderError {
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
