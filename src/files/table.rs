//! Reads rows from Markdown: from a pipe table by its header, or from the lines that match a pattern.
//!
//! It tolerates what people and agents write: Windows line ends, a BOM, ragged rows, no pipes at the ends of lines, escaped
//! pipes, emphasis and links in cells, signs in a status. The chart says what a row means.

use std::collections::HashMap;

use super::Warnings;
use super::pattern::{Capture, Pattern, is_id};
use crate::text::shown_lines;

/// The most characters of a cell or a line that a message shows.
const MAX_SHOWN: usize = 60;

/// What a file contains.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The file exists.
    pub exists: bool,
    /// It has a line that is neither blank nor part of a table.
    pub prose: bool,
    /// Why nobody can say which rows there are: lines that may have been meant as rows, ids that cannot be used, no row.
    pub unread: Option<String>,
    /// How many lines it has.
    pub lines: usize,
    /// The rows, in order.
    pub rows: Vec<Row>,
    /// Problems with rows that can be used.
    pub warnings: Vec<String>,
}

/// One row: field name → value.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub fields: Vec<(String, String)>,
    /// Its `id` is one and its own, or it needs none.
    pub is_usable: bool,
}

impl Row {
    fn id(&mut self) -> Option<&mut String> {
        let mut fields = self.fields.iter_mut();
        fields.find(|(field, _)| field == "id").map(|(_, id)| id)
    }

    /// Returns the value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        fields.find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// The positions of the columns of a table; `None` if a heading is missing.
type Places<'c> = Vec<(&'c str, Option<usize>)>;

/// A line of a file with tables, but for those that are blank or between a header and its rows.
enum Line<'l, 'c> {
    Head(&'l Places<'c>),
    Row(Vec<String>, &'l Places<'c>),
    /// A heading, or part of a block of code that ends: no row is meant.
    Aside,
    Other,
}

/// Reads a pipe table. `columns` are (field, the headings that it may have); a field named `id` must be one, and its own.
pub fn read_columns<'c>(
    text: &str,
    columns: impl Iterator<Item = (&'c str, &'c [String])> + Clone,
) -> Content {
    let lines = lines(text);
    let mut content = Content { exists: true, lines: lines.len(), ..Content::default() };
    let headings = |field: &str| {
        let mut columns = columns.clone();
        columns.find(|(name, _)| *name == field).map_or(&[][..], |(_, headings)| headings)
    };
    let mut unread = Warnings::default();
    let mut ids: HashMap<String, usize> = HashMap::new();
    let mut absent = Vec::new();
    scan(&lines, columns.clone(), |index, line| {
        let number = index + 1;
        content.prose |= matches!(line, Line::Aside | Line::Other);
        let why = match line {
            Line::Aside => None,
            Line::Other => Some(format!("`{}` is not a row of a table", brief(lines[index]))),
            Line::Head(places) => {
                let missing = places.iter().filter(|(_, place)| place.is_none());
                absent = missing.map(|(field, _)| *field).collect();
                let headings = || headings("id").join("`, `");
                absent.contains(&"id").then(|| format!("no column is headed `{}`", headings()))
            }
            Line::Row(cells, places) => {
                let cell = |place: &Option<usize>| cells.get((*place)?).cloned();
                let fields = places.iter();
                let fields = fields
                    .map(|(field, place)| ((*field).to_owned(), cell(place).unwrap_or_default()));
                let mut row = Row { fields: fields.collect(), is_usable: true };
                let why = row.id().and_then(|id| {
                    let shown = brief(id);
                    let why = match ids.get(id) {
                        Some(first) => format!("`{shown}` is the id of line {first}, too"),
                        None if is_id(id) => {
                            ids.insert(id.clone(), number);
                            return None;
                        }
                        None if id.is_empty() => "there is no id".to_owned(),
                        None => format!("`{shown}` is not an id ({ID})"),
                    };
                    *id = if id.is_empty() { format!("line {number}") } else { shown };
                    Some(why)
                });
                row.is_usable = why.is_none();
                content.rows.push(row);
                // That there is no column for them is said of the header.
                why.filter(|_| !absent.contains(&"id"))
            }
        };
        if let Some(why) = why {
            unread.push(|| format!("line {number}: {why}"));
        }
    });
    let mut unread = unread.into_texts(|more| format!("and {more} more"));
    if content.rows.is_empty() && unread.is_empty() {
        unread.push("has no table rows".to_owned());
    }
    content.unread = (!unread.is_empty()).then(|| unread.join("; "));
    let absent = absent.into_iter().filter(|field| *field != "id");
    let heading = |field| headings(field).first().map_or(field, String::as_str);
    let warning = |field| format!("the table has no column `{}`", heading(field));
    content.warnings = absent.map(warning).collect();
    content
}

