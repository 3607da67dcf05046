//! Reads rows from Markdown: from a pipe table by its header, or from the lines that match a pattern.
//!
//! It tolerates what people and agents write: Windows line ends, a BOM, ragged rows, escaped pipes, emphasis and
//! links in cells. The chart says what a row means.

use super::Warnings;
use super::pattern::{Capture, LinePattern, is_slug};
use crate::text::shown_lines;

/// The most characters of a cell that a message shows.
const MAX_SHOWN: usize = 60;

/// What a file contains.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The file exists.
    pub exists: bool,
    /// It has a table line.
    pub head: bool,
    /// It has a line that is neither blank nor part of a table.
    pub prose: bool,
    /// It has a table without a column for `id`.
    pub lacks: bool,
    /// How many lines it has.
    pub lines: usize,
    /// The rows, in order.
    pub rows: Vec<Row>,
    /// Problems with rows that cannot be used.
    pub warnings: Vec<String>,
}

/// One row: field name → value.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub fields: Vec<(String, String)>,
    /// Its `id` is a slug, or it needs none.
    pub is_usable: bool,
}

/// The positions of the columns of a table; `None` if a heading is missing.
type Places<'c> = Vec<(&'c str, Option<usize>)>;

/// Reads a pipe table. `columns` are (field, the headings that it may have); a field named `id` must be a slug.
pub fn read_columns<'c>(
    text: &str,
    columns: impl Iterator<Item = (&'c str, &'c [String])> + Clone,
) -> Content {
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut content = Content {
        exists: true,
        lines: lines.len(),
        prose: lines.iter().any(|line| !line.is_empty() && !line.starts_with('|')),
        ..Content::default()
    };
    content.head = lines.iter().any(|line| line.starts_with('|'));
    let mut unusable = Warnings::default();
    let heads = scan(&lines, columns.clone(), |index, cells, places| {
        let row = row(cells, places, index + 1, &mut unusable);
        content.rows.push(row);
    });
    content.lacks = heads.iter().any(lacks_ids);
    content.warnings = unusable.into_texts(|more| format!("and {more} more rows count as open"));
    // `lacks` reports a missing column of ids.
    let absent = heads.into_iter().next_back().into_iter().flatten();
    for (field, _) in absent.filter(|(field, place)| place.is_none() && *field != "id") {
        let headings = columns.clone().find(|(name, _)| *name == field);
        let heading = headings.and_then(|(_, headings)| headings.first());
        let heading = heading.map_or(field, String::as_str);
        let warning = format!("the table has no column `{heading}`");
        content.warnings.push(warning);
    }
    content
}

/// Calls `row` with each row of the tables in `lines`: its index, its cells, and the positions of the columns. Returns the
/// positions in each table, in order.
fn scan<'c>(
    lines: &[&str],
    columns: impl Iterator<Item = (&'c str, &'c [String])> + Clone,
    mut row: impl FnMut(usize, &[String], &Places<'c>),
) -> Vec<Places<'c>> {
    let mut heads: Vec<Places<'c>> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if !line.starts_with('|') || is_separator(line) {
            continue;
        }
        let cells = cells(line);
        let heads_a_table = lines.get(index + 1).is_some_and(|next| is_separator(next));
        match heads.last().filter(|_| !heads_a_table) {
            Some(places) if !cells.iter().all(String::is_empty) => row(index, &cells, places),
            Some(_) => {}
            None => heads.push(locate(&cells, columns.clone())),
        }
    }
    heads
}

/// Returns the text without the cells of one column, whose heading is one of `headings`, and without the lines between
/// headers and rows, whose length changes with the cells.
pub fn without_column(text: &str, headings: &[String]) -> String {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim).collect();
    let mut left: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    scan(&lines, std::iter::once(("", headings)), |index, _, places| {
        let place = places.first().and_then(|(_, place)| *place);
        let cells = raw_cells(lines[index]).into_iter().enumerate();
        let cells = cells.filter(|(at, _)| Some(*at) != place);
        let cells: Vec<&str> = cells.map(|(_, cell)| cell).collect();
        left[index] = cells.join("|");
    });
    left.retain(|line| !is_separator(line));
    left.join("\n")
}

