//! The layout of what a person reads: labeled rows, as wide as the terminal, in color if the terminal has colors.
//!
//! A page only collects lines. The caller prints them, so that it can draw a screen again. Whatever is printed has its
//! harmful characters escaped here, wherever it comes from.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use serde_json::Value as Json;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

use crate::text::{shown_lines, styled_lines};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const ACCENT: Style = AnsiColor::Cyan.on_default();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const ALERT: Style = AnsiColor::Yellow.on_default().bold();

/// The widest line in a terminal that is still easy to read.
const MAX_WIDTH: usize = 100;

/// A row keeps at least this much room for its text; with less, the text goes below its label.
const MIN_TEXT: usize = 30;

/// Returns the text in a style.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Styles each word separately, so that a line can be broken between them.
pub(crate) fn paint_words(style: Style, text: &str) -> String {
    text.split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| paint(style, word))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns a duration in words: `42 s`, `3 min 05 s`, `4 h 24 min`.
pub(crate) fn span(time: Duration) -> String {
    let (minutes, seconds) = (time.as_secs() / 60, time.as_secs() % 60);
    match minutes {
        0 => format!("{seconds} s"),
        1..60 => format!("{minutes} min {seconds:02} s"),
        _ => format!("{} h {:02} min", minutes / 60, minutes % 60),
    }
}

/// Returns a total price as a person reads it. The price of some things may be unknown.
pub(crate) fn price(known: u64, unknown: usize, all: usize) -> String {
    match unknown {
        unknown if unknown == all => "unknown".to_owned(),
        0 => dollars(known),
        unknown => format!("{} + {unknown} unknown", dollars(known)),
    }
}

/// Returns an amount of money, given in millionths of a dollar, as a number of dollars.
pub(crate) fn usd(millionths: u64) -> Json {
    #[expect(clippy::cast_precision_loss, reason = "nobody pays that much")]
    let dollars = millionths as f64 / 1e6;
    Json::from(dollars)
}

/// Returns an amount of money, given in millionths of a dollar, in dollars and cents.
pub(crate) fn dollars(millionths: u64) -> String {
    let cents = millionths.saturating_add(5_000) / 10_000;
    match cents {
        0 if millionths > 0 => "<$0.01".to_owned(),
        _ => format!("${}.{:02}", cents / 100, cents % 100),
    }
}

/// Returns a path with `~` for the home directory.
pub(crate) fn short_path(path: &Path) -> String {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Returns a number of things: `1 review`, `2 reviews`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let end = if count == N::from(1) { "" } else { "s" };
    format!("{count} {what}{end}")
}

