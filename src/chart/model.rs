//! What a `statechart.toml` says, as types: one struct per table, one field per key.
//!
//! Nothing here is resolved or checked: [`super::load`] turns a [`Source`] into a [`super::Chart`],
//! whose names all lead somewhere. A doc comment here is what an editor shows for the key.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::expr::source::{Expr, Literal, Text};

/// A file name with holes: `{base}-review-{n:int}.md`. It renders a name and matches one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FilePattern(pub String);

/// Assignments: context field → value.
pub type Assign = IndexMap<String, Literal>;

/// A whole chart file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The chart's name, as `--chart` and messages use it.
    pub id: String,
    /// The phase of an instance that has no state yet.
    pub initial: String,
    /// The context field that holds the phase an instance is in.
    pub state: String,
    /// The context field that holds the phase that is due.
    pub next: Option<String>,
    /// A stop that is allowed without a message prints nothing.
    #[serde(default)]
    pub quiet: bool,
    /// Folders, beside the chart, in which templates are looked up, in order.
    #[serde(default = "templates_beside")]
    pub templates: Vec<String>,
    /// Seconds the host gives a hook before it ends it. Every invocation's timeout is below it.
    #[serde(default = "host_default_timeout")]
    pub hook_timeout: u64,
    /// Where running instances live.
    pub scope: Scope,
    /// The typed fields of `state.json`.
    pub context: IndexMap<String, Field>,
    /// The typed settings of `config.json` in the home, which a user writes: `config.NAME`.
    #[serde(default)]
    pub config: IndexMap<String, Field>,
    /// The options of commands and phases.
    #[serde(default)]
    pub args: IndexMap<String, Arg>,
    /// Named sets of files.
    #[serde(default)]
    pub files: IndexMap<String, Files>,
    /// Rows read out of Markdown files.
    #[serde(default)]
    pub tables: IndexMap<String, Table>,
    /// Names for expressions.
    #[serde(default, rename = "let")]
    pub lets: IndexMap<String, Expr>,
    /// Prompts that a user may replace: `prompts.NAME`.
    #[serde(default)]
    pub prompts: Prompts,
    /// The states of the chart. `{cycle}` in a name makes one phase per cycle.
    pub phases: IndexMap<String, Phase>,
    /// What all cycles share.
    #[serde(default)]
    pub cycle: CycleSource,
    /// Review cycles.
    #[serde(default)]
    pub cycles: IndexMap<String, CycleSource>,
    /// Processes that a rule can start.
    #[serde(default)]
    pub invoke: IndexMap<String, Invoke>,
    /// Event → rules, in order of priority.
    #[serde(default)]
    pub on: IndexMap<String, Vec<Rule>>,
    /// `taskie run NAME`.
    #[serde(default)]
    pub commands: IndexMap<String, Command>,
    /// Lists of findings: `checks.NAME`.
    #[serde(default)]
    pub checks: IndexMap<String, Vec<Check>>,
    /// What the model checker is to prove.
    #[serde(default)]
    pub properties: Vec<Property>,
}

fn templates_beside() -> Vec<String> {
    vec!["templates".to_owned()]
}

fn host_default_timeout() -> u64 {
    600
}

/// Which directories are running instances.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The directory that is searched upward from where the agent works.
    pub home: String,
    /// What one instance is called; gives the command line its `--NOUN`.
    pub noun: String,
    /// Below `home`: the directories that are instances (`plans/*`); the one touched last is meant.
    pub newest: Option<String>,
    /// Below `home`: the directory of a session (`sessions/{session}`); each session has its own.
    pub path: Option<String>,
    /// With `newest`: the files whose modification counts as a touch.
    #[serde(default)]
    pub touch: Vec<FilePattern>,
}

/// A set of files: their patterns, or these with more.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a set of files is a list of patterns, or a table with `names` and `line`"
)]
pub enum Files {
    Names(Vec<FilePattern>),
    Read(ReadFiles),
}

/// A set of files that are looked into.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFiles {
    /// The patterns of their names; a `!` takes away.
    pub names: Vec<FilePattern>,
    /// A line's shape, with holes: `it.lines` are those that fit.
    pub line: FilePattern,
}

