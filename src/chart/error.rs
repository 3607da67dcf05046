//! What is wrong with a chart file, each flaw at its place.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, SourceCode};
use toml::de::{DeTable, DeValue};

use super::excerpt::Excerpt;
use crate::lint::Code;

/// One step of the way to a value in a chart file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<&String> for Step {
    fn from(key: &String) -> Self {
        Self::Key(key.clone())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// One thing that is wrong with a chart file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// What kind of thing.
    pub(crate) code: Code,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do.
    pub(crate) help: Option<String>,
    /// Bytes of the file.
    pub(crate) span: Option<Range<usize>>,
    /// The template file it stands in; `None`: the chart.
    pub(crate) file: Option<Arc<SourceFile>>,
    /// The element of the chart that it is about, where a rule of the linter says so.
    pub(crate) path: Vec<Step>,
    /// More to read: the story that refutes a property.
    pub(crate) note: Option<String>,
}

/// A file other than the chart, as findings show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Flaw {
    /// A flaw of the chart file, with neither help nor place yet.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: None,
            span: None,
            file: None,
            path: Vec::new(),
            note: None,
        }
    }

    /// The same with what to do.
    pub(crate) fn help(self, help: impl Into<Option<String>>) -> Self {
        Self {
            help: help.into(),
            ..self
        }
    }

    /// The same at this place.
    pub(crate) fn at(self, span: Option<Range<usize>>) -> Self {
        Self { span, ..self }
    }

    /// The file it stands in and that file's text, the chart's being these.
    pub(crate) fn source<'a>(&'a self, origin: &'a str, text: &'a str) -> (&'a str, &'a str) {
        self.file
            .as_ref()
            .map_or((origin, text), |file| (&file.name, &file.text))
    }

    /// Line and column, both from 1, in that file; the first line where no place is known.
    pub(crate) fn position(&self, text: &str) -> (usize, usize) {
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
pub(crate) struct ChartError {
    /// The file.
    pub(crate) origin: String,
    /// Its text; empty where it could not be read.
    pub(crate) text: String,
    /// In the order of the file.
    pub(crate) flaws: Vec<Flaw>,
}

impl ChartError {
    /// A file that cannot be read at all.
    pub(crate) fn unreadable(origin: &str, message: String) -> Self {
        let flaw = Flaw::new(Code::Unreadable, message);
        Self {
            origin: origin.to_owned(),
            text: String::new(),
            flaws: vec![flaw],
        }
    }

    /// Each flaw as miette shows it.
    pub(crate) fn reports(&self) -> impl Iterator<Item = FlawReport> {
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
pub(crate) struct FlawReport {
    flaw: Flaw,
    excerpt: Option<Excerpt>,
}

impl FlawReport {
    /// More to read than what is reported: the story that refutes a property.
    pub(crate) fn note(&self) -> Option<&str> {
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

/// Where the value at `path` stands in the TOML text; the nearest table above it where it is absent.
pub(crate) fn locate(text: &str, path: &[Step]) -> Option<Range<usize>> {
    Document::parse(text).locate(path)
}

/// The places of a TOML text, for who looks up more than one.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    table: DeTable<'t>,
}

impl<'t> Document<'t> {
    /// Reads what can be read of the text.
    pub(crate) fn parse(text: &'t str) -> Self {
        Self {
            table: DeTable::parse_recoverable(text).0.into_inner(),
        }
    }

    /// Where the value at `path` stands; the nearest table above it where it is absent.
    pub(crate) fn locate(&self, path: &[Step]) -> Option<Range<usize>> {
        self.walk(path).0
    }

    /// Where the value at `path` stands; `None` where it is absent.
    pub(crate) fn locate_exactly(&self, path: &[Step]) -> Option<Range<usize>> {
        let (span, found) = self.walk(path);
        span.filter(|_| found == path.len())
    }

    /// Goes as far along `path` as the text does: where that is, and after how many steps.
    fn walk(&self, path: &[Step]) -> (Option<Range<usize>>, usize) {
        let mut table: Option<&DeTable<'_>> = Some(&self.table);
        let mut value: Option<&DeValue<'_>> = None;
        let mut span = None;
        for (index, step) in path.iter().enumerate() {
            let next = match (step, table, value) {
                (Step::Key(key), Some(table), _) => table
                    .get_key_value(key.as_str())
                    .map(|(key, value)| (key.span(), value)),
                (Step::Index(index), _, Some(DeValue::Array(items))) => {
                    items.get(*index).map(|item| (item.span(), item))
                }
                _ => None,
            };
            let Some((key_span, found)) = next else {
                return (span, index);
            };
            let is_container = matches!(found.get_ref(), DeValue::Table(_) | DeValue::Array(_));
            span = Some(if is_container && matches!(step, Step::Key(_)) {
                key_span
            } else {
                found.span()
            });
            value = Some(found.get_ref());
            table = found.get_ref().as_table();
        }
        (span, path.len())
    }
}
