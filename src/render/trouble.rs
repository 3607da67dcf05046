//! Why nothing could be rendered, shown where it is: in the chart, or in a template.

use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, SourceCode};

use crate::chart::Chart;
use crate::diagnostic::excerpt::Excerpt;
use crate::diagnostic::toml::{Document, Step, steps, token};
use crate::engine::fault::Fault;

/// Why nothing could be rendered.
#[derive(Debug)]
pub(crate) struct Trouble {
    message: String,
    help: Option<String>,
    excerpt: Option<Box<Excerpt>>,
}

impl Trouble {
    /// Something that stands in no file.
    pub(crate) fn new(message: impl Into<String>, help: impl Into<Option<String>>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
            excerpt: None,
        }
    }

    /// What went wrong in an expression or a text of `chart`, whose TOML is `toml`.
    pub(crate) fn of(chart: &Chart, toml: &str, fault: &Fault) -> Self {
        let Fault::Expression {
            place: outer,
            error,
        } = fault
        else {
            return Self::new(fault.to_string(), None);
        };
        // What went wrong in a let is shown there, not where a text names the let.
        let (mut place, mut error) = (outer, error);
        while let Some(Fault::Expression {
            place: inner,
            error: cause,
        }) = error.cause.as_ref().and_then(|cause| cause.downcast_ref())
        {
            (place, error) = (inner, cause);
        }
        let in_template = error.line.and_then(|_| {
            Some((
                error.source.as_str(),
                chart.templates.get(&error.source).ok()??,
            ))
        });
        let excerpt = match in_template {
            Some((name, text)) => {
                let place = error.span.clone().unwrap_or(0..text.len());
                Excerpt::new(chart.templates.shown(name), text.into_owned(), place)
            }
            None => {
                let place = written(chart, toml, place).map(|value| {
                    let span = error.span.as_ref();
                    let token = span.and_then(|span| token(toml, &value, &error.source, span));
                    token.unwrap_or(value)
                });
                place.and_then(|place| Excerpt::new(chart.origin.clone(), toml.to_owned(), place))
            }
        };
        let message = if excerpt.is_some() {
            error.detail.clone()
        } else {
            fault.to_string()
        };
        Self {
            message,
            help: (place != outer).then(|| format!("`{outer}` looks at this")),
            excerpt: excerpt.map(Box::new),
        }
    }

    /// Adds what to do, made from what it says and the token that it is about.
    pub(crate) fn with_help(self, help: impl FnOnce(&str, &str) -> Option<String>) -> Self {
        let token = self.excerpt.as_ref().map_or("", |excerpt| excerpt.token());
        Self {
            help: help(&self.message, token).or(self.help),
            ..self
        }
    }

    /// True where it is shown with a piece of the file.
    pub(crate) fn has_place(&self) -> bool {
        self.excerpt.is_some()
    }

    pub(crate) fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Trouble {}

impl Diagnostic for Trouble {
    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt
            .as_ref()
            .map(|excerpt| &**excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.excerpt.as_ref()?.place();
        Some(Box::new(std::iter::once(LabeledSpan::underline(place))))
    }
}

/// Where the value at `place` (`on.Stop[5].block`, `phases.post-plan-review.else`) is written in the chart. What a
/// cycle does not say itself is written where all of them share it, and a phase that was made from a hole with it.
fn written(chart: &Chart, toml: &str, place: &str) -> Option<Range<usize>> {
    let document = Document::parse(toml);
    let steps = steps(place)?;
    let shared = match steps.as_slice() {
        [Step::Key(table), Step::Key(_), rest @ ..] if table == "cycles" => {
            [&[Step::from("cycle")], rest].concat()
        }
        [Step::Key(table), Step::Key(phase), rest @ ..] if table == "phases" => {
            let key = &chart.phases.get(phase)?.key;
            [&[Step::from(table), Step::from(key)], rest].concat()
        }
        _ => Vec::new(),
    };
    document.locate_exactly(&steps).or_else(|| {
        document
            .locate_exactly(&shared)
            .filter(|_| !shared.is_empty())
    })
}