/// Prompts: a user's own file in the home, or the template of that name. Plain text in which `{{name}}` is filled in.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prompts {
    /// The prompts: `loop` is `loop.md` in the home, else the template `loop.md`.
    #[serde(default)]
    pub names: Vec<String>,
    /// The names that are filled in. Others stay as they are.
    #[serde(default)]
    pub vars: IndexMap<String, Expr>,
}

/// The type of a context field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    Boolean,
    Integer,
    String,
    // A list of strings.
    List,
    // The name of a phase. (As a doc comment this would split the schema's list of names.)
    Phase,
}

/// One field of `state.json`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// boolean, integer, string, list or phase.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// What the field says; goes into the JSON Schema.
    pub about: Option<String>,
    /// The least integer, or the least length of a list.
    pub minimum: Option<i64>,
    /// The only strings allowed.
    pub one_of: Option<Vec<String>>,
    /// What a string must match as a whole.
    pub pattern: Option<String>,
    /// The value where the key is absent. Without one: null, or the initial phase.
    pub default: Option<Literal>,
    /// Of a context field: the setting that a new instance takes its value from.
    pub setting: Option<String>,
    /// The field may be null.
    #[serde(default)]
    pub nullable: bool,
    /// The key may be absent without a warning.
    #[serde(default)]
    pub optional: bool,
    /// Of a setting: a project's own file sets it only once the user has run `taskie trust`.
    #[serde(default)]
    pub trust: bool,
    /// Of a setting: it is the path of a file in the project, and expressions see the file's text.
    #[serde(default)]
    pub file: bool,
}

/// One option of a command or a phase.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arg {
    /// boolean, integer or string.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// One line for `--help`.
    pub about: Option<String>,
    /// The least integer.
    pub minimum: Option<i64>,
    /// A list of the only values allowed.
    pub one_of: Option<Expr>,
    /// The value where the option is left out.
    pub default: Option<Literal>,
    /// `run limit 4` instead of `run limit --reviews 4`.
    #[serde(default)]
    pub positional: bool,
    /// The text comes on stdin: it passes through no shell.
    #[serde(default)]
    pub stdin: bool,
    /// One letter that stands for it: `-f`.
    pub short: Option<char>,
}

/// The heading of a column, or several that mean the same.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a column is a heading, or a list of headings")]
pub enum Headings {
    One(String),
    Several(Vec<String>),
}

impl Headings {
    /// All of them.
    pub fn list(&self) -> Vec<String> {
        match self {
            Self::One(heading) => vec![heading.clone()],
            Self::Several(headings) => headings.clone(),
        }
    }
}

/// Rows of a file: of a Markdown table by its header, or the lines that fit a pattern.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The file, below the instance's directory.
    pub file: FilePattern,
    /// Row field → column heading, or a list of headings of which the first that is there counts. `id` is the row's
    /// name and must be a slug: a row whose `id` is none counts as open.
    pub columns: Option<IndexMap<String, Headings>>,
    /// A line's shape, with holes.
    pub line: Option<FilePattern>,
    /// The file that a row stands for.
    pub path: Option<FilePattern>,
    /// The values of `status` that mean: nothing left to do.
    #[serde(default)]
    pub finished: Vec<String>,
}

/// A state of the chart: when it may be entered, and what entering it writes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The high-level stage that a person is shown.
    pub stage: Option<String>,
    /// `final`: nothing comes after it.
    #[serde(rename = "type")]
    pub kind: Option<PhaseType>,
    /// Holds where the phase may be entered.
    pub guard: Option<Expr>,
    /// Said where the guard does not hold.
    #[serde(rename = "else")]
    pub otherwise: Option<Text>,
    /// The cycle that starts afresh and becomes due.
    pub arms: Option<String>,
    /// What entering it assigns.
    #[serde(default)]
    pub entry: Assign,
    /// The context fields that entering it sets to null.
    #[serde(default)]
    pub clear: Vec<String>,
}

/// The special kinds of phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PhaseType {
    Final,
}

