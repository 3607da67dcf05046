//! What stands in files and in their names: patterns with holes, times, rows of Markdown tables. Reads only.

use std::borrow::Cow;

pub mod pattern;
pub mod regular;
pub mod table;
pub mod timestamp;

/// How many warnings of one kind a user is shown.
const MOST_WARNINGS: usize = 5;

/// Warnings of one kind: the first few, and how many there are beside them.
#[derive(Debug, Default)]
pub struct Warnings {
    shown: Vec<String>,
    more: usize,
}

impl Warnings {
    /// Adds one; its text is made only where it is shown.
    pub fn push(&mut self, text: impl FnOnce() -> String) {
        if self.shown.len() < MOST_WARNINGS {
            self.shown.push(text());
        } else {
            self.more += 1;
        }
    }

    /// The texts; `rest` makes the last one out of the number of those not shown.
    pub fn into_texts(mut self, rest: impl FnOnce(usize) -> String) -> Vec<String> {
        if self.more > 0 {
            self.shown.push(rest(self.more));
        }
        self.shown
    }
}

/// Returns a text as it may be shown: what would not be seen, or would change the text around it, is escaped.
pub fn shown(text: &str) -> Cow<'_, str> {
    let is_harmful = |char: char| {
        char.is_control()
            || matches!(char, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match is_harmful(char) {
            true => shown.extend(char.escape_default()),
            false => shown.push(char),
        }
    }
    Cow::Owned(shown)
}
