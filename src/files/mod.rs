//! What stands in files and in their names: patterns with holes, times, rows of Markdown tables. Reads only.

pub mod clock;
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