/// A review cycle, or what all of them share.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CycleSource {
    /// The context field that counts the reviews.
    pub count: Option<String>,
    /// The context field that bounds them.
    pub limit: Option<String>,
    /// Holds, after a review, where the cycle is over.
    pub exit: Option<Expr>,
    /// What starting the cycle over assigns.
    pub entry: Option<Assign>,
    /// The context fields that starting the cycle over sets to null.
    pub clear: Option<Vec<String>>,
    /// The phase that answers a review.
    pub post: Option<String>,
    /// The stem of the cycle's file names.
    pub base: Option<FilePattern>,
    /// The name of review number `{n}`.
    pub review: Option<FilePattern>,
    /// The name of the answer to review number `{n}`.
    pub answer: Option<FilePattern>,
    /// The files a reviewer reads. A name must exist, a list must not be empty.
    pub subject: Option<Vec<Text>>,
    /// Holds where there is something to review.
    pub ready: Option<Expr>,
    /// The phase to resume where there is not.
    pub resume: Option<String>,
    /// The high-level stage that a person is shown.
    pub stage: Option<String>,
    /// Words for templates: `cycle.text.NAME`.
    #[serde(default)]
    pub text: IndexMap<String, Text>,
    /// Where the cycle leads: the first target whose guard holds.
    pub advance: Option<Vec<Advance>>,
}

/// One way out of a cycle.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advance {
    /// Holds where this target is open.
    pub guard: Option<Expr>,
    /// A phase or a cycle.
    pub target: String,
}

/// A process: what is run and where its verdict stands.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Invoke {
    /// The program, looked up on PATH, and its arguments. No shell.
    pub argv: Vec<Text>,
    /// The verdicts; the process may name no other.
    pub verdicts: Vec<String>,
    /// JSON pointers into its stdout: the first that leads to a verdict counts. A string on the way is read as JSON.
    pub verdict: Vec<String>,
    /// A JSON pointer that is true where the run failed.
    pub error: Option<String>,
    /// JSON pointers to the reason of a failure: the first that is there is told.
    #[serde(default)]
    pub reason: Vec<String>,
    /// Who does it, for a person: what `taskie status` shows.
    pub by: Option<Text>,
    /// Seconds.
    pub timeout: u64,
    /// Where its stderr goes, below the instance's directory; removed after a run that succeeded.
    pub log: FilePattern,
}

/// Something that is done to files, before the state is written. All paths are from the project's root, below the
/// home. Exactly one of `write`, `ensure`, `rename`, `copy` and `remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// Once for each item of this list, as `it`.
    pub each: Option<Expr>,
    /// Holds where it is done.
    pub guard: Option<Expr>,
    /// Makes this file, with `text`. Where its name is taken it gets the next free one.
    pub write: Option<Text>,
    /// What is written.
    pub text: Option<Text>,
    /// Makes sure that this file has `line`.
    pub ensure: Option<Text>,
    /// The line.
    pub line: Option<Text>,
    /// Renames this file `to` another name. Where that is taken it gets the next free one.
    pub rename: Option<Text>,
    /// Copies this template `to` a file, unless that is there already.
    pub copy: Option<String>,
    /// Where it goes.
    pub to: Option<Text>,
    /// Removes this directory, which must be an instance's.
    pub remove: Option<Text>,
}

/// What an action does, its keys taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed<'a> {
    Write { path: &'a Text, text: &'a Text },
    Ensure { path: &'a Text, line: &'a Text },
    Rename { path: &'a Text, to: &'a Text },
    Copy { template: &'a str, to: &'a Text },
    Remove { path: &'a Text },
}

impl<'a> Deed<'a> {
    /// The texts with their keys.
    pub fn texts(self) -> Vec<(&'static str, &'a Text)> {
        match self {
            Self::Write { path, text } => vec![("write", path), ("text", text)],
            Self::Ensure { path, line } => vec![("ensure", path), ("line", line)],
            Self::Rename { path, to } => vec![("rename", path), ("to", to)],
            Self::Copy { to, .. } => vec![("to", to)],
            Self::Remove { path } => vec![("remove", path)],
        }
    }
}

