//! Sets of files, and tables.

use super::resolver::{Resolver, name_fields};
use crate::chart::model::{Files, LineText, Source, Table as TableSource};
use crate::chart::{FileSet, RowShape, Table};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::{Segment, at};
use crate::files::pattern::{HoleKind, LinePattern, Pattern};
use crate::hash::IndexMap;

impl Resolver<'_> {
    pub(super) fn files(&mut self, source: &Source) -> IndexMap<String, FileSet> {
        let mut sets = IndexMap::default();
        for (name, files) in &source.files {
            let (patterns, line) = match files {
                Files::Names(names) => (names, None),
                Files::Read(read) => (&read.names, Some(&read.line)),
            };
            let place = |index: usize| match line {
                Some(_) => at!["files", name, "names", index].to_vec(),
                None => at!["files", name, index].to_vec(),
            };
            let line = line.and_then(|line| self.line(at!["files", name, "line"], line));
            let mut set = FileSet { with: Vec::new(), without: Vec::new(), line };
            for (index, pattern) in patterns.iter().enumerate() {
                let (into, text) = match pattern.0.strip_prefix('!') {
                    Some(rest) => (&mut set.without, rest),
                    None => (&mut set.with, pattern.0.as_str()),
                };
                match Pattern::parse(text) {
                    Ok(pattern) => {
                        self.own_holes(&place(index), pattern.holes(), &["name", "path", "lines"]);
                        into.push(pattern);
                    }
                    Err(message) => self.flaw(Code::BadPattern, &place(index), message, ""),
                }
            }
            sets.insert(name.clone(), set);
        }
        sets
    }

    fn line(&mut self, path: &[Segment], source: &LineText) -> Option<LinePattern> {
        LinePattern::parse(&source.0)
            .map_err(|message| self.flaw(Code::BadPattern, path, message, ""))
            .ok()
    }

    /// Checks that no hole has the name of a field that every item has.
    fn own_holes<'h>(
        &mut self,
        path: &[Segment],
        holes: impl Iterator<Item = (&'h str, &'h HoleKind)>,
        taken: &[&str],
    ) {
        for (hole, _) in holes {
            if taken.contains(&hole) {
                let message = format!("`{{{hole}}}` shadows the item's own `it.{hole}`");
                let help = "rename the hole";
                self.flaw(Code::BadName, path, message, help);
            }
        }
    }

    /// Returns the tables that could be resolved, and the names of the others.
    pub(super) fn tables(&mut self, source: &Source) -> (IndexMap<String, Table>, Vec<String>) {
        let (mut tables, mut broken) = (IndexMap::default(), Vec::new());
        for (name, table) in &source.tables {
            match self.table(name, table, source) {
                Some(table) => {
                    tables.insert(name.clone(), table);
                }
                None => broken.push(name.clone()),
            }
        }
        (tables, broken)
    }

    fn table(&mut self, name: &str, table: &TableSource, source: &Source) -> Option<Table> {
        let rows = match (&table.columns, &table.line) {
            (Some(columns), None) => RowShape::Columns(
                columns.iter().map(|(field, headings)| (field.clone(), headings.list())).collect(),
            ),
            (None, Some(line)) => RowShape::Line(self.line(at!["tables", name, "line"], line)?),
            (Some(_), Some(_)) => {
                let message = format!("table `{name}` has both `columns` and `line`");
                let help =
                    "use `columns` for a Markdown table and `line` for any other file: remove one";
                let path = at!["tables", name, "line"];
                self.flaw(Code::ConflictingKeys, path, message, help);
                return None;
            }
            (None, None) => {
                let help = "write columns = { id = \"Id\" } for a Markdown table, or line = \"## {title}\" for lines";
                let message = format!("table `{name}` needs either `columns` or `line`");
                self.flaw(Code::MissingKey, at!["tables", name], message, help);
                return None;
            }
        };
        let taken = ["done", "path"];
        match &rows {
            RowShape::Columns(columns) => {
                for column in columns.keys().filter(|column| taken.contains(&column.as_str())) {
                    let message = format!("`{column}` shadows the row's own `it.{column}`");
                    let help = "rename the column";
                    let path = at!["tables", name, "columns", column];
                    self.flaw(Code::BadName, path, message, help);
                }
            }
            RowShape::Line(line) => {
                self.own_holes(at!["tables", name, "line"], line.holes(), &taken);
            }
        }
        // A table's file is found before any rule is tried, so its name can use only the context.
        let fields = name_fields(source);
        let file = &table.file;
        self.name_pattern(at!["tables", name, "file"], &file.0, file, &fields);
        if let Some(path) = &table.path {
            self.name_pattern(at!["tables", name, "path"], &path.0, path, &rows.fields());
        }
        let finished = table.finished.clone();
        let path = table.path.as_deref().cloned();
        Some(Table { file: Pattern::clone(file), rows, path, finished })
    }
}
