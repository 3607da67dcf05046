//! Sets of files, and tables.

use super::resolver::{Resolver, name_fields};
use crate::chart::model::{FileSet, Source};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::{Segment, at};
use crate::files::pattern::HoleKind;

impl Resolver<'_> {
    /// Checks the sets of files.
    pub(super) fn files(&mut self, source: &Source) {
        for (name, files) in &source.files {
            for (index, pattern) in files.patterns().iter().enumerate() {
                let place = match files {
                    FileSet::Read(_) => at!["files", name, "names", index].to_vec(),
                    FileSet::Names(_) => at!["files", name, index].to_vec(),
                };
                self.own_holes(&place, pattern.pattern.holes(), &["name", "path", "lines"]);
            }
        }
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

    /// Checks the tables.
    pub(super) fn tables(&mut self, source: &Source) {
        // A table's file is found before any rule is tried, so its name can use only the context.
        let fields = name_fields(source);
        let taken = ["done", "path"];
        for (name, table) in &source.tables {
            match (&table.columns, &table.line) {
                (Some(columns), None) => {
                    for column in columns.keys().filter(|column| taken.contains(&column.as_str())) {
                        let message = format!("`{column}` shadows the row's own `it.{column}`");
                        let path = at!["tables", name, "columns", column];
                        self.flaw(Code::BadName, path, message, "rename the column");
                    }
                }
                (None, Some(line)) => {
                    self.own_holes(at!["tables", name, "line"], line.holes(), &taken);
                }
                (Some(_), Some(_)) => {
                    let message = format!("table `{name}` has both `columns` and `line`");
                    let help = "use `columns` for a Markdown table and `line` for any other file: remove one";
                    let path = at!["tables", name, "line"];
                    self.flaw(Code::ConflictingKeys, path, message, help);
                }
                (None, None) => {
                    let help = "write columns = { id = \"Id\" } for a Markdown table, or line = \"## {title}\" for lines";
                    let message = format!("table `{name}` needs either `columns` or `line`");
                    self.flaw(Code::MissingKey, at!["tables", name], message, help);
                }
            }
            let file = &table.file;
            self.name_pattern(at!["tables", name, "file"], &file.0, file, &fields);
            if let Some(path) = &table.path {
                self.name_pattern(at!["tables", name, "path"], &path.0, path, &table.fields());
            }
        }
    }
}
