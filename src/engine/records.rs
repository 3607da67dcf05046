//! Files as values for expressions: the records of a set of files, the rows of a table.
//!
//! Nothing is read here: the shell passes what is on the disk, and the model checker what could be there.

use std::path::Path;

use minijinja::value::Value;

use crate::chart::{FileSet, RowShape, Table};
use crate::files::pattern::{Capture, is_slug};
use crate::files::table::{self, Content, Row};

/// Returns the records of the files of a set among `names`, which are those in `dir`. `text` reads one of them.
pub fn files(set: &FileSet, dir: &Path, names: &[String], text: impl Fn(&str) -> Vec<u8>) -> Value {
    let file = |name: &String| {
        let captures = set.matches(name)?;
        // A control character in a name must not change the message that contains it.
        let shown: String = if name.chars().any(char::is_control) {
            name.escape_debug().to_string()
        } else {
            name.clone()
        };
        let path = format!("{}/{name}", dir.to_string_lossy());
        let fixed = [("name", Value::from(shown)), ("path", Value::from(path))];
        let captured = captures.into_iter().map(|(hole, capture)| {
            let value = match capture {
                Capture::Text(text) => Value::from(text),
                Capture::Integer(number) => Value::from(number),
            };
            (hole, value)
        });
        let lines = set.line.as_ref().map(|line| {
            let content = table::read_lines(&String::from_utf8_lossy(&text(name)), line);
            let records: Vec<Value> = content.rows.iter().map(record).collect();
            ("lines", Value::from(records))
        });
        Some(Value::from_pairs(
            fixed.into_iter().chain(captured).chain(lines),
        ))
    };
    names.iter().filter_map(file).collect::<Vec<_>>().into()
}

fn record(row: &Row) -> Value {
    let fields = row.fields.iter();
    Value::from_pairs(fields.map(|(name, value)| (name.as_str(), Value::from(value.as_str()))))
}

/// Returns a table as a record: its rows, and other facts about its file. If nobody knows which rows there are,
/// `undecided` stands for them.
pub fn table(table: &Table, content: &Content, undecided: Option<&Value>) -> Value {
    let mut open = Vec::new();
    let row = |row: &Row| {
        let field = |name: &str| {
            let mut fields = row.fields.iter();
            fields
                .find(|(field, _)| field == name)
                .map(|(_, value)| value.as_str())
        };
        let done =
            field("status").is_some_and(|status| table::is_finished(status, &table.finished));
        let path = table.path.as_ref().and_then(|path| {
            let slug = |hole: &str| field(hole).filter(|value| is_slug(value));
            path.render(|hole| slug(hole).map(str::to_owned).ok_or(()))
                .ok()
        });
        let fields = row
            .fields
            .iter()
            .map(|(name, value)| (name.as_str(), Value::from(value.as_str())));
        let made = [("done", Value::from(done)), ("path", Value::from(path))];
        let value = Value::from_pairs(fields.chain(made));
        if !done || !row.is_usable {
            open.push(value.clone());
        }
        row.is_usable.then_some(value)
    };
    let rows: Vec<Value> = content.rows.iter().filter_map(row).collect();
    let known = |rows: Vec<Value>| undecided.map_or_else(|| Value::from(rows), Value::clone);
    let unusable = content.rows.iter().any(|row| !row.is_usable);
    Value::from_pairs([
        ("exists", Value::from(content.exists)),
        ("head", Value::from(content.head)),
        ("prose", Value::from(content.prose)),
        ("lacks", Value::from(content.lacks)),
        ("unusable", Value::from(unusable)),
        ("lines", Value::from(content.lines)),
        ("rows", known(rows)),
        ("open", known(open)),
    ])
}

/// Returns the content of a table's file; it is empty if there is no such file.
pub fn content(table: &Table, text: Option<&[u8]>) -> Content {
    let Some(text) = text.map(String::from_utf8_lossy) else {
        return Content::default();
    };
    match &table.rows {
        RowShape::Columns(columns) => table::read_columns(
            &text,
            columns
                .iter()
                .map(|(field, heading)| (field.as_str(), heading.as_slice())),
        ),
        RowShape::Line(pattern) => table::read_lines(&text, pattern),
    }
}

/// Returns the text of a table's file without the statuses of its rows.
pub fn without_status(table: &Table, text: &str) -> String {
    match &table.rows {
        RowShape::Columns(columns) => {
            let headings = columns.get("status").map_or(&[][..], Vec::as_slice);
            table::without_column(text, headings)
        }
        RowShape::Line(pattern) => table::without_hole(text, pattern, "status"),
    }
}
