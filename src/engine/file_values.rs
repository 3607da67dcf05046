//! Files as values for expressions: the records of a set of files, the rows of a table.
//!
//! Nothing is read here: the shell passes what is on the disk, and a scenario what it says.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use minijinja::value::Value;

use crate::chart::{FileSet, Table};
use crate::files::Warnings;
use crate::files::pattern::{Capture, Captures, is_id};
use crate::files::table::{self, Content, Row};
use crate::text::shown;

/// Returns the records of the files of a set among `names`, which are those in `dir`. `text` reads one of them.
pub fn files(set: &FileSet, dir: &Path, names: &[String], text: impl Fn(&str) -> Vec<u8>) -> Value {
    let file = |name: &String| {
        let captures = set.matches(name)?;
        file::<()>(set, dir, name, captures, || Ok(text(name))).ok()
    };
    names.iter().filter_map(file).collect::<Vec<_>>().into()
}

/// Returns the record of a file in `dir`, whose name is in a set with these captures. `text` reads it.
pub fn file<E>(
    set: &FileSet,
    dir: &Path,
    name: &str,
    captures: Captures<'_>,
    text: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Value, E> {
    let path = format!("{}/{name}", dir.to_string_lossy());
    // A control character in a name must not change the message that contains it.
    let fixed = [
        ("name", Value::from(shown(name).into_owned())),
        ("path", Value::from(shown(&path).into_owned())),
    ];
    let captured = captures.into_iter().map(|(hole, capture)| {
        let value = match capture {
            Capture::Text(text) => Value::from(text),
            Capture::Integer(number) => Value::from(number),
        };
        (hole, value)
    });
    let lines = match set.line() {
        Some(line) => {
            let content = table::read_lines(&String::from_utf8_lossy(&text()?), line);
            let records: Vec<Value> = content.rows.iter().map(record).collect();
            Some(("lines", Value::from(records)))
        }
        None => None,
    };
    Ok(Value::from_pairs(fixed.into_iter().chain(captured).chain(lines)))
}

fn record(row: &Row) -> Value {
    let fields = row.fields.iter();
    Value::from_pairs(fields.map(|(name, value)| (name.as_str(), Value::from(value.as_str()))))
}

/// Returns a table as a record: its rows, and other facts about its file. If its rows are unknown,
/// `undecided` stands for them.
pub fn table<'c>(table: &Table, content: &'c Content, undecided: Option<&Value>) -> Value {
    let mut open = Vec::new();
    // Rows are many, and what they can be is little.
    let mut finished: HashMap<&str, bool> = HashMap::new();
    let row = |row: &'c Row| {
        let done = row.field("status").is_some_and(|status| {
            *finished.entry(status).or_insert_with(|| is_finished(status) == Some(true))
        });
        let path = table.path.as_ref().and_then(|path| {
            let id = |hole: &str| row.field(hole).filter(|value| is_id(value));
            path.render(|hole| id(hole).map(str::to_owned).ok_or(())).ok()
        });
        let fields =
            row.fields.iter().map(|(name, value)| (name.as_str(), Value::from(value.as_str())));
        let made = [("done", Value::from(done)), ("path", Value::from(path))];
        let value = Value::from_pairs(fields.chain(made));
        if !done || !row.is_usable {
            open.push(value.clone());
        }
        row.is_usable.then_some(value)
    };
    let rows: Vec<Value> = content.rows.iter().filter_map(row).collect();
    let known = |rows: Vec<Value>| undecided.map_or_else(|| Value::from(rows), Value::clone);
    Value::from_pairs([
        ("exists", Value::from(content.exists)),
        ("prose", Value::from(content.prose)),
        ("unread", Value::from(content.unread.clone())),
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
    let mut content = match &table.line {
        None => table::read_columns(&text, table.columns()),
        Some(pattern) => table::read_lines(&text, pattern),
    };
    content.warnings.extend(unknown(&content.rows));
    content
}

/// The usual statuses of a finished row, and of an open one.
const FINISHED: [&str; 8] =
    ["done", "complete", "completed", "cancelled", "canceled", "postponed", "skipped", "[x]"];
const OPEN: [&str; 8] =
    ["pending", "in-progress", "open", "todo", "to-do", "not-started", "blocked", "[ ]"];

/// Returns whether a status is that of a finished row, if it is usual at all.
fn is_finished(status: &str) -> Option<bool> {
    let lists = [(&FINISHED, true), (&OPEN, false)];
    let of = |is: &dyn Fn(&[&str]) -> bool| lists.iter().find(|(list, _)| is(*list));
    // Most are written as they are here.
    let found = of(&|list| list.contains(&status));
    found
        .or_else(|| of(&|list| table::is_one_of(status, list)))
        .map(|(_, is_finished)| *is_finished)
}

/// Returns a sentence about the statuses that are not usual, each once.
fn unknown(rows: &[Row]) -> Option<String> {
    let mut named = HashSet::from([""]);
    let mut unknown = Warnings::default();
    let statuses = rows.iter().filter_map(|row| row.field("status"));
    for status in statuses.filter(|status| named.insert(*status)) {
        if is_finished(status).is_none() {
            unknown.push(|| format!("`{}`", table::brief(status)));
        }
    }
    let texts = unknown.into_texts(|more| format!("and {more} more"));
    (!texts.is_empty()).then(|| {
        format!(
            "unknown status {}: such a row counts as open (finished: {}; open: {})",
            texts.join(", "),
            FINISHED.join(", "),
            OPEN.join(", ")
        )
    })
}
