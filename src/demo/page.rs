//! What a person sees: labelled rows on a page as wide as the terminal, in colour where there is one.

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use textwrap::{Options, WordSeparator, WordSplitter};

/// The width where there is no terminal.
const DEFAULT_WIDTH: usize = 100;

/// Narrower lines hold nothing, and wider ones are hard to read.
const LEAST_WIDTH: usize = 30;
const MOST_WIDTH: usize = 120;

/// The characters of a text that is shown at a glance.
const GLANCE: usize = 80;

/// Where a row's text begins: room for a number and a label before it.
const INDENT: usize = 10;

pub(super) const PLAIN: Style = Style::new();
pub(super) const STRONG: Style = Style::new().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const RULE: Style = AnsiColor::Cyan.on_default();
pub(super) const NEW: Style = AnsiColor::Yellow.on_default();
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(super) const HALT: Style = AnsiColor::Yellow.on_default().bold();
const TITLE: Style = AnsiColor::Blue.on_default().bold();

/// A text in a style.
pub(super) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// How much of a long text is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Room {
    /// So many lines, and then how many words are left.
    Lines(usize),
    /// About as much as one look takes in.
    Glance,
}

/// Stdout, line by line. A reader that has gone away is no error.
#[derive(Debug)]
pub(super) struct Page {
    out: AutoStream<std::io::Stdout>,
    width: usize,
}

impl Page {
    /// A page on stdout. There is colour where that is a terminal and `NO_COLOR` is unset.
    pub(super) fn new() -> Self {
        let stdout = std::io::stdout();
        let size = stdout
            .is_terminal()
            .then(|| rustix::termios::tcgetwinsize(&stdout).ok())
            .flatten();
        let width = size
            .map(|size| usize::from(size.ws_col))
            .filter(|width| *width > 0)
            .unwrap_or(DEFAULT_WIDTH);
        Self {
            out: anstream::stdout(),
            width: width.clamp(LEAST_WIDTH, MOST_WIDTH),
        }
    }

    pub(super) fn blank(&mut self) {
        self.line("");
    }

    /// The heading of a part.
    pub(super) fn heading(&mut self, title: &str) {
        let rest = self.width.saturating_sub(title.chars().count() + 4);
        self.line(&format!(
            "{} {} {}",
            paint(FAINT, "──"),
            paint(TITLE, title),
            paint(FAINT, "─".repeat(rest))
        ));
    }

    /// Text from the left margin.
    pub(super) fn text(&mut self, style: Style, text: &str) {
        for line in textwrap::wrap(text, options(self.width)) {
            self.line(&paint(style, line));
        }
    }

    /// A row: a label, and text beside it.
    pub(super) fn row(&mut self, label: &str, style: Style, text: &str) {
        self.numbered("", label, style, text);
    }

    /// A row with a number before its label.
    pub(super) fn numbered(&mut self, number: impl Display, label: &str, style: Style, text: &str) {
        let mut head = format!(
            "{} {}",
            paint(FAINT, format!("{:>2}", number.to_string())),
            paint(style, format!("{label:<6}"))
        );
        for line in textwrap::wrap(text, options(self.text_width())) {
            self.line(&format!("{head} {line}"));
            head = " ".repeat(INDENT - 1);
        }
    }

    /// A text without styles that a row does not break, unless it is too long for a line.
    pub(super) fn whole(&self, text: &str) -> String {
        if textwrap::core::display_width(text) > self.text_width() {
            return text.to_owned();
        }
        text.replace(' ', "\u{a0}")
    }

    /// A text without styles, cut to what a row has room for.
    pub(super) fn shortened(&self, text: &str, room: Room) -> String {
        let lines = |text: &str| textwrap::wrap(text, options(self.text_width())).len();
        let (most, is_counted) = match room {
            Room::Lines(most) => (most, true),
            Room::Glance => (GLANCE.div_ceil(self.text_width()), false),
        };
        // What is nearly done need not be cut.
        if lines(text) <= most + 1 {
            return text.to_owned();
        }
        let mut words: Vec<&str> = text.split(' ').collect();
        let mut left = 0;
        loop {
            words.pop();
            left += 1;
            let rest = match is_counted {
                true => format!("… ({left} more words)").replace(' ', "\u{a0}"),
                false => "…".to_owned(),
            };
            let short = format!("{} {}", words.join(" "), paint(FAINT, rest));
            if words.len() <= 1 || lines(&short) <= most {
                return short;
            }
        }
    }

    fn text_width(&self) -> usize {
        self.width - INDENT
    }

    fn line(&mut self, line: &str) {
        let line = line.replace('\u{a0}', " ");
        let _ = writeln!(self.out, "{}", line.trim_end());
    }
}

fn options(width: usize) -> Options<'static> {
    Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: usize) -> Page {
        Page {
            out: anstream::stdout(),
            width,
        }
    }

    #[test]
    fn a_long_text_is_cut_between_words() {
        let text = (1..=40)
            .map(|n| format!("word{n}"))
            .collect::<Vec<_>>()
            .join(" ");
        let plain =
            |room| anstream::adapter::strip_str(&page(60).shortened(&text, room)).to_string();
        let glance = plain(Room::Glance);
        assert!(
            glance.ends_with("word15 …") && glance.starts_with("word1 word2"),
            "{glance}"
        );
        let lines = plain(Room::Lines(3));
        assert!(
            lines.ends_with("word19 …\u{a0}(21\u{a0}more\u{a0}words)"),
            "{lines}"
        );
        for room in [Room::Glance, Room::Lines(1)] {
            assert_eq!(page(60).shortened("short", room), "short");
        }
    }

    #[test]
    fn a_text_that_fits_a_line_is_not_broken() {
        assert_eq!(page(60).whole("a b"), "a\u{a0}b");
        let long = "a b ".repeat(20);
        assert_eq!(page(60).whole(&long), long);
    }
}
