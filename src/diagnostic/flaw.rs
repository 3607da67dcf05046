//! Flaws: what is wrong with a chart file, each at its place.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{MietteDiagnostic, Report};

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
    /// Its place: bytes of the file.
    pub span: Option<Range<usize>>,
    /// The template that it is in; `None` if it is in the chart.
    pub file: Option<Arc<SourceFile>>,
    /// More to read: the counterexample that refutes a property.
    pub note: Option<String>,
}

/// Returns the flaws in the order of the file, those of templates last, and each once: several tables may have been made
/// from the one that has a flaw.
pub fn in_order(flaws: impl IntoIterator<Item = Flaw>) -> Vec<Flaw> {
    let mut unique: Vec<Flaw> = Vec::new();
    for flaw in flaws {
        if !unique.contains(&flaw) {
            unique.push(flaw);
        }
    }
    let start = |flaw: &Flaw| flaw.span.as_ref().map(|span| span.start);
    unique.sort_by_key(|flaw| (flaw.file.is_some(), start(flaw)));
    unique
}

/// A file other than the chart, as findings show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
}

impl Flaw {
    /// Returns a flaw of the chart file without help or place. Text that the message quotes may come from anywhere,
    /// so it is escaped.
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

    /// Adds what to do.
    pub fn help(self, help: impl Into<Option<String>>) -> Self {
        Self { help: help.into().map(|help| shown_lines(&help).into_owned()), ..self }
    }

    /// Adds the place.
    pub fn at(self, span: Option<Range<usize>>) -> Self {
        Self { span, ..self }
    }

    /// Returns the name and the text of the flaw's file; `origin` and `text` are the chart's.
    pub fn source<'a>(&'a self, origin: &'a str, text: &'a str) -> (&'a str, &'a str) {
        self.file.as_ref().map_or((origin, text), |file| (&file.name, &file.text))
    }

    /// Returns line and column in that file, both from 1; without a place, the first line.
    pub fn position(&self, text: &str) -> (usize, usize) {
        self.region(text)[0]
    }

    /// Returns where it starts and ends in that file: lines and columns.
    pub fn region(&self, text: &str) -> [(usize, usize); 2] {
        let span = self.span.clone().unwrap_or_default();
        [span.start, span.end.max(span.start)].map(|at| {
            let before = text.get(..at).unwrap_or_default();
            let line = before.rsplit('\n').next().unwrap_or_default();
            (before.matches('\n').count() + 1, line.chars().count() + 1)
        })
    }
}

/// A chart file that cannot be used, and everything that is wrong with it.
#[derive(Debug)]
pub struct ChartError {
    /// The file.
    pub origin: String,
    /// Its text; empty if it could not be read.
    pub text: String,
    /// In the order of the file.
    pub flaws: Vec<Flaw>,
}

impl ChartError {
    /// Returns the error for the flaws of a file.
    pub fn new(origin: &str, text: &str, flaws: Vec<Flaw>) -> Self {
        Self { origin: origin.to_owned(), text: text.to_owned(), flaws }
    }

    /// Returns the error for a file that cannot be read at all.
    pub fn unreadable(origin: &str, message: String) -> Self {
        Self::new(origin, "", vec![Flaw::new(Code::Unreadable, message)])
    }

    /// Returns each flaw as a report for a person.
    pub fn reports(&self) -> impl Iterator<Item = Report> {
        self.flaws.iter().map(|flaw| {
            let (name, text) = flaw.source(&self.origin, &self.text);
            let message = match flaw.span {
                Some(_) => flaw.message.clone(),
                // Without an excerpt, nothing else names the file.
                None => format!("{name}: {}", flaw.message),
            };
            let mut diagnostic = MietteDiagnostic::new(message).with_code(flaw.code.as_str());
            diagnostic.help = flaw.help.clone();
            let place = flaw.span.clone();
            let excerpt =
                place.and_then(|place| Excerpt::new(name.to_owned(), text.to_owned(), place));
            match excerpt {
                Some(excerpt) => excerpt.report(diagnostic),
                None => Report::new(diagnostic),
            }
        })
    }
}

impl fmt::Display for ChartError {
    /// Writes one line, for hooks and logs.
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
