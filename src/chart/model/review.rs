//! Reviews: their cycles, what they find, what they may cost, and the processes that give them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::field::Amount;
use super::value::{Assign, FilePattern};
use crate::expr::source::{Expr, Text};
use crate::files::pattern::Pattern;
use crate::hash::IndexMap;
use crate::host::vendors::{self, Answer, OWN, Vendor};

/// A review cycle, or what all of them share.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Cycle {
    #[serde(skip)]
    pub id: String,
    /// The cycle that this one copies. Its own keys are merged over the copy.
    #[schemars(with = "Option<String>")]
    copy: Option<IgnoredAny>,
    /// The context field that counts the reviews.
    pub count: String,
    /// The context field that limits the number of reviews. The user may change it at any time, so no property can promise a
    /// fixed number of reviews.
    pub limit: String,
    /// Whether the cycle ends, evaluated after each review.
    pub exit: Expr,
    /// How near the cycle is to its end, in words for `taskie status`: `1 of 2 clean in a row`.
    pub streak: Option<Text>,
    /// What starting the cycle over assigns.
    #[serde(default)]
    pub entry: Assign,
    /// The context fields that it sets to null.
    #[serde(default)]
    pub clear: Vec<String>,
    /// The phase that answers a review.
    pub post: String,
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
    /// Why a review cannot start if a list of `subject` is empty: what is missing, and what to do.
    pub empty: Option<Text>,
    /// Whether there is something to review: `cycle.ready`.
    pub ready: Option<Expr>,
    /// The phase to resume if there is nothing to review yet: `cycle.resume`.
    pub resume: Option<String>,
    /// How many reviews in a row may find something in exactly the same work, or (of at least two) exactly the same in
    /// any work, before `cycle.stalled` is true: a number, or `{{ config.NAME }}`. Without it, and if it is 0, it is never
    /// true.
    pub stall: Option<Amount>,
    /// The files of the work tree that its verdicts are not about, as patterns of git: `{{ config.NAME }}`, a list, or none.
    /// Without it, and if it is none, its verdicts are about `subject` only.
    pub skips: Option<Text>,
    /// The stage that `taskie status` shows.
    pub stage: Option<String>,
    /// Texts for templates: `cycle.text.NAME`.
    #[serde(default)]
    pub text: IndexMap<String, Text>,
    /// What comes after the cycle: the first target whose guard is true.
    pub advance: Vec<Advance>,
}

impl Cycle {
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

/// What reviews find, as data.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Findings {
    /// The severities that a finding may have, from the worst to the mildest.
    pub severities: Vec<String>,
    /// What the answer to a review can say of a finding: `plan-review-2.1: fixed`. The first one says that it is gone,
    /// the last one, if there are several, that it is left for later.
    #[serde(default)]
    pub answers: Vec<String>,
    /// What a finding is that no answer names when its cycle is over. A cycle is over if it isn't running and no
    /// other field of type `phase`, such as one that a pause sets, has one of its phases. Until then, and without this
    /// key, the finding is `open`.
    pub unanswered: Option<String>,
    /// What the user can rule about a finding: the word for `taskie findings`, and what the finding is then. Rulings are in
    /// the file `rulings` in the instance's directory.
    #[serde(default)]
    pub rulings: IndexMap<String, String>,
}

impl Findings {
    /// Returns what a finding is that an answer leaves for later, if an answer can do that.
    pub fn put_off(&self) -> Option<&str> {
        let (_, others) = self.answers.split_first()?;
        others.last().map(String::as_str)
    }
}

/// Budgets, as settings: `{{ config.NAME }}`. A setting that is null sets no limit.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// What all reviews of an instance may cost, in US dollars. A review whose reviewer reports no cost adds nothing.
    pub instance: Option<Text>,
    /// What the reviews of a cycle may cost until it is over, in US dollars.
    pub cycle: Option<Text>,
    /// What one review may cost, in US dollars: it is passed to a reviewer that can keep to it, and `check-chart` states the
    /// worst case with it.
    pub review: Option<Text>,
    /// How many reviews of a cycle may fail in a row. One that was not started does not count, nor one after which
    /// no reviewer can run for a while. `taskie next --retry` starts to count again.
    pub failures: Option<Text>,
}

/// What a budget of a chart limits, as the engine sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    Failures,
    Cycle,
    Instance,
}

impl Limited {
    /// All of them: the first one that is used up is reported.
    pub const ALL: [Self; 3] = [
        Self::Cycle,
        Self::Instance,
        // Where another try is asked for, one must be allowed.
        Self::Failures,
    ];

    /// Returns its key in the chart, which is also the word in `spent.over`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Failures => "failures",
            Self::Cycle => "cycle",
            Self::Instance => "instance",
        }
    }
}

impl Budget {
    /// Returns the setting of a limit that the engine keeps.
    pub fn of(&self, limited: Limited) -> Option<&Text> {
        let text = match limited {
            Limited::Failures => &self.failures,
            Limited::Cycle => &self.cycle,
            Limited::Instance => &self.instance,
        };
        text.as_ref()
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
    /// Whether it may do little more than read, write its review and run `commands`: for the reviewers that need no `argv`.
    /// Without it, that is so.
    pub restricted: Option<Expr>,
    /// The list of commands that it may run then.
    pub commands: Option<Expr>,
    /// The list of command lines that must succeed before it starts, in order. Each is split into words as a shell does, and
    /// run without a shell in the project's root. If one fails, the rules are tried again with `gate.failed`.
    pub gates: Option<Expr>,
    /// Its answer has the review itself: if it has written no file, `review` in it is written.
    #[serde(default)]
    pub text: bool,
    /// The time limit of the process in seconds: a number, or `{{ config.NAME }}`. Less than 3600, after which the host ends the
    /// hook. A review that may take longer than the hook has is not started.
    pub timeout: Amount,
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