/// What an id consists of.
const ID: &str = "letters, digits, _, - and single dots";

/// Returns as much of a text as a message shows.
pub(crate) fn brief(text: &str) -> String {
    shown_lines(text).chars().take(MAX_SHOWN).collect()
}

fn lines(text: &str) -> Vec<&str> {
    text.trim_start_matches('\u{feff}').lines().map(str::trim).collect()
}

/// Calls `each` with each line that is not blank: its index, and what it is.
fn scan<'c>(
    lines: &[&str],
    columns: impl Iterator<Item = (&'c str, &'c [String])> + Clone,
    mut each: impl FnMut(usize, Line<'_, 'c>),
) {
    let mut places: Option<Places<'c>> = None;
    let mut code: Option<&str> = None;
    let mut is_in_table = false;
    for (index, line) in lines.iter().enumerate() {
        let heads_a_table = lines.get(index + 1).is_some_and(|next| is_separator(next));
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        let ends = |mark: &str| lines[index + 1..].iter().any(|line| line.starts_with(mark));
        let was_in_table = is_in_table;
        is_in_table = code.is_none()
            && (line.starts_with('|') || line.contains('|') && (was_in_table || heads_a_table));
        if is_in_table {
            let cells = cells(line);
            match places.as_ref().filter(|_| !heads_a_table) {
                _ if is_separator(line) => {}
                Some(places) if !cells.iter().all(String::is_empty) => {
                    each(index, Line::Row(cells, places));
                }
                Some(_) => {}
                None => each(index, Line::Head(places.insert(locate(&cells, columns.clone())))),
            }
            continue;
        }
        let was_code = code.is_some();
        code = match code {
            Some(open) => Some(open).filter(|open| mark != Some(open)),
            None => mark.filter(|mark| ends(mark)),
        };
        if was_code || code.is_some() || line.starts_with('#') {
            each(index, Line::Aside);
        } else if !line.is_empty() {
            each(index, Line::Other);
        }
    }
}

/// Reads the lines that match `pattern`, without the whitespace around them.
pub fn read_lines(text: &str, pattern: &Pattern) -> Content {
    let mut content = Content { exists: true, ..Content::default() };
    for line in lines(text) {
        content.lines += 1;
        if let Some(captures) = pattern.matches(line) {
            let fields = captures
                .into_iter()
                .map(|(hole, capture)| {
                    let value = match capture {
                        Capture::Text(text) => plain(&text),
                        Capture::Integer(number) => number.to_string(),
                    };
                    (hole.to_owned(), value)
                })
                .collect();
            content.rows.push(Row { fields, is_usable: true });
        }
    }
    content
}

/// Returns whether `status` is one of `words`. Case, emphasis, signs and check marks do not count, nor does what is in
/// parentheses after it.
pub fn is_one_of(status: &str, words: &[impl AsRef<str>]) -> bool {
    let status = word(status);
    words.iter().any(|known| word(known.as_ref()) == status)
}

