//! Places in a TOML text: from the way to a value to the bytes where it stands.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// One step of the way to a value in a chart file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
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

/// Where the value at `path` stands in the TOML text; the nearest table above it where it is absent.
pub fn locate(text: &str, path: &[Step]) -> Option<Range<usize>> {
    Document::parse(text).locate(path)
}

/// The places of a TOML text, for who looks up more than one.
#[derive(Debug)]
pub struct Document<'t> {
    table: DeTable<'t>,
}

impl<'t> Document<'t> {
    /// Reads what can be read of the text.
    pub fn parse(text: &'t str) -> Self {
        Self {
            table: DeTable::parse_recoverable(text).0.into_inner(),
        }
    }

    /// Where the value at `path` stands; the nearest table above it where it is absent.
    pub fn locate(&self, path: &[Step]) -> Option<Range<usize>> {
        self.walk(path).0
    }

    /// Where the value at `path` stands; `None` where it is absent.
    pub fn locate_exactly(&self, path: &[Step]) -> Option<Range<usize>> {
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
