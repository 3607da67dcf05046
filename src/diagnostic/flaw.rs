//! What is wrong with a chart file, each flaw at its place.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, SourceCode};

use super::code::Code;
use super::excerpt::Excerpt;
use crate::text::shown_lines;

/// One thing that is wrong with a chart file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// What kind of thing.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Bytes of the file.
    pub span: Option<Range<usize>>,
    /// The template file it stands in; `None`: the chart.
    pub file: Option<Arc<SourceFile>>,
    /// More to read: the counterexample that refutes a property.
    pub note: Option<String>,
}

/// A file other than the chart, as findings show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
}

impl Flaw {
    /// A flaw of the chart file, with neither help nor place yet. What the message quotes may come from anywhere.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: shown_lines(&message.into()).into_owned(),
            help: None,
            span: None,
            file: None,
            note: None,
        }
    }

    /// The same with what to do.
    pub fn help(self, help: impl Into<Option<String>>) -> Self {
        Self {
            help: help.into().map(|help| shown_lines(&help).into_owned()),
            ..self
        }
    }

    /// The same at this place.
    pub fn at(self, span: Option<Range<usize>>) -> Self {
        Self { span, ..self }
    }

    /// The file it stands in and that file's text, the chart's being these.
    pub fn source<'a>(&'a self, origin: &'a str, text: &'a str) -> (&'a str, &'a str) {
        self.file
            .as_ref()
            .map_or((origin, text), |file| (&file.name, &file.text))
    }

    /// Line and column, both from 1, in that file; the first line where no place is known.
    pub fn position(&self, text: &str) -> (usize, usize) {
        let start = self.span.as_ref().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or_default();
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        (before.matches('\n').count() + 1, column)
    }
}

/// A chart file that cannot be used, and everything that is wrong with it.
#[derive(Debug)]
pub struct ChartError {
    /// The file.
    pub origin: String,
    /// Its text; empty where it could not be read.
    pub text: String,
    /// In the order of the file.
    pub flaws: Vec<Flaw>,
}

impl ChartError {
    /// A file that cannot be read at all.
    pub fn unreadable(origin: &str, message: String) -> Self {
        let flaw = Flaw::new(Code::Unreadable, message);
        Self {
            origin: origin.to_owned(),
            text: String::new(),
            flaws: vec![flaw],
        }
    }

    /// Each flaw as miette shows it.
    pub fn reports(&self) -> impl Iterator<Item = FlawReport> {
        self.flaws.iter().map(|flaw| {
            let (name, text) = flaw.source(&self.origin, &self.text);
            let excerpt = flaw
                .span
                .clone()
                .and_then(|span| Excerpt::new(name.to_owned(), text.to_owned(), span));
            let flaw = match flaw.span {
                Some(_) => flaw.clone(),
                // Without a snippet nothing else names the file.
                None => Flaw {
                    message: format!("{name}: {}", flaw.message),
                    ..flaw.clone()
                },
            };
            FlawReport { flaw, excerpt }
        })
    }
}

impl fmt::Display for ChartError {
    /// One line: where hooks and logs have no room for a snippet.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.flaws.first() else {
            return write!(out, "{}: cannot be used", self.origin);
        };
        let (file, text) = first.source(&self.origin, &self.text);
        write!(out, "{file}")?;
        if first.span.is_some() {
            let (line, column) = first.position(text);
            write!(out, ":{line}:{column}")?;
        }
        write!(out, ": {}", first.message)?;
        if let Some(help) = &first.help {
            write!(out, " ({help})")?;
        }
        match self.flaws.len() - 1 {
            0 => Ok(()),
            more => write!(out, ", and {more} more"),
        }
    }
}

impl std::error::Error for ChartError {}

/// One flaw with its snippet.
#[derive(Debug)]
pub struct FlawReport {
    flaw: Flaw,
    excerpt: Option<Excerpt>,
}

impl FlawReport {
    /// More to read than what is reported: the counterexample that refutes a property.
    pub fn note(&self) -> Option<&str> {
        self.flaw.note.as_deref()
    }
}

impl fmt::Display for FlawReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.flaw.message)
    }
}

impl std::error::Error for FlawReport {}

impl Diagnostic for FlawReport {
    fn code(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(self.flaw.code))
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        let help = self.flaw.help.as_ref()?;
        Some(Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt
            .as_ref()
            .map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.excerpt.as_ref()?.place();
        Some(Box::new(std::iter::once(LabeledSpan::underline(place))))
    }
}
