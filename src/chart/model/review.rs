//! Reviews: their cycles, what they find, what they may cost, and the processes that give them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::value::{Assign, FilePattern};
use crate::expr::source::{Expr, Text};
use crate::files::pattern::Pattern;
use crate::hash::IndexMap;
use crate::host::vendors::{self, Answer, OWN, Vendor};

/// A review cycle, or what all of them share.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cycle {
    #[serde(skip)]
    pub id: String,
    /// The phase that answers a review: `post-{cycle}`.
    #[serde(skip)]
    pub post: String,
    /// The context field that counts the reviews.
    pub count: String,
    /// The context field that limits the number of reviews. The user may change it at any time, so no property can promise a
    /// fixed number of reviews.
    pub limit: String,
    /// Whether the cycle ends, evaluated after each review.
    pub exit: Expr,
    /// What starting the cycle over assigns.
    #[serde(default)]
    pub entry: Assign,
    /// The value of `{base}` in the cycle's file names.
    pub base: FilePattern,
    /// The name of review number `{n}`.
    pub review: FilePattern,
    /// The name of the answer to review number `{n}`.
    pub answer: FilePattern,
    /// The files that the reviewer reads, in the instance's directory: names with holes, or `{{ }}` with a list of names.
    /// A file that does not exist and an empty list make the review fail before it starts.
    #[serde(default)]
    pub subject: Vec<Text>,
    /// Whether there is something to review: `cycle.ready`.
    pub ready: Option<Expr>,
    /// The phase to resume if there is nothing to review yet: `cycle.resume`.
    pub resume: Option<String>,
    /// Its reviews are about code: about all files of the work tree but those of the setting `skip`. It is the list of
    /// command lines that must succeed before a review starts, in order. Each is split into words as a shell does, and run
    /// without a shell in the project's root, but not again on the same files. If one fails, the rules are tried again with
    /// `gate.failed`. Without it, its reviews are about `subject` only.
    pub gates: Option<Expr>,
    /// The stage that `taskie status` shows.
    pub stage: Option<String>,
    /// Texts for templates: `cycle.text.NAME`. The program shows two of them: `empty` says what is missing where a list of
    /// `subject` is empty, and `streak` how near the cycle is to its end.
    #[serde(default)]
    pub text: IndexMap<String, Text>,
    /// What comes after the cycle: the first target whose guard is true.
    pub advance: Vec<Advance>,
}

impl Cycle {
    /// Returns whether its reviews are about code.
    pub fn is_of_code(&self) -> bool {
        self.gates.is_some()
    }

    /// Returns it in words, for a row or a list: what it is about, its `base`, is only named where that can differ.
    pub fn title(&self, base: &str) -> String {
        match self.base.holes().next() {
            None => self.id.clone(),
            Some(_) => format!("{} {base}", self.id),
        }
    }

    /// Returns a file name of the cycle with its holes filled: `base`, `n`, and those of which `part` says what they are.
    pub fn file_name<E>(
        &self,
        pattern: &Pattern,
        n: &str,
        part: impl Fn(&str) -> Result<String, E>,
    ) -> Result<String, E> {
        pattern.render(|hole| match hole {
            "base" => self.base.render(&part),
            "n" => Ok(n.to_owned()),
            other => part(other),
        })
    }
}

/// What may come after a cycle.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advance {
    /// Whether it applies. Without a guard it always does.
    pub guard: Option<Expr>,
    /// A phase or a cycle.
    pub target: String,
}

/// A reviewer, or what all of them share.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Invoke {
    #[serde(skip)]
    pub vendor: Option<&'static Vendor>,
    /// The program, looked up on PATH, and its arguments. There is no shell. It prints one JSON object: `verdict`, `PASS`
    /// or `FAIL`, and perhaps `findings`, `ran`, `review` and `cost_usd`. The program knows how `claude`, `codex`, `copilot` and `gemini` are
    /// called: they need none.
    #[serde(default)]
    pub argv: Vec<Text>,
    /// What it is asked: its last argument. `it.id` is the reviewer's name, and `it.model` its model.
    pub prompt: Option<Text>,
    /// The list of commands that it may run where it may do little more than read, as the setting `permissions` says: for the
    /// reviewers that need no `argv`.
    pub commands: Option<Expr>,
    /// Its answer has the review itself: if it has written no file, `review` in it is written.
    #[serde(default)]
    pub text: bool,
}

impl Invoke {
    /// Returns where its answer has what is read.
    pub fn answer(&self) -> &'static Answer {
        self.vendor.map_or(&OWN, |vendor| &vendor.answer)
    }

    /// Returns the program, as far as that is known without a run.
    pub fn program(&self) -> &str {
        match (self.argv.first(), self.vendor) {
            (Some(program), _) => &program.0,
            (None, vendor) => vendor.map_or("", Vendor::program),
        }
    }
}

/// Gives reviewers that vendors know their vendors.
pub fn know_vendors(reviewers: &mut IndexMap<String, Invoke>) {
    for (name, reviewer) in reviewers {
        reviewer.vendor = vendors::named(name);
    }
}
