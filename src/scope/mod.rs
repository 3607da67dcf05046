//! Where running instances live and what stands in their directories: finding the home upward, the
//! newest instance below it, names by pattern, rows of Markdown tables. Reads only.

pub(crate) mod find;
pub(crate) mod pattern;
pub(crate) mod stamp;
pub(crate) mod table;

/// How many warnings of one kind a user is shown.
const MOST_WARNINGS: usize = 5;

/// Warnings of one kind: the first few, and how many there are beside them.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    shown: Vec<String>,
    more: usize,
}

impl Warnings {
    /// Adds one; its text is made only where it is shown.
    pub(crate) fn push(&mut self, text: impl FnOnce() -> String) {
        if self.shown.len() < MOST_WARNINGS {
            self.shown.push(text());
        } else {
            self.more += 1;
        }
    }

    /// The texts; `rest` makes the last one out of the number of those not shown.
    pub(crate) fn into_texts(mut self, rest: impl FnOnce(usize) -> String) -> Vec<String> {
        if self.more > 0 {
            self.shown.push(rest(self.more));
        }
        self.shown
    }
}
