//! Why there is no preview. An error in a template is shown at its place there.

use crate::chart::Chart;
use crate::diagnostic::excerpt::Excerpt;
use crate::engine::fault::Fault;

/// Why there is no preview.
#[derive(Debug)]
pub(crate) struct RenderError {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// The place in a template.
    pub(crate) excerpt: Option<Box<Excerpt>>,
}

impl RenderError {
    /// Returns an error that has no place in a template.
    pub(crate) fn new(message: impl Into<String>, help: Option<String>) -> Self {
        Self { message: message.into(), help, excerpt: None }
    }

    /// Returns the error for a failed expression or template of `chart`.
    pub(crate) fn of(chart: &Chart, fault: &Fault) -> Self {
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
        Self { message, help: None, excerpt: excerpt.map(Box::new) }
    }
}