/// Returns the text without what the hole called `hole` captures in the lines that match `pattern`. Such a line has the
/// pattern's emphasis, whatever its own is.
pub fn without_hole(text: &str, pattern: &LinePattern, hole: &str) -> String {
    let line = |line: &str| {
        let captures = pattern.matches(line)?;
        let fill = |name: &str| match captures.iter().find(|(of, _)| *of == name) {
            Some((_, Capture::Text(text))) if name != hole => Ok::<_, ()>(text.clone()),
            Some((_, Capture::Integer(number))) if name != hole => Ok(number.to_string()),
            _ => Ok(String::new()),
        };
        pattern.render(fill).ok()
    };
    let lines = text.trim_start_matches('\u{feff}').lines();
    let lines = lines.map(|text| line(text).unwrap_or_else(|| text.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

fn lacks_ids(places: &Places<'_>) -> bool {
    let mut places = places.iter();
    places.any(|(field, place)| *field == "id" && place.is_none())
}

/// Returns the row of the cells in a line. One whose id is not a slug is named by its line, or by what is there instead.
fn row(cells: &[String], places: &Places<'_>, line: usize, unusable: &mut Warnings) -> Row {
    let cell = |place: &Option<usize>| cells.get((*place)?).cloned();
    let fields = places.iter();
    let mut fields: Vec<(String, String)> = fields
        .map(|(field, place)| ((*field).to_owned(), cell(place).unwrap_or_default()))
        .collect();
    let id = fields.iter_mut().find(|(field, _)| field == "id");
    let Some((_, id)) = id.filter(|(_, id)| !is_slug(id)) else {
        return Row { fields, is_usable: true };
    };
    let (shown, what) = match id.as_str() {
        "" => (format!("line {line}"), "there is no id".to_owned()),
        id => {
            let shown: String = id.chars().take(MAX_SHOWN).collect();
            let what = format!("`{shown}` is not an id (letters, digits, _ and -)");
            (shown, what)
        }
    };
    if !lacks_ids(places) {
        unusable.push(|| format!("line {line}: {what}; the row counts as open"));
    }
    *id = shown;
    Row { fields, is_usable: false }
}

/// Reads the lines that match `pattern`, without the whitespace around them.
pub fn read_lines(text: &str, pattern: &LinePattern) -> Content {
    let mut content = Content { exists: true, ..Content::default() };
    for line in text.trim_start_matches('\u{feff}').lines() {
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

/// Returns whether `status` is one of `finished`, ignoring case and Markdown emphasis.
pub fn is_finished(status: &str, finished: &[String]) -> bool {
    let status = plain(status).trim_matches(['*', '`', '~', '_']).to_lowercase();
    finished.iter().any(|word| word.to_lowercase() == status)
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
    line.starts_with('|')
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

/// Returns a text without the marks that surround all of it. What stands in code marks is as it is, and a mark at one end
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
    fn a_row_without_a_usable_id_is_named() {
        let content = read("| Id | Status |\n|---|---|\n| ../x | a |\n|  | b |\n");
        assert_eq!(
            content.warnings,
            [
                "line 3: `../x` is not an id (letters, digits, _ and -); the row counts as open",
                "line 4: there is no id; the row counts as open"
            ]
        );
        let content = read("| Id | State |\n|---|---|\n| 1 | a |\n");
        assert_eq!(content.warnings, ["the table has no column `Status`"]);
        let content = read("| Name | Status |\n|---|---|\n| 1 | a |\n");
        assert!(content.lacks && content.warnings.is_empty());
    }

    #[test]
    fn prose_and_head() {
        let prose = read("# Tasks\n\n| Id | Status |\n");
        assert!(prose.prose && prose.head);
        let blank = read("\n \n");
        assert!(!blank.prose && !blank.head && blank.exists && blank.lines == 2);
    }

    #[test]
    fn lines_by_pattern() {
        let pattern = LinePattern::parse("## {title}").unwrap();
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
    fn texts_without_their_statuses() {
        let status = ["Status".to_owned()];
        let cases = [
            (
                "| Id | Title | Status |\n|---|---|---|\n| 1 | Handle pending \\| x | pending |\n",
                "| Id | Title | Status |\n 1 | Handle pending \\| x \n",
            ),
            (
                "\u{feff}| Status | Id |\r\n|:--|\r\n| done | 1 |\r\n| x |\r\nProse.\r\n",
                "| Status | Id |\n 1 \n\nProse.\n",
            ),
            ("| Id |\n|---|\n| 1 |\n", "| Id |\n 1 \n"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_column(text, &status) + "\n", expected, "{text}");
        }
        let pattern = LinePattern::parse("- **{n:int}**: {status}").unwrap();
        let text = "# pending\n  - **1**: **pending**\n- **2**\n";
        let expected = "# pending\n- **1**: \n- **2**";
        assert_eq!(without_hole(text, &pattern, "status"), expected);
    }

    #[test]
    fn finished_despite_formatting() {
        let finished = ["done".to_owned(), "complete".to_owned()];
        for status in ["done", "Done", "**DONE**", "_complete_", " `done` "] {
            assert!(is_finished(status, &finished), "{status}");
        }
        for status in ["", "pending", "not done", "dones"] {
            assert!(!is_finished(status, &finished), "{status}");
        }
    }
}
