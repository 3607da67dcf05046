//! The texts and names of files: patterns with holes, the times in them, JSON, rows of Markdown tables. Opens no file.

pub mod json;
pub mod pattern;
pub mod table;
pub mod timestamp;

use std::path::{Component, Path};

/// Returns whether this is a relative path to something in the folder that it is joined to.
pub fn is_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// How many warnings of one kind are shown to the user.
const MOST_WARNINGS: usize = 5;

/// Warnings of one kind: the first few, and the number of the others.
#[derive(Debug, Default)]
pub struct Warnings {
    shown: Vec<String>,
    more: usize,
}

impl Warnings {
    /// Adds a warning. Its text is made only if it will be shown.
    pub fn push(&mut self, text: impl FnOnce() -> String) {
        if self.shown.len() < MOST_WARNINGS {
            self.shown.push(text());
        } else {
            self.more += 1;
        }
    }

    /// Returns the texts. `rest` makes the last one from the number of warnings that are not shown.
    pub fn into_texts(mut self, rest: impl FnOnce(usize) -> String) -> Vec<String> {
        if self.more > 0 {
            self.shown.push(rest(self.more));
        }
        self.shown
    }
}