/// Lays out rows as lines: the first `names` columns, which contain names, are aligned left and the others right.
fn aligned(rows: &[Vec<String>], names: usize) -> Vec<String> {
    let widths: Vec<usize> = (0..rows.iter().map(Vec::len).max().unwrap_or(0))
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(at, (cell, width))| match at < names {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        let cells: Vec<String> = cells.collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Returns the text with spaces that no line is broken at.
pub(crate) fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// The longest command that stays in one line, in characters.
const COMMAND: usize = 60;

/// Returns the text with each short command in it, between two `, in one piece: somebody copies it.
fn with_whole_commands(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        1 if part.chars().count() <= COMMAND && !part.contains('\n') => unbroken(part),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Prints lines to stdout; returns whether [they are out](is_out).
pub(crate) fn print(lines: impl IntoIterator<Item = String>) -> bool {
    let mut out = anstream::stdout().lock();
    // In one piece: a terminal takes each piece for itself.
    let lines = lines.into_iter().map(|line| format!("{}\n", styled_lines(&line).trim_end()));
    let written = out.write_all(lines.collect::<String>().as_bytes());
    is_out(written.and_then(|()| out.flush()))
}

/// Returns whether what was written has reached its reader. One that is gone, such as `head`, has what it wanted.
pub(crate) fn is_out(written: io::Result<()>) -> bool {
    !written.is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// Returns the columns of the terminal on stdout; `None` if stdout is not a terminal.
pub(crate) fn columns() -> Option<usize> {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map(|(columns, _)| columns.0.into())
}

/// Returns the same for stderr.
pub(crate) fn columns_of_stderr() -> Option<usize> {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map(|(columns, _)| columns.0.into())
}

/// Returns a text whose lines are not wider than a terminal with this many `columns`: they are broken between words and
/// go on below the place where their text begins. A word that is wider stays whole, so that it can be copied.
pub(crate) fn fitted(text: &str, columns: Option<usize>) -> Cow<'_, str> {
    let Some(columns) = columns else {
        return Cow::Borrowed(text);
    };
    let fit = |line| {
        let below = " ".repeat(hang(line, columns));
        let options = options(columns).break_words(false);
        let filled = textwrap::fill(&with_whole_commands(line), options.subsequent_indent(&below));
        filled.replace('\u{a0}', " ")
    };
    let lines: Vec<String> = text.split('\n').map(fit).collect();
    Cow::Owned(lines.join("\n"))
}

/// Returns where the text of a line begins: after its label, which two spaces end, if enough room is left there.
fn hang(line: &str, columns: usize) -> usize {
    let line = strip_str(line).to_string();
    let indent = line.len() - line.trim_start_matches("- ").trim_start().len();
    let label = line[indent..].find("  ").map(|end| {
        let rest = &line[indent + end..];
        display_width(&line[..indent + end]) + rest.len() - rest.trim_start().len()
    });
    let fits = |at: &usize| at + MIN_TEXT <= columns;
    label.into_iter().chain([indent]).find(fits).unwrap_or(0)
}

/// Returns how wide a page on this stdout is. What no person reads is not broken into lines.
pub(crate) fn width() -> usize {
    columns().map_or(usize::MAX, |columns| columns.min(MAX_WIDTH))
}

/// Returns a line cut to a width.
pub(crate) fn cut(line: &str, width: usize) -> String {
    if display_width(line) <= width {
        return line.to_owned();
    }
    let mut text = String::new();
    for sign in line.chars() {
        let end = text.len();
        text.push(sign);
        if display_width(&text) >= width {
            text.truncate(end);
            break;
        }
    }
    text + "…"
}

/// Returns the width of a label column that fits `labels`.
pub(crate) fn column<'l>(labels: impl Iterator<Item = &'l str>) -> usize {
    labels.map(display_width).max().unwrap_or(0) + 2
}

/// Lines with styles in them, none wider than the page.
#[derive(Debug)]
pub(crate) struct Page {
    width: usize,
    /// The width of the label column, with the space after it.
    label: usize,
    lines: Vec<String>,
}

impl Default for Page {
    /// Returns an empty page as wide as stdout, without labels.
    fn default() -> Self {
        Self::new(width(), 0)
    }
}

impl Page {
    /// Returns an empty page whose label column, with the space after a label, is `label` wide.
    pub(crate) fn new(width: usize, label: usize) -> Self {
        Self { width: width.max(1), label, lines: Vec::new() }
    }

    /// Returns an empty page as wide as stdout, whose label column fits these labels.
    pub(crate) fn labeled<'l>(labels: impl IntoIterator<Item = &'l str>) -> Self {
        Self::new(width(), column(labels.into_iter()))
    }

    /// Adds a table. Its first row has the names of the columns; the first `names` columns contain names.
    pub(crate) fn table(&mut self, rows: &[Vec<String>], names: usize) {
        let mut lines = aligned(rows, names).into_iter();
        let head = lines.next().map(|head| paint(FAINT, head));
        self.lines.extend(head.into_iter().chain(lines));
    }

    /// Adds an empty line.
    pub(crate) fn blank(&mut self) {
        self.lines.push(String::new());
    }

    /// Adds text that is broken only where a terminal is too narrow.
    pub(crate) fn say(&mut self, text: &str) {
        self.styled(&shown_lines(text));
    }

    /// Adds such a text that has styles.
    pub(crate) fn styled(&mut self, text: &str) {
        self.lines.push(fitted(text, columns()).into_owned());
    }

    /// Adds text from the left margin.
    pub(crate) fn text(&mut self, style: Style, text: &str) {
        for line in textwrap::wrap(&with_whole_commands(text), options(self.width)) {
            // Nothing is wrapped any more.
            self.lines.push(paint(style, line.replace('\u{a0}', " ")));
        }
    }

    /// Adds a label and a text beside it, or below it if the page is narrow. The text may have styles in it, as
    /// long as none spans a space.
    pub(crate) fn row(&mut self, label: &str, text: &str) {
        self.styled_row(FAINT, label, text);
    }

    /// Adds a row with a label in a style.
    pub(crate) fn styled_row(&mut self, style: Style, label: &str, text: &str) {
        let indent = self.indent();
        let mut head = format!(
            "{}{}",
            paint(style, label),
            " ".repeat(indent.saturating_sub(display_width(label)))
        );
        if self.is_narrow() {
            if !label.is_empty() {
                self.text(style, label);
            }
            head = " ".repeat(indent);
        }
        let room = self.text_width();
        let text = with_whole_commands(text);
        for line in text.split('\n').flat_map(|text| textwrap::wrap(text, options(room))) {
            let line = line.replace('\u{a0}', " ");
            self.lines.push(format!("{head}{line}").trim_end().to_owned());
            head = " ".repeat(indent);
        }
    }

    /// Returns how wide the text of a row is.
    pub(crate) fn text_width(&self) -> usize {
        self.width.saturating_sub(self.indent()).max(1)
    }

    /// Prints the lines to stdout and empties the page; returns whether they are out.
    pub(crate) fn print(&mut self) -> bool {
        print(self.lines.drain(..))
    }

    fn is_narrow(&self) -> bool {
        self.width < self.label + MIN_TEXT
    }

    fn indent(&self) -> usize {
        match self.is_narrow() {
            true => self.width.min(12) / 6,
            false => self.label,
        }
    }
}

fn options(width: usize) -> Options<'static> {
    // A path may be longer than a line; it is then broken at any character.
    Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (line, what a terminal of 60 columns shows)
    #[test]
    fn lines_go_on_below_their_text() {
        let long = "word ".repeat(14);
        let path = "/path".repeat(14);
        let cases = [
            ("short\n\n  lines".to_owned(), "short\n\n  lines".to_owned()),
            (
                format!("why:  {long}end"),
                format!("why:  {}\n      word word word end", "word ".repeat(11).trim_end()),
            ),
            (
                format!("  \u{1b}[1mlimit\u{1b}[0m  {long}end"),
                format!(
                    "  \u{1b}[1mlimit\u{1b}[0m  {}\n         word word word word end",
                    "word ".repeat(10).trim_end()
                ),
            ),
            (format!("to {path}"), format!("to\n{path}")),
        ];
        for (line, shown) in cases {
            assert_eq!(fitted(&line, Some(60)), shown);
            assert_eq!(fitted(&line, None), line);
        }
    }
}
