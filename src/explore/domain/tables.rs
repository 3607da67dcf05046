//! The rows that a table can have.

use super::{Values, fresh};
use crate::chart::{RowShape, Table};
use crate::explore::dependence::{LENGTH, root_of};
use crate::explore::items::{self, Tried};
use crate::files::pattern::{HoleKind, LinePattern, is_slug};
use crate::files::table::is_finished;
use crate::hash::IndexMap;
use indexmap::IndexSet;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

impl Values<'_> {
    /// Returns what the rows of a table can be, by column.
    fn columns(&self, name: &str, table: &Table) -> IndexMap<String, Vec<Json>> {
        let mut columns: IndexMap<String, Vec<Json>> = IndexMap::default();
        let path = |column: &str| format!("tables.{name}.rows.{column}");
        match &table.rows {
            RowShape::Columns(own) => {
                let own = own.keys();
                columns.extend(own.map(|own| (own.clone(), self.texts(&path(own)))));
            }
            RowShape::Line(line) => {
                columns = self.line_holes(&format!("tables.{name}.rows"), line);
            }
        }
        if let Some(ids) = columns.get_mut("id") {
            ids.retain(|id| id.as_str().is_some_and(is_slug));
        }
        if let (Some(status), Some(word)) = (columns.get_mut("status"), table.finished.first()) {
            // A status says first of all whether the row is finished.
            let is_done = |text: &str| is_finished(text, &table.finished);
            let mut open = std::iter::once("open".to_owned()).chain(fresh());
            let open = open.find(|text| !is_done(text)).into_iter();
            let known = self.known_texts(&path("status"));
            let words: IndexSet<String> = open.chain([word.clone()]).chain(known).collect();
            *status = words.into_iter().map(Json::from).collect();
        }
        columns
    }

    /// Returns the lists of rows.
    pub(super) fn rows(&self, name: &str, table: &Table) -> Tried<Json> {
        let mut rows = items::product(&self.columns(name, table));
        for row in &mut rows.values {
            let text = |key: &str| row.get(key).and_then(Json::as_str).map(str::to_owned);
            let done = text("status").is_some_and(|status| is_finished(&status, &table.finished));
            let path = table.path.as_ref();
            let path = path.and_then(|path| path.render(|hole| text(hole).ok_or(())).ok());
            row.insert("done".to_owned(), json!(done));
            row.insert("path".to_owned(), json!(path));
        }
        self.lists(&format!("tables.{name}.rows"), &rows)
    }

    /// Returns the lists of these items that make a difference.
    pub(super) fn lists(&self, path: &str, kinds: &Tried<Map<String, Json>>) -> Tried<Json> {
        let mut compared = self.compared(path).clone();
        compared.items |= path.starts_with("tables.");
        let mut counts = self.lengths(path);
        counts.extend(self.counted_by_checks(path));
        items::lists(kinds, &compared, &counts)
    }

    /// Returns how long a list can be: on both sides of each number that its length is compared with.
    pub(super) fn lengths(&self, path: &str) -> Vec<usize> {
        let path = format!("{path}.{LENGTH}");
        let is_asked = self.is_compared(&path) || !self.more.is_empty();
        let sizes = is_asked.then(|| self.integers(&path, Some(0), 0));
        let sizes = sizes.iter().flatten().filter_map(Json::as_u64);
        let sizes = sizes.filter_map(|size| usize::try_from(size).ok());
        sizes.collect()
    }

    /// Returns the numbers of items that make a difference because checks of them are counted.
    fn counted_by_checks(&self, path: &str) -> BTreeSet<usize> {
        let counted = self.chart.checks.iter().filter(|(name, checks)| {
            let each = checks.iter().filter_map(|check| check.each.as_ref());
            let mut open = each.filter_map(|each| self.open(&each.0));
            self.is_compared(&format!("checks.{name}.{LENGTH}"))
                && open.any(|open| open.looks.contains(root_of(path)))
        });
        counted.flat_map(|(name, _)| self.findings(name)).collect()
    }

    /// Returns what the holes of a line can be.
    pub(super) fn line_holes(&self, path: &str, line: &LinePattern) -> IndexMap<String, Vec<Json>> {
        let values = |(hole, kind): (&str, &HoleKind)| {
            let path = format!("{path}.{hole}");
            let values = match kind {
                // Numbers, too, are texts there.
                HoleKind::Integer => {
                    let known = self.known_texts(&path).into_iter();
                    let is_number = |text: &String| {
                        text.parse::<u64>().map(|it| it.to_string()).as_ref() == Ok(text)
                    };
                    let numbers = self.hole(&path, kind).into_iter();
                    let numbers = numbers.map(|number| number.to_string());
                    let all = numbers.chain(known.filter(is_number));
                    all.map(Json::from).collect()
                }
                _ => self.hole(&path, kind),
            };
            (hole.to_owned(), values)
        };
        line.holes().map(values).collect()
    }

    /// Returns what a hole can be.
    pub(super) fn hole(&self, path: &str, kind: &HoleKind) -> Vec<Json> {
        match kind {
            HoleKind::Text | HoleKind::Slug => self.texts(path),
            HoleKind::Integer => self.integers(path, Some(0), 1),
            HoleKind::OneOf(words) => words.iter().map(|word| json!(word)).collect(),
        }
    }
}
