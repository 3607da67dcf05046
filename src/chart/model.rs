//! What a `statechart.toml` says, as types: one struct per table, one field per key.
//!
//! Nothing here is resolved or checked: [`super::load`] turns a [`Source`] into a [`super::Chart`],
//! whose names all lead somewhere. A doc comment here is what an editor shows for the key.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// A bare expression: `next_phase == 'complete'`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Expr(pub(crate) String);

/// A text with holes: `Task {{ current_task }}`. One that is a single `{{ … }}` keeps its type.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Text(pub(crate) String);

/// A file name with holes: `{base}-review-{n:int}.md`. It renders a name and matches one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct FilePattern(pub(crate) String);

/// A value to assign, or a default.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a value is a boolean, an integer or a text")]
pub(crate) enum Literal {
    Boolean(bool),
    Integer(i64),
    Text(Text),
}

/// Assignments: context field → value.
pub(crate) type Assign = IndexMap<String, Literal>;

/// A whole chart file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// The chart's name, as `--chart` and messages use it.
    pub(crate) id: String,
    /// The phase of an instance that has no state yet.
    pub(crate) initial: String,
    /// The context field that holds the phase an instance is in.
    pub(crate) state: String,
    /// The context field that holds the phase that is due.
    pub(crate) next: Option<String>,
    /// A stop that is allowed without a message prints nothing.
    #[serde(default)]
    pub(crate) quiet: bool,
    /// Folders, beside the chart, in which templates are looked up, in order.
    #[serde(default = "templates_beside")]
    pub(crate) templates: Vec<String>,
    /// Seconds the host gives a hook before it ends it. Every invocation's timeout is below it.
    #[serde(default = "host_default_timeout")]
    pub(crate) hook_timeout: u64,
    /// Where running instances live.
    pub(crate) scope: Scope,
    /// The typed fields of `state.json`.
    pub(crate) context: IndexMap<String, Field>,
    /// The typed settings of `config.json` in the home, which a user writes: `config.NAME`.
    #[serde(default)]
    pub(crate) config: IndexMap<String, Field>,
    /// The options of commands and phases.
    #[serde(default)]
    pub(crate) args: IndexMap<String, Arg>,
    /// Named sets of files.
    #[serde(default)]
    pub(crate) files: IndexMap<String, Files>,
    /// Rows read out of Markdown files.
    #[serde(default)]
    pub(crate) tables: IndexMap<String, Table>,
    /// Names for expressions.
    #[serde(default, rename = "let")]
    pub(crate) lets: IndexMap<String, Expr>,
    /// Prompts that a user may replace: `prompts.NAME`.
    #[serde(default)]
    pub(crate) prompts: Prompts,
    /// The states of the chart. `{cycle}` in a name makes one phase per cycle.
    pub(crate) phases: IndexMap<String, Phase>,
    /// What all cycles share.
    #[serde(default)]
    pub(crate) cycle: CycleSource,
    /// Review cycles.
    #[serde(default)]
    pub(crate) cycles: IndexMap<String, CycleSource>,
    /// Processes that a rule can start.
    #[serde(default)]
    pub(crate) invoke: IndexMap<String, Invoke>,
    /// Event → rules, in order of priority.
    #[serde(default)]
    pub(crate) on: IndexMap<String, Vec<Rule>>,
    /// `taskie run NAME`.
    #[serde(default)]
    pub(crate) commands: IndexMap<String, Command>,
    /// Lists of findings: `checks.NAME`.
    #[serde(default)]
    pub(crate) checks: IndexMap<String, Vec<Check>>,
    /// What the model checker is to prove.
    #[serde(default)]
    pub(crate) properties: Vec<Property>,
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
pub(crate) struct Scope {
    /// The directory that is searched upward from where the agent works.
    pub(crate) home: String,
    /// What one instance is called; gives the command line its `--NOUN`.
    pub(crate) noun: String,
    /// Below `home`: the directories that are instances (`plans/*`); the one touched last is meant.
    pub(crate) newest: Option<String>,
    /// Below `home`: the directory of a session (`sessions/{session}`); each session has its own.
    pub(crate) path: Option<String>,
    /// With `newest`: the files whose modification counts as a touch.
    #[serde(default)]
    pub(crate) touch: Vec<FilePattern>,
    /// With `newest`: the context field that names the session an instance belongs to: another session's is passed
    /// over.
    pub(crate) owner: Option<String>,
}

/// A set of files: their patterns, or these with more.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a set of files is a list of patterns, or a table with `names` and `line`"
)]
pub(crate) enum Files {
    Names(Vec<FilePattern>),
    Read(ReadFiles),
}

/// A set of files that are looked into.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFiles {
    /// The patterns of their names; a `!` takes away.
    pub(crate) names: Vec<FilePattern>,
    /// A line's shape, with holes: `it.lines` are those that fit.
    pub(crate) line: FilePattern,
}

