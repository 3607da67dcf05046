//! A page of labelled lines, as wide as the terminal: made first and printed then, so that it can be drawn again.

use std::fmt::Display;
use std::io::IsTerminal as _;

use anstyle::{AnsiColor, Style};
use textwrap::{Options, WordSeparator, WordSplitter};

pub(super) const PLAIN: Style = Style::new();
pub(super) const STRONG: Style = Style::new().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const STAGE: Style = AnsiColor::Cyan.on_default();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const ALERT: Style = AnsiColor::Yellow.on_default();

/// The width where there is no terminal, and the most that is easy to read.
const MOST_WIDTH: usize = 100;

/// Labels leave the texts beside them this much at least; with less, texts stand below their labels.
const LEAST_TEXT: usize = 30;

/// A text in a style.
pub(super) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A text that no line is broken in.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// How many columns and rows a terminal on stdout has; `None` where there is none.
pub(super) fn terminal() -> Option<(usize, usize)> {
    let stdout = std::io::stdout();
    let size = stdout
        .is_terminal()
        .then(|| rustix::termios::tcgetwinsize(&stdout).ok())
        .flatten()?;
    let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0).then_some((columns, rows))
}

/// How wide a page is here.
pub(super) fn width() -> usize {
    terminal()
        .map_or(MOST_WIDTH, |(columns, _)| columns)
        .min(MOST_WIDTH)
}

/// Lines in the making, with styles in them, none wider than the page.
#[derive(Debug)]
pub(super) struct Page {
    width: usize,
    /// How wide labels are, with the space after them.
    label: usize,
    lines: Vec<String>,
}

impl Page {
    /// An empty page; `labels` are those that its rows will have.
    pub(super) fn new<'l>(width: usize, labels: impl Iterator<Item = &'l str>) -> Self {
        let widest = labels.map(textwrap::core::display_width).max().unwrap_or(0);
        Self {
            width: width.max(1),
            label: widest + 2,
            lines: Vec::new(),
        }
    }

    pub(super) fn blank(&mut self) {
        self.lines.push(String::new());
    }

    /// Text from the left margin.
    pub(super) fn text(&mut self, style: Style, text: &str) {
        for line in textwrap::wrap(text, options(self.width)) {
            self.lines.push(paint(style, line));
        }
    }

    /// A label, and a text beside it, or below it where the page is narrow. A text may have styles in it, as long as
    /// none goes on past a space.
    pub(super) fn row(&mut self, label: &str, text: &str) {
        self.styled_row(FAINT, label, text);
    }

    /// The same with a label in a style.
    pub(super) fn styled_row(&mut self, style: Style, label: &str, text: &str) {
        let is_narrow = self.width < self.label + LEAST_TEXT;
        let indent = match is_narrow {
            true => self.width.min(12) / 6,
            false => self.label,
        };
        let head = format!("{label:<indent$}");
        let mut head = paint(style, head);
        if is_narrow && !label.is_empty() {
            self.text(style, label);
            head = " ".repeat(indent);
        }
        let room = self.width.saturating_sub(indent).max(1);
        for line in text
            .split('\n')
            .flat_map(|text| textwrap::wrap(text, options(room)))
        {
            let line = line.replace('\u{a0}', " ");
            self.lines
                .push(format!("{head}{line}").trim_end().to_owned());
            head = " ".repeat(indent);
        }
    }

    /// What was made.
    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines
    }
}

fn options(width: usize) -> Options<'static> {
    // A path may be longer than a line: it is broken anywhere then.
    Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(true)
}
