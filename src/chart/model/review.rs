//! Reviews: their cycles, what they find, what they may cost, and the processes that give them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::field::Amount;
use super::value::{Assign, FilePattern};
use crate::expr::source::{Expr, Text};
use crate::hash::IndexMap;

/// A review cycle, or what all of them share.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct CycleSource {
    /// The cycle that this one copies. Its own keys are merged over the copy.
    pub copy: Option<String>,
    /// Required in one of the two tables. The context field that counts the reviews.
    pub count: Option<String>,
    /// Required in one of the two tables. The context field that limits the number of reviews. The user may change it at
    /// any time, so no property can promise a fixed number of reviews.
    pub limit: Option<String>,
    /// Required in one of the two tables. Whether the cycle ends, evaluated after each review.
    pub exit: Option<Expr>,
    /// How near the cycle is to its end, in words for `taskie status`: `1 of 2 clean in a row`.
    pub streak: Option<Text>,
    /// What starting the cycle over assigns. Required in one of the two tables unless there is `clear`.
    pub entry: Option<Assign>,
    /// The context fields that it sets to null.
    pub clear: Option<Vec<String>>,
    /// Required in one of the two tables. The phase that answers a review.
    pub post: Option<String>,
    /// Required in one of the two tables. The value of `{base}` in the cycle's file names.
    pub base: Option<FilePattern>,
    /// Required in one of the two tables. The name of review number `{n}`.
    pub review: Option<FilePattern>,
    /// Required in one of the two tables. The name of the answer to review number `{n}`.
    pub answer: Option<FilePattern>,
    /// The files that the reviewer reads, in the instance's directory: names with holes, or `{{ }}` with a list of names.
    /// A file that does not exist and an empty list make the review fail before it starts.
    pub subject: Option<Vec<Text>>,
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
    /// Required in one of the two tables. What comes after the cycle: the first target whose guard is true.
    pub advance: Option<Vec<Advance>>,
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
    /// What one review may cost, in US dollars: `argv` passes it to the reviewer, and `check-chart` states the worst case
    /// with it.
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

/// Commands that check the work before a reviewer reads it. They run one after the other in the project's root. If one
/// fails, no reviewer is started, and the rules are tried again with `gate.failed`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateCommands {
    /// The list of command lines, in order. Each is split into words as a shell does, and run without a shell.
    pub commands: Expr,
}

/// A process: what to run, and where to find its verdict. Or what all processes share.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvokeSource {
    /// Required in one of the two tables. The program, looked up on PATH, and its arguments. There is no shell.
    pub argv: Option<Vec<Text>>,
    /// What the process prints on stdout.
    pub answer: Option<AnswerForm>,
    /// Required in one of the two tables. The verdicts that the process may give.
    pub verdicts: Option<Vec<String>>,
    /// Required in one of the two tables. JSON pointers into its stdout: the first one that points to a verdict counts. A
    /// string on the way is parsed as JSON; if it is another text, its last JSON object counts.
    pub verdict: Option<Vec<String>>,
    /// JSON pointers to what it found: a list of records with `severity` and `title`, and often `file` and `line`. The
    /// first one that exists counts. What cannot be read counts as the worst.
    pub findings: Option<Vec<String>>,
    /// JSON pointers to the commands that it says that it ran: a list of records with `command`, and often `exit`. The first
    /// one that exists counts.
    pub ran: Option<Vec<String>>,
    /// JSON pointers to the review itself: if the process has written no file, the first one that exists is written to it.
    pub text: Option<Vec<String>>,
    /// A JSON pointer to a boolean that is true if the run failed.
    pub error: Option<String>,
    /// JSON pointers to the reason of a failure: the first one that exists is reported.
    pub reason: Option<Vec<String>>,
    /// A JSON pointer to the cost of the run, in US dollars.
    pub cost: Option<String>,
    /// JSON pointers to the numbers of tokens that it used; those that exist are added up.
    pub tokens: Option<Vec<String>>,
    /// A JSON pointer to the HTTP status with which a run failed. If that means a usage limit or an outage, `postponed` says, in
    /// all instances of the project, until when that lasts: as a text that `reason` points to says (`resets 6:23pm
    /// (Europe/Berlin)`), or 300 seconds. `taskie next --retry` ends it.
    pub status: Option<String>,
    /// Who reviews, for `taskie status`.
    pub by: Option<Text>,
    /// Required in one of the two tables. The time limit of the process in seconds: a number, or `{{ config.NAME }}`. Less than
    /// 3600, after which the host ends the hook. A review that may take longer than the hook has is not started.
    pub timeout: Option<Amount>,
}

/// What a process prints on stdout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnswerForm {
    /// JSON and nothing else.
    #[default]
    Json,
    /// Text; the last JSON object in it is the answer.
    Text,
}