/// Returns a status without what does not count. A check mark that is all there is remains, and so does what makes it another
/// status: a box that is not checked, and a question mark.
fn word(status: &str) -> String {
    let status = status.to_lowercase().replace("[x]", "✓").replace("[ ]", "☐");
    let has_word = |text: &str| text.contains(char::is_alphanumeric);
    let aside = status.split_once('(').filter(|(before, aside)| {
        let after = aside.rsplit_once(')').map_or(*aside, |(_, after)| after);
        has_word(before) && !has_word(after)
    });
    let status = aside.map_or(&*status, |(before, _)| before);
    let word = status.trim_matches(|sign: char| !sign.is_alphanumeric() && !"☐?".contains(sign));
    match word.is_empty() && status.contains(['✓', '✔', '✅', '☑']) {
        true => "✓".to_owned(),
        false => word.replace(['-', '_'], " "),
    }
}

fn locate<'c>(
    header: &[String],
    columns: impl Iterator<Item = (&'c str, &'c [String])>,
) -> Vec<(&'c str, Option<usize>)> {
    let is = |cell: &String, heading: &String| {
        let cell = cell.trim_matches('_').trim();
        cell.eq_ignore_ascii_case(heading)
    };
    // The first heading that exists counts: a table may have an `Id` and a `Task`.
    let place = |headings: &[String]| {
        headings.iter().find_map(|heading| header.iter().position(|cell| is(cell, heading)))
    };
    columns.map(|(field, headings)| (field, place(headings))).collect()
}

fn is_separator(line: &str) -> bool {
    line.contains('|')
        && line.contains('-')
        && line.chars().all(|sign| matches!(sign, '|' | '-' | ':' | ' ' | '\t'))
}

/// Returns the cells of a table line; `\|` is a pipe inside a cell.
fn cells(line: &str) -> Vec<String> {
    let cells = raw_cells(line).into_iter();
    let plain = |cell: &str| match cell.contains('\\') {
        true => plain(&cell.replace("\\|", "|")),
        false => plain(cell),
    };
    cells.map(plain).collect()
}

/// Returns the cells of a table line as they are written.
fn raw_cells(line: &str) -> Vec<&str> {
    let mut rest = line.strip_prefix('|').unwrap_or(line);
    let mut cells = Vec::new();
    let is_pipe = |rest: &str, at: usize| !rest[..at].ends_with('\\');
    while let Some((at, _)) = rest.match_indices('|').find(|(at, _)| is_pipe(rest, *at)) {
        cells.push(&rest[..at]);
        rest = &rest[at + 1..];
    }
    if !rest.trim().is_empty() {
        cells.push(rest);
    }
    cells
}