/// Prompts: a user's own file in the home, or the template of that name. Plain text in which `{{name}}` is filled in.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prompts {
    /// The prompts: `loop` is `loop.md` in the home, else the template `loop.md`.
    #[serde(default)]
    pub(crate) names: Vec<String>,
    /// The names that are filled in. Others stay as they are.
    #[serde(default)]
    pub(crate) vars: IndexMap<String, Expr>,
}

/// The type of a context field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FieldType {
    Boolean,
    Integer,
    String,
    // The name of a phase. (As a doc comment this would split the schema's list of names.)
    Phase,
}

/// One field of `state.json`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Field {
    /// boolean, integer, string or phase.
    #[serde(rename = "type")]
    pub(crate) kind: FieldType,
    /// What the field says; goes into the JSON Schema.
    pub(crate) about: Option<String>,
    /// The least integer.
    pub(crate) minimum: Option<i64>,
    /// What a string must match as a whole.
    pub(crate) pattern: Option<String>,
    /// The value where the key is absent. Without one: null, or the initial phase.
    pub(crate) default: Option<Literal>,
    /// The field may be null.
    #[serde(default)]
    pub(crate) nullable: bool,
    /// The key may be absent without a warning.
    #[serde(default)]
    pub(crate) optional: bool,
}

/// One option of a command or a phase.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arg {
    /// boolean, integer or string.
    #[serde(rename = "type")]
    pub(crate) kind: FieldType,
    /// One line for `--help`.
    pub(crate) about: Option<String>,
    /// The least integer.
    pub(crate) minimum: Option<i64>,
    /// A list of the only values allowed.
    pub(crate) one_of: Option<Expr>,
    /// The value where the option is left out.
    pub(crate) default: Option<Literal>,
    /// `run limit 4` instead of `run limit --reviews 4`.
    #[serde(default)]
    pub(crate) positional: bool,
    /// The text comes on stdin: it passes through no shell.
    #[serde(default)]
    pub(crate) stdin: bool,
    /// One letter that stands for it: `-f`.
    pub(crate) short: Option<char>,
}

/// Rows of a file: of a Markdown table by its header, or the lines that fit a pattern.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// The file, below the instance's directory.
    pub(crate) file: FilePattern,
    /// Row field → column heading. `id` is the row's name and must be a slug.
    pub(crate) columns: Option<IndexMap<String, String>>,
    /// A line's shape, with holes.
    pub(crate) line: Option<FilePattern>,
    /// The file that a row stands for.
    pub(crate) path: Option<FilePattern>,
    /// The values of `status` that mean: nothing left to do.
    #[serde(default)]
    pub(crate) finished: Vec<String>,
}

/// A state of the chart: when it may be entered, and what entering it writes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Phase {
    /// The high-level stage that a person is shown.
    pub(crate) stage: Option<String>,
    /// `final`: nothing comes after it.
    #[serde(rename = "type")]
    pub(crate) kind: Option<PhaseType>,
    /// Holds where the phase may be entered.
    pub(crate) guard: Option<Expr>,
    /// Said where the guard does not hold.
    #[serde(rename = "else")]
    pub(crate) otherwise: Option<Text>,
    /// The cycle that starts afresh and becomes due.
    pub(crate) arms: Option<String>,
    /// What entering it assigns.
    #[serde(default)]
    pub(crate) entry: Assign,
}

/// The special kinds of phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PhaseType {
    Final,
}

/// A review cycle, or what all of them share.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CycleSource {
    /// The context field that counts the reviews.
    pub(crate) count: Option<String>,
    /// The context field that bounds them.
    pub(crate) limit: Option<String>,
    /// Holds, after a review, where the cycle is over.
    pub(crate) exit: Option<Expr>,
    /// What starting the cycle afresh assigns.
    pub(crate) entry: Option<Assign>,
    /// The phase that answers a review.
    pub(crate) post: Option<String>,
    /// The stem of the cycle's file names.
    pub(crate) base: Option<FilePattern>,
    /// The name of review number `{n}`.
    pub(crate) review: Option<FilePattern>,
    /// The name of the answer to review number `{n}`.
    pub(crate) answer: Option<FilePattern>,
    /// The files a reviewer reads. A name must exist, a list must not be empty.
    pub(crate) subject: Option<Vec<Text>>,
    /// Holds where there is something to review.
    pub(crate) ready: Option<Expr>,
    /// The phase to resume where there is not.
    pub(crate) resume: Option<String>,
    /// The high-level stage that a person is shown.
    pub(crate) stage: Option<String>,
    /// Words for templates: `cycle.text.NAME`.
    #[serde(default)]
    pub(crate) text: IndexMap<String, Text>,
    /// Where the cycle leads: the first target whose guard holds.
    pub(crate) advance: Option<Vec<Advance>>,
}

/// One way out of a cycle.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Advance {
    /// Holds where this target is open.
    pub(crate) guard: Option<Expr>,
    /// A phase or a cycle.
    pub(crate) target: String,
}

