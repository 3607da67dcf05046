//! A table that is made up while a decision looks at it.

use super::ImaginedWorld;
use crate::chart::RowShape;
use crate::chart::field::name_part;
use crate::engine::context::to_value;
use crate::explore::answer::Answer;
use crate::explore::domain::Choice;
use minijinja::value::{Enumerator, Object, Value};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// A table whose content is chosen field by field, so that only what is looked at forks.
#[derive(Debug)]
pub(super) struct TableView {
    pub(super) fork: ImaginedWorld,
    pub(super) name: String,
}

impl TableView {
    /// Returns false where the file's name has a hole that no context field fills.
    fn has_file(&self) -> bool {
        let part = |hole: &str| name_part(&self.fork.read(hole)).ok_or(());
        let table = self.fork.domain.chart.tables.get(&self.name);
        table.is_some_and(|table| table.file.render(part).is_ok())
    }

    /// Returns false where no table can lack a column for the id.
    fn has_id(&self) -> bool {
        let table = self.fork.domain.chart.tables.get(&self.name);
        let rows = table.map(|table| &table.rows);
        matches!(rows, Some(RowShape::Columns(columns)) if columns.contains_key("id"))
    }

    /// Returns the rows; none where there is no file.
    fn rows(&self) -> Vec<Json> {
        if !self.has_file() {
            return Vec::new();
        }
        let rows = self.fork.choose(Choice::Rows(self.name.clone()));
        rows.value().as_array().cloned().unwrap_or_default()
    }

    /// Asks for something else that a table has.
    fn content(&self, key: &'static str) -> Arc<Answer> {
        self.fork.choose(Choice::Content { table: self.name.clone(), key })
    }

    /// Returns whether a table has that.
    fn has(&self, key: &'static str) -> bool {
        *self.content(key) == true.into()
    }

    /// Returns whether there is a header.
    fn has_head(&self) -> bool {
        !self.rows().is_empty() || self.exists() && self.has("head")
    }

    /// Returns whether the file exists.
    fn exists(&self) -> bool {
        !self.rows().is_empty() || self.has_file() && self.has("exists")
    }
}

impl Object for TableView {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let value = match key {
            "rows" => Json::Array(self.rows()),
            "open" => {
                let mut rows = self.rows();
                rows.retain(|row| row.get("done") == Some(&json!(false)));
                Json::Array(rows)
            }
            "exists" => json!(self.exists()),
            // A row stands below a header, and takes a line.
            "head" => json!(self.has_head()),
            "prose" => json!(self.exists() && self.has("prose")),
            "lacks" => json!(self.has_id() && self.exists() && self.has("lacks")),
            // A row without an id that can be used is none of the rows; that it counts as open is not tried.
            "unusable" => json!(self.has_id() && self.has_head() && self.has("unusable")),
            "lines" => {
                let rows = i64::try_from(self.rows().len()).unwrap_or(i64::MAX);
                let lines = self.exists().then(|| self.content("lines"));
                let lines = lines.and_then(|lines| lines.value().as_i64());
                json!(lines.unwrap_or(0).max(rows))
            }
            _ => return None,
        };
        Some(to_value(&value))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&["exists"])
    }
}