/// Returns a cell's text without surrounding whitespace, emphasis, code marks and link.
fn plain(cell: &str) -> String {
    let mut text = cell.trim();
    if let Some((label, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once("](")) {
        text = label;
    }
    shown_lines(without_marks(text)).into_owned()
}

/// Returns a text without the marks that surround all of it. Text in code marks stays as it is, and a mark at one end
/// only is none: in `rm build/*` and `~/check` it is part of a command.
fn without_marks(text: &str) -> &str {
    let text = text.trim();
    if let Some(code) = surrounded(text, "`") {
        return code.trim_matches('`').trim();
    }
    let marks = ["**", "~~", "*", "~"];
    match marks.iter().find_map(|mark| surrounded(text, mark)) {
        Some(inner) => without_marks(inner),
        None => text,
    }
}

fn surrounded<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    text.strip_prefix(mark)?.strip_suffix(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Content {
        let columns = [
            ("id", vec!["Id".to_owned(), "Task".to_owned(), "#".to_owned()]),
            ("status", vec!["Status".to_owned()]),
        ];
        let columns = columns.iter();
        read_columns(text, columns.map(|(field, headings)| (*field, headings.as_slice())))
    }

    fn rows(text: &str) -> Vec<String> {
        read(text)
            .rows
            .iter()
            .map(|row| {
                row.fields.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("/")
                    + if row.is_usable { "" } else { " (unusable)" }
            })
            .collect()
    }

    #[test]
    fn tables_as_people_write_them() {
        let cases: &[(&str, &str, &[&str])] = &[
            (
                "plain",
                "| Id | Status |\n|---|---|\n| 1 | done |\n| 2 | pending |\n",
                &["1/done", "2/pending"],
            ),
            (
                "windows, BOM",
                "\u{feff}| Id | Status |\r\n|----|---|\r\n| 1 | done |\r\n",
                &["1/done"],
            ),
            (
                "other order and case",
                "| status | x | ID |\n|:-:|---|--:|\n| done | y | 7 |\n",
                &["7/done"],
            ),
            (
                "ragged",
                "| Id | Status |\n|---|---|\n| 1\n| 2 | done | more | x\n",
                &["1/", "2/done"],
            ),
            (
                "escaped pipe",
                "| Id | T | Status |\n|---|---|---|\n| 1 | a \\| b | done |\n",
                &["1/done"],
            ),
            (
                "emphasis and link",
                "| Id | Status |\n|---|---|\n| **1** | ~~done~~ |\n| [2](task-2.md) | `x` |\n",
                &["1/done", "2/x"],
            ),
            (
                "no pipes at the ends",
                "# | Status\n--- | ---\n1.2 | done\n1.10 | **a**\n",
                &["1.2/done", "1.10/a"],
            ),
            ("a row after a blank line", "Id | Status\n---|---\n1 | a\n\n2 | b\n", &["1/a"]),
            (
                "an example in code",
                "```md\n| Id | Status |\n|---|---|\n| 9 | a |\n~~~\n```\n| Id | Status |\n|---|---|\n| 1 | a |\n",
                &["1/a"],
            ),
            (
                "one id in two rows",
                "| Id | Status |\n| 1 | a |\n| 1 | b |\n",
                &["1/a", "1/b (unusable)"],
            ),
            ("no separator", "| Id | Status |\n| 1 | done |\n", &["1/done"]),
            (
                "two tables",
                "| Id | Status |\n|---|---|\n| 1 | a |\n\n| Status | Id |\n|---|---|\n| b | 2 |\n",
                &["1/a", "2/b"],
            ),
            (
                "other headings",
                "| **Task** | Status |\n|---|---|\n| 1 | a |\n\n| # | Status |\n|---|---|\n| 2 | b |\n",
                &["1/a", "2/b"],
            ),
            (
                "the first heading counts",
                "| Task | __ID__ | Status |\n|---|---|---|\n| Write it | 1 | a |\n",
                &["1/a"],
            ),
            ("no id", "| Id | Status |\n|---|---|\n|  | a |\n|  |  |\n", &["line 3/a (unusable)"]),
            ("no column", "| Name | Status |\n|---|---|\n| x | a |\n", &["line 3/a (unusable)"]),
            (
                "bad id",
                "| Id | Status |\n|---|---|\n| ../x | a |\n| 2 | b |\n",
                &["../x/a (unusable)", "2/b"],
            ),
            ("empty", "", &[]),
        ];
        for (name, text, expected) in cases {
            assert_eq!(rows(text), *expected, "{name}");
        }
    }

    #[test]
    fn what_hides_rows_is_named_with_its_line() {
        const TABLE: &str = "| Id | Status |\n|---|---|\n| 1 | a |\n";
        let row = "`- [x] 1 a` is not a row of a table";
        let cases: &[(&str, &str, Option<&str>)] = &[
            ("a table", TABLE, None),
            ("a heading, and an example in code", "# Tasks\n\n{}\n```\n| 3 | a |\n```\n", None),
            ("no table", "", Some("has no table rows")),
            ("a header", "# Tasks\n\n| Id | Status |\n|---|---|\n", Some("has no table rows")),
            (
                "a list",
                "- [x] 1 a\n- [ ] 2 b\n",
                Some(&format!("line 1: {row}; line 2: `- [ ] 2 b` is not a row of a table")),
            ),
            ("a list after the table", "{}- [x] 1 a\n", Some(&format!("line 4: {row}"))),
            (
                "a quoted table",
                "> | Id | Status |\n",
                Some("line 1: `> | Id | Status |` is not a row of a table"),
            ),
            ("HTML", "<table>\n", Some("line 1: `<table>` is not a row of a table")),
            (
                "code that does not end",
                "{}```\n| 2 | b |\n",
                Some("line 4: ````` is not a row of a table"),
            ),
            (
                "no such column",
                "| Name | Status |\n|---|---|\n| x | a |\n",
                Some("line 1: no column is headed `Id`, `Task`, `#`"),
            ),
            ("no id", "{}|  | b |\n", Some("line 4: there is no id")),
            (
                "bad ids",
                "{}| ../x | b |\n| .2 | c |\n",
                Some(
                    "line 4: `../x` is not an id (letters, digits, _, - and single dots); \
                 line 5: `.2` is not an id (letters, digits, _, - and single dots)",
                ),
            ),
            (
                "one id in two rows",
                "{}| 2 | b |\n| 1 | c |\n",
                Some("line 5: `1` is the id of line 3, too"),
            ),
            (
                "many",
                &"x\n".repeat(9),
                Some(
                    "line 1: `x` is not a row of a table; line 2: `x` is not a row of a table; line 3: `x` is not a row of a \
                 table; line 4: `x` is not a row of a table; line 5: `x` is not a row of a table; and 4 more",
                ),
            ),
        ];
        for (name, text, expected) in cases {
            let content = read(&text.replace("{}", TABLE));
            assert_eq!(content.unread.as_deref(), *expected, "{name}");
        }
        let prose = ["# Tasks\n", "```\n```\n", "x\n"];
        assert!(prose.iter().all(|text| read(text).prose) && !read(TABLE).prose);
        let without_status = read("| Id | State |\n|---|---|\n| 1 | a |\n");
        assert_eq!(without_status.warnings, ["the table has no column `Status`"]);
    }

    #[test]
    fn lines_by_pattern() {
        let pattern = Pattern::line("## {title}").unwrap();
        let content = read_lines("# A\n## Overview\r\n  ## **B** \n", &pattern);
        let titles: Vec<_> = content.rows.iter().map(|row| row.fields[0].1.as_str()).collect();
        assert_eq!((titles, content.lines), (vec!["Overview", "B"], 3));
        let cases = [
            ("`~/check`", "~/check"),
            ("`rm -rf build/**`", "rm -rf build/**"),
            ("`**bold**`", "**bold**"),
            ("**`a` and `b`**", "a` and `b"),
            ("echo sub/*", "echo sub/*"),
            ("~~*a*~~", "a"),
            ("`", "`"),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn statuses_as_people_write_them() {
        let finished = ["done", "[x]", "not-done"].map(str::to_owned);
        let is_finished = |status: &&str| is_one_of(status, &finished[..2]);
        let done = [
            "done",
            "Done",
            "**DONE**",
            "_done_",
            " `done` ",
            "✅ Done",
            "🟢 Done",
            "**Done** ✔",
            "[x] done",
            "Done (2026-06-03)",
            "✅ **Done** (see #7) 🎉",
            "[x]",
            "[X]",
            "✅",
            "✔\u{fe0f}",
        ];
        let open = [
            "",
            "pending",
            "not done",
            "dones",
            "[ ]",
            "[ ] done",
            "☐ done",
            "done?",
            "(done) later",
            "done (a) but not b",
            "done (tests",
            "❌",
            "x",
        ];
        assert_eq!(done.iter().find(|status| !is_finished(status)), None);
        assert_eq!(open.iter().find(|status| is_finished(status)), None);
        assert!(["not done", "Not_Done"].iter().all(|status| is_one_of(status, &finished[2..])));
    }
}