/// A process: what is run and where its verdict stands.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Invoke {
    /// The program, looked up on PATH, and its arguments. No shell.
    pub(crate) argv: Vec<Text>,
    /// The verdicts; the process may name no other.
    pub(crate) verdicts: Vec<String>,
    /// JSON pointers into its stdout: the first that leads to a verdict counts. A string on the way is read as JSON.
    pub(crate) verdict: Vec<String>,
    /// A JSON pointer that is true where the run failed.
    pub(crate) error: Option<String>,
    /// JSON pointers to the reason of a failure: the first that is there is told.
    #[serde(default)]
    pub(crate) reason: Vec<String>,
    /// Who does it, for a person: what `taskie status` shows.
    pub(crate) by: Option<Text>,
    /// Seconds.
    pub(crate) timeout: u64,
    /// Where its stderr goes, below the instance's directory; removed after a run that succeeded.
    pub(crate) log: FilePattern,
}

/// Something that is done to files, before the state is written. All paths are from the project's root, below the
/// home. Exactly one of `write`, `ensure`, `rename`, `copy` and `remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Action {
    /// Once for each item of this list, as `it`.
    pub(crate) each: Option<Expr>,
    /// Holds where it is done.
    pub(crate) guard: Option<Expr>,
    /// Makes this file, with `text`. Where its name is taken it gets the next free one.
    pub(crate) write: Option<Text>,
    /// What is written.
    pub(crate) text: Option<Text>,
    /// Makes sure that this file has `line`.
    pub(crate) ensure: Option<Text>,
    /// The line.
    pub(crate) line: Option<Text>,
    /// Renames this file `to` another name. Where that is taken it gets the next free one.
    pub(crate) rename: Option<Text>,
    /// Copies this template `to` a file, unless that is there already.
    pub(crate) copy: Option<String>,
    /// Where it goes.
    pub(crate) to: Option<Text>,
    /// Removes this directory, which must be an instance's.
    pub(crate) remove: Option<Text>,
}

/// What an action does, its keys taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed<'a> {
    Write { path: &'a Text, text: &'a Text },
    Ensure { path: &'a Text, line: &'a Text },
    Rename { path: &'a Text, to: &'a Text },
    Copy { template: &'a str, to: &'a Text },
    Remove { path: &'a Text },
}

impl<'a> Deed<'a> {
    /// The texts with their keys.
    pub(crate) fn texts(self) -> Vec<(&'static str, &'a Text)> {
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
    pub(crate) fn deed(&self) -> Result<Deed<'_>, String> {
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
pub(crate) struct Rule {
    /// Holds where the rule fires; without one it always does.
    pub(crate) guard: Option<Expr>,
    /// The phase to go to.
    pub(crate) target: Option<String>,
    /// What it assigns.
    #[serde(default)]
    pub(crate) assign: Assign,
    /// The running cycle's first open advance target becomes due.
    #[serde(default)]
    pub(crate) advance: bool,
    /// What it does to files, in this order.
    #[serde(default)]
    pub(crate) actions: Vec<Action>,
    /// The process to run; the rules are then read anew with its outcome as `review`.
    pub(crate) invoke: Option<String>,
    /// Said to the user.
    pub(crate) message: Option<Text>,
    /// Said to the agent.
    pub(crate) say: Option<Text>,
    /// The answer: the stop goes through.
    #[serde(default)]
    pub(crate) allow: bool,
    /// The answer: the agent goes on, with this text.
    pub(crate) block: Option<Text>,
    /// The answer to `next`: what to do now.
    pub(crate) action: Option<Text>,
}

/// `taskie run NAME`: one rule, and what is said where it does not apply.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    /// One line for `--help`.
    pub(crate) about: String,
    /// Holds where the command applies.
    pub(crate) guard: Option<Expr>,
    /// Said where it does not.
    #[serde(rename = "else")]
    pub(crate) otherwise: Option<Text>,
    /// The phase to go to.
    pub(crate) target: Option<String>,
    /// What it assigns.
    #[serde(default)]
    pub(crate) assign: Assign,
    /// The running cycle's first open advance target becomes due.
    #[serde(default)]
    pub(crate) advance: bool,
    /// What it does to files, in this order.
    #[serde(default)]
    pub(crate) actions: Vec<Action>,
    /// What it prints.
    pub(crate) say: Option<Text>,
    /// Commands that are run after it, each on what the one before has left; the first that does not apply ends it.
    #[serde(default)]
    pub(crate) raise: Vec<String>,
}

/// One finding of a list of checks.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    /// Once for each item of this list, as `it`.
    pub(crate) each: Option<Expr>,
    /// Holds where there is something to say.
    pub(crate) guard: Option<Expr>,
    /// The finding.
    pub(crate) say: Text,
}

/// A property for the model checker: exactly one of `always`, `never`, `reachable`, `eventually`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Property {
    /// What the property says, in words.
    pub(crate) name: String,
    /// Holds in every state.
    pub(crate) always: Option<Expr>,
    /// Holds in no state.
    pub(crate) never: Option<Expr>,
    /// Can be reached from every state.
    pub(crate) reachable: Option<Expr>,
    /// From every state comes to hold, whatever path the agent and the reviewer take as long as they go on.
    pub(crate) eventually: Option<Expr>,
}

impl Property {
    /// The keys of which it has one, with what it says there.
    pub(crate) fn claims(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
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