impl Action {
    /// What it does; the error says which keys do not go together.
    pub fn deed(&self) -> Result<Deed<'_>, String> {
        let (text, line, to) = (self.text.as_ref(), self.line.as_ref(), self.to.as_ref());
        let keys = (
            self.write.as_ref(),
            self.ensure.as_ref(),
            self.rename.as_ref(),
            self.copy.as_deref(),
            self.remove.as_ref(),
        );
        let deed = match (keys, text, line, to) {
            ((Some(path), None, None, None, None), Some(text), None, None) => {
                Deed::Write { path, text }
            }
            ((None, Some(path), None, None, None), None, Some(line), None) => {
                Deed::Ensure { path, line }
            }
            ((None, None, Some(path), None, None), None, None, Some(to)) => {
                Deed::Rename { path, to }
            }
            ((None, None, None, Some(template), None), None, None, Some(to)) => {
                Deed::Copy { template, to }
            }
            ((None, None, None, None, Some(path)), None, None, None) => Deed::Remove { path },
            _ => {
                return Err(
                    "an action is one of `write` with `text`, `ensure` with `line`, `rename` with `to`, `copy` with \
                     `to`, and `remove`"
                        .to_owned(),
                );
            }
        };
        Ok(deed)
    }
}

/// One rule of an event: guard, assignments, actions, an invocation, then an answer or none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What the rule is for, in a few words: its name in traces and counterexamples.
    pub about: Option<String>,
    /// Holds where the rule fires; without one it always does.
    pub guard: Option<Expr>,
    /// The phase to go to.
    pub target: Option<String>,
    /// What it assigns.
    #[serde(default)]
    pub assign: Assign,
    /// The context fields that it sets to null.
    #[serde(default)]
    pub clear: Vec<String>,
    /// The running cycle's first open advance target becomes due.
    #[serde(default)]
    pub advance: bool,
    /// What it does to files, in this order.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// The process to run; the rules are then read anew with its outcome as `review`.
    pub invoke: Option<String>,
    /// Said to the user.
    pub message: Option<Text>,
    /// Said to the agent.
    pub say: Option<Text>,
    /// The answer: the stop goes through.
    #[serde(default)]
    pub allow: bool,
    /// The answer: the agent goes on, with this text.
    pub block: Option<Text>,
    /// The answer to `next`: what to do now.
    pub action: Option<Text>,
}

/// `taskie run NAME`: one rule, and what is said where it does not apply.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// One line for `--help`.
    pub about: String,
    /// Holds where the command applies.
    pub guard: Option<Expr>,
    /// Said where it does not.
    #[serde(rename = "else")]
    pub otherwise: Option<Text>,
    /// The phase to go to.
    pub target: Option<String>,
    /// What it assigns.
    #[serde(default)]
    pub assign: Assign,
    /// The context fields that it sets to null.
    #[serde(default)]
    pub clear: Vec<String>,
    /// The running cycle's first open advance target becomes due.
    #[serde(default)]
    pub advance: bool,
    /// What it does to files, in this order.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// What it prints.
    pub say: Option<Text>,
    /// Commands that are run after it, each on what the one before has left; the first that does not apply ends it.
    #[serde(default)]
    pub raise: Vec<String>,
}

/// One finding of a list of checks.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Once for each item of this list, as `it`.
    pub each: Option<Expr>,
    /// Holds where there is something to say.
    pub guard: Option<Expr>,
    /// The finding.
    pub say: Text,
}

/// A property for the model checker: exactly one of `always`, `never`, `reachable`, `eventually`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// What the property says, in words.
    pub about: String,
    /// Holds in every state.
    pub always: Option<Expr>,
    /// Holds in no state.
    pub never: Option<Expr>,
    /// Can be reached from every state.
    pub reachable: Option<Expr>,
    /// From every state comes to hold, whatever path the agent and the reviewer take as long as they go on.
    pub eventually: Option<Expr>,
}

impl Property {
    /// The keys of which it has one, with what it says there.
    pub fn claims(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
        let keys = [
            ("always", &self.always),
            ("never", &self.never),
            ("reachable", &self.reachable),
            ("eventually", &self.eventually),
        ];
        keys.into_iter()
            .filter_map(|(key, expr)| Some((key, expr.as_ref()?)))
    }
}
