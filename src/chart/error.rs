//! What is wrong with a chart file, each flaw at its place.

use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use toml::de::{DeTable, DeValue};

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
    /// What is wrong.
    pub(crate) message: String,
    /// What to do.
    pub(crate) help: Option<String>,
    /// Bytes of the file.
    pub(crate) span: Option<Range<usize>>,
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
        let flaw = Flaw { message, help: None, span: None };
        Self { origin: origin.to_owned(), text: String::new(), flaws: vec![flaw] }
    }

    /// Each flaw as miette shows it.
    pub(crate) fn reports(&self) -> impl Iterator<Item = FlawReport> {
        self.flaws.iter().map(|flaw| FlawReport {
            flaw: flaw.clone(),
            source: NamedSource::new(&self.origin, self.text.clone()),
        })
    }
}

impl fmt::Display for ChartError {
    /// One line: where hooks and logs have no room for a snippet.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.flaws.first() else {
            return write!(out, "{}: cannot be used", self.origin);
        };
        write!(out, "{}", self.origin)?;
        if let Some(span) = &first.span {
            let before = self.text.get(..span.start).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
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
    source: NamedSource<String>,
}

impl fmt::Display for FlawReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.flaw.message)
    }
}

impl std::error::Error for FlawReport {}

impl Diagnostic for FlawReport {
    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.flaw.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.flaw.span.clone()?;
        Some(Box::new(std::iter::once(LabeledSpan::underline(span))))
    }
}

/// Where the value at `path` stands in the TOML text; the nearest table above it where it is absent.
pub(crate) fn locate(text: &str, path: &[Step]) -> Option<Range<usize>> {
    walk(text, path).0
}

/// Where the value at `path` stands in the TOML text; `None` where it is absent.
pub(crate) fn locate_exactly(text: &str, path: &[Step]) -> Option<Range<usize>> {
    let (span, found) = walk(text, path);
    span.filter(|_| found == path.len())
}

/// Goes as far along `path` as the TOML text does: where that is, and after how many steps.
fn walk(text: &str, path: &[Step]) -> (Option<Range<usize>>, usize) {
    let (table, _) = DeTable::parse_recoverable(text);
    let mut table: Option<&DeTable<'_>> = Some(table.get_ref());
    let mut value: Option<&DeValue<'_>> = None;
    let mut span = None;
    for (index, step) in path.iter().enumerate() {
        let next = match (step, table, value) {
            (Step::Key(key), Some(table), _) => {
                table.get_key_value(key.as_str()).map(|(key, value)| (key.span(), value))
            }
            (Step::Index(index), _, Some(DeValue::Array(items))) => {
                items.get(*index).map(|item| (item.span(), item))
            }
            _ => None,
        };
        let Some((key_span, found)) = next else { return (span, index) };
        let is_container = matches!(found.get_ref(), DeValue::Table(_) | DeValue::Array(_));
        span = Some(if is_container && matches!(step, Step::Key(_)) { key_span } else { found.span() });
        value = Some(found.get_ref());
        table = found.get_ref().as_table();
    }
    (span, path.len())
}
