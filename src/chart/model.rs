//! The contents of a `statechart.toml`, as types: one struct per table, one field per key.
//!
//! Nothing here is resolved or checked: [`super::load`] turns a [`Source`] into a [`super::Chart`],
//! whose names are all resolved. A doc comment here is what an editor shows for the key.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

pub use super::kind::FieldType;
use super::kind::{Kind, Use};
use super::part::Part;
use crate::expr::single_expression;
use crate::expr::source::{Expr, Literal, Text};
use crate::hash::IndexMap;

/// A file name with holes: `{base}-review-{n:int}.md`. It renders a name and matches one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "pattern")]
pub struct FilePattern(pub String);

/// A line of text with holes: `- **Status**: {status}`. Emphasis does not count.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "line pattern")]
pub struct LineText(pub String);

/// Assignments: context field → value.
pub type Assign = IndexMap<String, Literal>;

/// A chart file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The charts over which this one is merged, in order: `taskie`, `dr-done`, one of the parts `reviewers`, `policy` and
    /// `plans`, or the path of a chart next to this one.
    /// Every other key is then needed only where it differs.
    #[serde(default)]
    pub extends: Vec<String>,
    /// With `extends`: what it removes from them: `commands.skip`, `on.Stop.ID`.
    #[serde(default)]
    pub remove: Vec<String>,
    /// The chart's name, as `--chart` and messages use it.
    pub id: String,
    /// The phase of an instance that has no state yet. Entering it creates the instance.
    pub initial: String,
    /// The context field that holds the current phase.
    pub state: String,
    /// Required with `cycles`. The context field that holds the phase that comes next.
    pub next: Option<String>,
    /// A stop that is allowed without a message prints nothing.
    #[serde(default)]
    pub quiet: bool,
    /// Folders of templates, relative to the chart. The first one that has a template wins.
    #[serde(default = "templates_beside")]
    pub templates: Vec<String>,
    /// The number of seconds after which the host kills a hook. The timeout of every invocation must be shorter.
    #[serde(default = "host_default_timeout")]
    pub hook_timeout: u64,
    /// Which directories are the instances.
    pub scope: Scope,
    /// The typed fields of `state.json`.
    pub context: Part<IndexMap<String, Field>>,
    /// The typed settings of `config.json` in the home, written by the user: `config.NAME`.
    #[serde(default)]
    pub config: Part<IndexMap<String, Field>>,
    /// The options of commands and phases.
    #[serde(default)]
    pub args: Part<IndexMap<String, Arg>>,
    /// Named sets of files in the instance's directory: `files.NAME`.
    #[serde(default)]
    pub files: Part<IndexMap<String, Files>>,
    /// Rows of files in the instance's directory: `tables.NAME`.
    #[serde(default)]
    pub tables: Part<IndexMap<String, Table>>,
    /// Names for expressions, which can be used like fields.
    #[serde(default, rename = "let")]
    pub lets: Part<IndexMap<String, Expr>>,
    /// Prompts that a user may replace: `prompts.NAME`.
    #[serde(default)]
    pub prompts: Part<Prompts>,
    /// The states of the chart. `{cycle}` in a name makes one phase per cycle.
    pub phases: IndexMap<String, Part<Phase>>,
    /// Defaults that all cycles share.
    #[serde(default)]
    pub cycle: Part<CycleSource>,
    /// Review cycles.
    #[serde(default)]
    pub cycles: IndexMap<String, Part<CycleSource>>,
    /// Required if an invocation has `findings`. What reviews find, as data: `review.findings`.
    #[serde(default)]
    pub findings: Part<Findings>,
    /// What reviews may cost, how long they may take and how often they may fail: `spent.over`.
    #[serde(default)]
    pub budget: Part<Budget>,
    /// Commands that must succeed before a rule starts a process.
    pub gates: Option<GateCommands>,
    /// How the user is called when a rule with `call` has ended a turn.
    #[serde(default)]
    pub calls: Part<Calls>,
    /// Defaults that all processes share.
    #[serde(default)]
    pub invocation: Part<InvokeSource>,
    /// Processes that a rule can start.
    #[serde(default)]
    pub invoke: Part<IndexMap<String, InvokeSource>>,
    /// The rules for each event, in order of priority.
    #[serde(default)]
    pub on: IndexMap<String, Part<Vec<Rule>>>,
    /// The commands that users run: `taskie NAME`.
    #[serde(default)]
    pub commands: Part<IndexMap<String, Command>>,
    /// Lists of findings: `checks.NAME`.
    #[serde(default)]
    pub checks: Part<IndexMap<String, Vec<Check>>>,
    /// Claims for the model checker to prove.
    #[serde(default)]
    pub properties: Part<Vec<Property>>,
}

pub(super) fn templates_beside() -> Vec<String> {
    vec!["templates".to_owned()]
}

pub(super) fn host_default_timeout() -> u64 {
    600
}

/// Which directories are the instances.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The folder for everything that the chart keeps, below the project's root. The search for it goes upward from
    /// the directory that the agent works in. With `{git}/` before it, it is in the git directory of the work tree.
    pub home: String,
    /// What an instance is called. With `newest`, commands take `--NOUN NAME`; with `path`, they take `--session ID`.
    pub noun: String,
    /// Required unless there is `path`. The directories that are instances, below `home`: `plans/*`. A session uses the
    /// one that it claimed last, else the most recently modified one.
    pub newest: Option<String>,
    /// Required unless there is `newest`. The directory of each session, below `home`: `sessions/{session}`.
    pub path: Option<String>,
    /// Required with `newest`. The files whose modification time counts.
    #[serde(default)]
    pub touch: Vec<FilePattern>,
    /// The chart, among those that are compiled in, whose files of settings this one uses, as far as both have a setting.
    pub settings: Option<String>,
    /// The context field with the commit that a change is compared with. While one of the chart's cycles is running, a stop
    /// is about what has changed since.
    pub since: Option<String>,
}

/// A set of files: their patterns, or a table that also says which of their lines to read.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a set of files is a list of patterns, or a table with `names` and `line`"
)]
pub enum Files {
    Names(Vec<FilePattern>),
    Read(ReadFiles),
}

/// A set of files whose lines are read.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFiles {
    /// Patterns of file names, in the instance's directory. One that starts with `!` excludes.
    pub names: Vec<FilePattern>,
    /// The lines that match are the `lines` of each file.
    pub line: LineText,
}

/// Prompts: a user's own file in the home, or the template of that name. Plain text in which `{{name}}` is filled in.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prompts {
    /// The prompts: `loop` is the file `loop.md` in the home, else the template `loop.md`.
    #[serde(default)]
    pub names: Vec<String>,
    /// The value of `{{name}}`. Other names stay as they are.
    #[serde(default)]
    pub vars: IndexMap<String, Expr>,
}

/// One field of `state.json`, or one setting of `config.json`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldSource {
    /// `boolean`, `integer`, `string`, `id` (letters, digits, `_` and `-`, which can be part of a file name), `phase`, `list`,
    /// `non-empty list`, and for a setting also `file` (the path of a file in the project whose text expressions see) and
    /// `list of commands` (which run without a shell). An integer can have limits, `integer from 1 to 9`. What ends in
    /// `or null` may be null; `or absent` means that the key may be absent without a warning.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What the field means. It becomes the description in the JSON Schema.
    pub about: Option<String>,
    /// For an integer: what it counts, such as `seconds`. `taskie config` says so beside the value.
    pub unit: Option<String>,
    /// The strings that are allowed: a list, or a table whose names they are, `invoke` or `cycles`. For a list, `cycles` names
    /// its items, and everything else what an item that has a `:` must begin with, before the first one.
    pub one_of: Option<Words>,
    /// The value if the key is absent. Without a default it is null, or the initial phase.
    pub default: Option<Literal>,
    /// For a setting: the values of `one_of` that the project's file can set only after the user has run `taskie trust`. For
    /// a list: the items that need that in each project, also where the user's own file has them, because the project says
    /// what they stand for. A file and commands always need it.
    #[serde(default)]
    pub trust: Vec<String>,
    /// Which values let more through than others: `higher` or `lower` for an integer (null is the highest), `fewer` for a
    /// list, or the values that do. A project's setting that is looser than the user's own needs trust, and what becomes
    /// looser while a review runs does not count for that review.
    pub looser: Option<Looser>,
}

/// A field of the state, a setting or an option, as it is checked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "FieldSource")]
pub struct Field {
    pub kind: FieldType,
    pub about: Option<String>,
    pub unit: Option<String>,
    /// The smallest integer, or the smallest number of items of a list.
    pub minimum: Option<i64>,
    pub maximum: Option<i64>,
    /// The strings that are allowed, or the items of a list.
    pub one_of: Option<Words>,
    /// What an item of a list that has a `:` begins with.
    pub prefix: Option<Words>,
    /// It is part of file names: letters, digits, `_` and `-`.
    pub is_id: bool,
    pub default: Option<Literal>,
    pub nullable: bool,
    pub optional: bool,
    pub trust: Trust,
    /// The items that need trust in each project.
    pub per_project: Vec<String>,
    pub looser: Option<Looser>,
    /// It is the path of a file in the project.
    pub file: bool,
    /// Its items are commands.
    pub commands: bool,
}

impl From<FieldSource> for Field {
    fn from(source: FieldSource) -> Self {
        let kind = source.kind;
        let is_list = kind.kind == FieldType::List;
        let (one_of, prefix) = match source.one_of {
            words if !is_list || words == Some(Words::Of(WordTable::Cycles)) => (words, None),
            words => (None, words),
        };
        let (per_project, words) = match is_list {
            true => (source.trust, Vec::new()),
            false => (Vec::new(), source.trust),
        };
        Self {
            kind: kind.kind,
            about: source.about,
            unit: source.unit,
            minimum: kind.minimum,
            maximum: kind.maximum,
            one_of,
            prefix,
            is_id: kind.used == Use::Id,
            default: source.default,
            nullable: kind.nullable,
            optional: kind.optional,
            trust: match kind.used {
                Use::Commands => Trust::All(true),
                _ => Trust::Words(words),
            },
            per_project,
            looser: source.looser,
            file: kind.used == Use::File,
            commands: kind.used == Use::Commands,
        }
    }
}

impl JsonSchema for Field {
    fn inline_schema() -> bool {
        FieldSource::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        FieldSource::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        FieldSource::json_schema(generator)
    }
}

/// Words: a list, or the name of a table of the chart, whose names they are. In a chart that is loaded, they are a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "it is a list of strings, or `invoke` or `cycles` for the names of the tables under [invoke] or [cycles]"
)]
pub enum Words {
    List(Vec<String>),
    Of(WordTable),
}

/// A table whose names can be the words of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WordTable {
    Invoke,
    Cycles,
}

impl Words {
    /// Returns the words; none if the chart is not loaded and they are the names of a table.
    pub fn list(&self) -> &[String] {
        match self {
            Self::List(words) => words,
            Self::Of(_) => &[],
        }
    }
}

/// Which values of a setting need the user's trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    All(bool),
    Words(Vec<String>),
}

impl Default for Trust {
    fn default() -> Self {
        Self::All(false)
    }
}

impl Trust {
    /// Returns whether this value needs it.
    pub fn covers(&self, value: &serde_json::Value) -> bool {
        match self {
            Self::All(all) => *all,
            Self::Words(words) => words.iter().any(|word| value.as_str() == Some(word)),
        }
    }
}

/// Which values of a field are looser than others.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "`looser` is `higher`, `lower`, `fewer`, or a list of values"
)]
pub enum Looser {
    Direction(Direction),
    Values(Vec<Literal>),
}

/// The direction in which a value gets looser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// For an integer: a limit.
    Higher,
    /// For an integer: a requirement.
    Lower,
    /// For a list: one that lacks an item.
    Fewer,
}

/// One option of a command or a phase.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArgSource {
    /// `boolean`, `integer`, `string` or `phase`; an integer can have a lower limit, `integer from 0`.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// One line for `--help`.
    pub about: Option<String>,
    /// A list of the allowed values.
    pub one_of: Option<Expr>,
    /// The value if the option is not given.
    pub default: Option<Literal>,
    /// How it is given, if not as `--NAME VALUE`: `argument` (`run limit 4` instead of `run limit --reviews 4`), `stdin` (so
    /// that its text never passes through a shell), or a letter for its short form, `-f`.
    #[serde(default)]
    pub given: Given,
}

/// The pattern of [`Given`], for editors.
pub(crate) const GIVEN: &str = "^(argument|stdin|-[A-Za-z])$";

/// How an option is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "String")]
#[schemars(with = "String", extend("pattern" = GIVEN))]
pub struct Given(String);

impl From<String> for Given {
    fn from(word: String) -> Self {
        Self(word)
    }
}

/// One option of a command or a phase, as it is checked.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "ArgSource")]
pub struct Arg {
    pub kind: FieldType,
    pub about: Option<String>,
    pub minimum: Option<i64>,
    pub one_of: Option<Expr>,
    pub default: Option<Literal>,
    /// It is a positional argument.
    pub positional: bool,
    /// It is read from stdin.
    pub stdin: bool,
    /// A letter for its short form.
    pub short: Option<char>,
}

impl From<ArgSource> for Arg {
    fn from(source: ArgSource) -> Self {
        let given = source.given.0.as_str();
        Self {
            kind: source.kind.kind,
            about: source.about,
            minimum: source.kind.minimum,
            one_of: source.one_of,
            default: source.default,
            positional: given == "argument",
            stdin: given == "stdin",
            short: given.strip_prefix('-').and_then(|rest| rest.chars().next()),
        }
    }
}

impl JsonSchema for Arg {
    fn inline_schema() -> bool {
        ArgSource::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        ArgSource::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ArgSource::json_schema(generator)
    }
}

/// The heading of a column, or several that mean the same.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a column is a heading, or a list of headings")]
pub enum Headings {
    One(String),
    Several(Vec<String>),
}

impl Headings {
    /// Returns all of them.
    pub fn list(&self) -> Vec<String> {
        match self {
            Self::One(heading) => vec![heading.clone()],
            Self::Several(headings) => headings.clone(),
        }
    }
}

/// Rows of a file: of a Markdown table by the headings of its columns, or the lines that match a pattern.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The file, in the instance's directory.
    pub file: FilePattern,
    /// Required unless there is `line`. For a Markdown table: the heading of each field's column, or a list of headings,
    /// of which the first one that exists counts. `id` names the row: letters, digits, `_` and `-`. A row with another id
    /// counts as open.
    pub columns: Option<IndexMap<String, Headings>>,
    /// Required unless there are `columns`. For other files: each line that matches is a row.
    pub line: Option<LineText>,
    /// The file that belongs to a row.
    pub path: Option<FilePattern>,
    /// The values of `status` that mean that the row is finished.
    #[serde(default)]
    pub finished: Vec<String>,
}

/// A state of the chart: when it may be entered, and what entering it writes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Phase {
    /// The stage that `taskie status` shows.
    pub stage: Option<String>,
    /// `final`: nothing comes after it.
    #[serde(rename = "type")]
    pub kind: Option<PhaseType>,
    /// Whether it applies. Without a guard it always does.
    pub guard: Option<Expr>,
    /// The message if the guard is false.
    #[serde(rename = "else")]
    pub otherwise: Option<Text>,
    /// The cycle that starts over. It comes next, so its first review is due.
    pub arms: Option<String>,
    /// What entering it assigns.
    #[serde(default)]
    pub entry: Assign,
    /// The context fields that it sets to null.
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
    /// What the answer to a review can say of a finding: `plan-review-2.1: fixed`.
    #[serde(default)]
    pub answers: Vec<String>,
    /// What a finding is whose review has no answer when its cycle is over. A cycle is over if it isn't running and no
    /// other field of type `phase`, such as one that a pause sets, has one of its phases. Until then, and without this
    /// key, the finding is `open`.
    pub unanswered: Option<String>,
    /// What the user can rule about a finding: the word for `taskie resolve`, and what the finding is then. Rulings are in
    /// the file `rulings` in the instance's directory.
    #[serde(default)]
    pub rulings: IndexMap<String, String>,
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
    /// How many reviews an instance may have, failed ones included.
    pub reviews: Option<Text>,
    /// How many minutes all reviews of an instance may take.
    pub minutes: Option<Text>,
}

/// What a budget of a chart limits, as the engine sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    Failures,
    Cycle,
    Instance,
    Reviews,
    Minutes,
}

impl Limited {
    /// All of them: the first one that is used up is reported.
    pub const ALL: [Self; 5] = [
        Self::Failures,
        Self::Cycle,
        Self::Instance,
        Self::Reviews,
        Self::Minutes,
    ];

    /// Returns its key in the chart, which is also the word in `spent.over`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Failures => "failures",
            Self::Cycle => "cycle",
            Self::Instance => "instance",
            Self::Reviews => "reviews",
            Self::Minutes => "minutes",
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
            Limited::Reviews => &self.reviews,
            Limited::Minutes => &self.minutes,
        };
        text.as_ref()
    }
}

/// What may come after a cycle.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advance {
    /// A name, for charts that extend this one.
    pub id: Option<String>,
    /// With `extends`: the `id` of the one before which it comes.
    pub before: Option<String>,
    /// With `extends`: the `id` of the one after which it comes.
    pub after: Option<String>,
    /// Whether it applies. Without a guard it always does.
    pub guard: Option<Expr>,
    /// A phase or a cycle.
    pub target: String,
}

/// Returns the name of the setting that a text is: `{{ config.NAME }}`.
pub fn setting_in(text: &Text) -> Option<&str> {
    single_expression(&text.0)?.strip_prefix("config.")
}

/// A number, or a setting that contains it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "an integer, or a string such as `{{ config.NAME }}`"
)]
pub enum Amount {
    Fixed(u64),
    Setting(Text),
}

impl Amount {
    /// Returns the largest number that it can be; `None` if there is no such setting, or if the setting has no
    /// `maximum`.
    pub fn longest(&self, config: &IndexMap<String, Field>) -> Option<u64> {
        match self {
            Self::Fixed(seconds) => Some(*seconds),
            Self::Setting(text) => {
                let setting = config.get(setting_in(text)?);
                let setting = setting.filter(|field| field.minimum >= Some(0))?;
                u64::try_from(setting.maximum?).ok()
            }
        }
    }
}

/// Commands that check the work before a reviewer reads it. They run one after the other in the project's root. If one
/// fails, no reviewer is started, and the rules are tried again with `gate.failed`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateCommands {
    /// The list of command lines, in order. Each is split into words as a shell does, and run without a shell.
    pub commands: Expr,
    /// The time limit of all of them together in seconds: a number, or `{{ config.NAME }}`. At most half of
    /// `hook_timeout`: the rest is for the reviewer.
    pub timeout: Amount,
}

/// How the user is called when it is their turn: in the terminal, where the host can do that, and by commands.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// Whether the user is called at all.
    pub guard: Option<Expr>,
    /// The list of command lines to start. Each is split into words as a shell does, and run without a shell, with the
    /// reason in its environment. Nobody waits for them.
    pub commands: Option<Expr>,
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
    /// When a run that failed means that no other one can succeed for a while.
    pub postpone: Option<Postpone>,
    /// Who reviews, for `taskie status`.
    pub by: Option<Text>,
    /// Required in one of the two tables. The time limit of the process in seconds: a number, or `{{ config.NAME }}`.
    pub timeout: Option<Amount>,
    /// Required in one of the two tables. The file for its stderr, in the instance's directory. It is removed after a run
    /// that succeeds.
    pub log: Option<FilePattern>,
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

/// Runs that fail because of a usage limit or an outage. In all instances of the project, `postponed` says until when that
/// lasts; `taskie next --retry` ends it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Postpone {
    /// A JSON pointer into the stdout of a run that failed, to a number.
    pub status: String,
    /// The numbers that mean a usage limit or an outage.
    pub codes: Vec<i64>,
    /// JSON pointers to a text that says when it ends: `resets 6:23pm (Europe/Berlin)`.
    #[serde(default)]
    pub until: Vec<String>,
    /// How many seconds it lasts if no text says when it ends.
    pub seconds: u64,
}

/// A change to files that is made before the state is written. All paths are relative to the project's root and stay
/// inside the home. Exactly one of `write`, `ensure`, `rename`, `copy` and `remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// Once for each item of this list, as `it`.
    pub each: Option<Expr>,
    /// Whether it applies. With `each`, it is evaluated for every item.
    pub guard: Option<Expr>,
    /// Creates this file with `text`. If the name is taken, the next free one is used.
    pub write: Option<Text>,
    /// Adds the line `text` to this file unless the file contains it.
    pub ensure: Option<Text>,
    /// Required with `write` and `ensure`. The content of the file, or the line.
    pub text: Option<Text>,
    /// Renames this file, which must exist, `to` another name. If that is taken, the next free one is used.
    pub rename: Option<Text>,
    /// Copies this template `to` a file that does not exist yet.
    pub copy: Option<String>,
    /// Required with `rename` and `copy`. The new name.
    pub to: Option<Text>,
    /// Removes this directory, which must be an instance's.
    pub remove: Option<Text>,
    /// Ends the review that is running for this directory, which must be an instance's. The review counts as failed, and
    /// its stop is allowed. If none is running, that is an error.
    pub cancel: Option<Text>,
}

/// What an action does: its keys as one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed<'a> {
    Write { path: &'a Text, text: &'a Text },
    Ensure { path: &'a Text, line: &'a Text },
    Rename { path: &'a Text, to: &'a Text },
    Copy { template: &'a str, to: &'a Text },
    Remove { path: &'a Text },
    Cancel { path: &'a Text },
}

impl<'a> Deed<'a> {
    /// Returns its texts, each with its key.
    pub fn texts(self) -> Vec<(&'static str, &'a Text)> {
        match self {
            Self::Write { path, text } => vec![("write", path), ("text", text)],
            Self::Ensure { path, line } => vec![("ensure", path), ("text", line)],
            Self::Rename { path, to } => vec![("rename", path), ("to", to)],
            Self::Copy { to, .. } => vec![("to", to)],
            Self::Remove { path } => vec![("remove", path)],
            Self::Cancel { path } => vec![("cancel", path)],
        }
    }
}

impl Action {
    /// Returns what the action does; the error says which keys belong together.
    pub fn deed(&self) -> Result<Deed<'_>, String> {
        let (text, to) = (self.text.as_ref(), self.to.as_ref());
        let keys = (
            self.write.as_ref(),
            self.ensure.as_ref(),
            self.rename.as_ref(),
            self.copy.as_deref(),
            self.remove.as_ref(),
            self.cancel.as_ref(),
        );
        let deed = match (keys, text, to) {
            ((Some(path), None, None, None, None, None), Some(text), None) => {
                Deed::Write { path, text }
            }
            ((None, Some(path), None, None, None, None), Some(line), None) => {
                Deed::Ensure { path, line }
            }
            ((None, None, Some(path), None, None, None), None, Some(to)) => {
                Deed::Rename { path, to }
            }
            ((None, None, None, Some(template), None, None), None, Some(to)) => {
                Deed::Copy { template, to }
            }
            ((None, None, None, None, Some(path), None), None, None) => Deed::Remove { path },
            ((None, None, None, None, None, Some(path)), None, None) => Deed::Cancel { path },
            _ => {
                return Err(
                    "an action is one of `write` or `ensure` with `text`, `rename` with `to`, `copy` with \
                     `to`, `remove`, and `cancel`"
                        .to_owned(),
                );
            }
        };
        Ok(deed)
    }
}

/// One rule of an event: guard, assignments, actions, an invocation, then an answer or none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Rule {
    /// A name, for charts that extend this one.
    pub id: Option<String>,
    /// With `extends`: the `id` of the one before which it comes.
    pub before: Option<String>,
    /// With `extends`: the `id` of the one after which it comes.
    pub after: Option<String>,
    /// What the rule is for, in a few words: its name in traces and counterexamples.
    pub about: Option<String>,
    /// Whether it applies. Without a guard it always does.
    pub guard: Option<Expr>,
    /// The phase to go to. Only the field that `state` names changes: the phase's own `guard`, `entry`, `clear` and `arms`
    /// have no effect.
    pub target: Option<String>,
    /// What it assigns.
    #[serde(default)]
    pub assign: Assign,
    /// The context fields that it sets to null.
    #[serde(default)]
    pub clear: Vec<String>,
    /// The running cycle's first open advance target comes next. If it is a cycle, that starts over; next to `block`, its
    /// first review runs at the same stop if one is due then and the host leaves time for it.
    #[serde(default)]
    pub advance: bool,
    /// What it does to files, in this order.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// The process to run, which reviews for the running cycle: its name, or an expression whose value can only be one of
    /// their names, such as `{{ config.NAME }}`, a setting with `one_of`. The rules are then tried again, with its outcome
    /// as `review`.
    pub invoke: Option<String>,
    /// A message to the user. With `action`, what `taskie status` says instead of the reason: it comes after "Your turn:"
    /// or "The agent's turn:".
    pub message: Option<Text>,
    /// A text for the agent. With `action`, the reason for it.
    pub say: Option<Text>,
    /// The answer: the stop is allowed.
    #[serde(default)]
    pub allow: bool,
    /// The answer: the stop is blocked, and the agent reads this text.
    pub block: Option<Text>,
    /// The answer to `next`: the phase to work on now, or a word for the agent, such as `stop` or `ask`.
    pub action: Option<Text>,
    /// Why it is the user's turn, in a few words: if the stop is allowed, the user is called, as `[calls]` says. At another
    /// event, that happens at the next stop.
    pub call: Option<Text>,
}

impl Rule {
    /// Returns the keys that the rule has and that answer the event.
    pub fn answers(&self) -> Vec<&'static str> {
        given([
            ("allow", self.allow),
            ("block", self.block.is_some()),
            ("action", self.action.is_some()),
        ])
    }

    /// Returns the keys of the rule that have an effect, apart from `invoke` and the answers.
    pub fn effects(&self) -> Vec<&'static str> {
        given([
            ("target", self.target.is_some()),
            ("assign", !self.assign.is_empty()),
            ("advance", self.advance),
            ("actions", !self.actions.is_empty()),
            ("message", self.message.is_some()),
            ("say", self.say.is_some()),
            ("call", self.call.is_some()),
        ])
    }
}

fn given<const N: usize>(keys: [(&'static str, bool); N]) -> Vec<&'static str> {
    let given = keys.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(key, _)| key).collect()
}

/// A command, `taskie NAME`: one rule, and a message if it does not apply.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Command {
    /// One line for `--help`.
    pub about: String,
    /// Whether it applies. Without a guard it always does.
    pub guard: Option<Expr>,
    /// The message if the guard is false.
    #[serde(rename = "else")]
    pub otherwise: Option<Text>,
    /// The phase to go to. Only the field that `state` names changes: the phase's own `guard`, `entry`, `clear` and `arms`
    /// have no effect.
    pub target: Option<String>,
    /// What it assigns.
    #[serde(default)]
    pub assign: Assign,
    /// The context fields that it sets to null.
    #[serde(default)]
    pub clear: Vec<String>,
    /// The running cycle's first open advance target comes next. If it is a cycle, that starts over.
    #[serde(default)]
    pub advance: bool,
    /// What it does to files, in this order.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// What it prints.
    pub say: Option<Text>,
    /// Commands to run after it, in order, until one does not apply.
    #[serde(default)]
    pub raise: Vec<String>,
}

/// One check of a list. `checks.NAME` is the list of what its checks find.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// A name, for charts that extend this one.
    pub id: Option<String>,
    /// With `extends`: the `id` of the one before which it comes.
    pub before: Option<String>,
    /// With `extends`: the `id` of the one after which it comes.
    pub after: Option<String>,
    /// Once for each item of this list, as `it`.
    pub each: Option<Expr>,
    /// Whether it applies. With `each`, it is evaluated for every item.
    pub guard: Option<Expr>,
    /// What the finding says.
    pub say: Text,
}

/// A property for the model checker: exactly one of `always`, `never`, `reachable`, `eventually`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// A name, for charts that extend this one.
    pub id: Option<String>,
    /// What the property means, in words.
    pub about: String,
    /// A condition that is true in every state.
    pub always: Option<Expr>,
    /// A condition that is never true.
    pub never: Option<Expr>,
    /// From every state, some path leads to a state in which this is true.
    pub reachable: Option<Expr>,
    /// From every state, every path leads to a state in which this is true, as long as the agent and the reviewer go on.
    pub eventually: Option<Expr>,
}

impl Property {
    /// Returns its claims, each with its key.
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

/// Reads tables whose `clear` is part of what they assign: whoever looks at the assignments need not look at both.
/// (`remote = "Self"` makes serde write the reader of the keys as a function of the type.)
macro_rules! read_with_clear {
    ($($table:ident => |$own:ident| $clear:expr,)*) => {$(
        impl<'de> Deserialize<'de> for $table {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let mut $own = Self::deserialize(from)?;
                $clear;
                Ok($own)
            }
        }
    )*};
}

read_with_clear! {
    Phase => |phase| clear(&phase.clear, &mut phase.entry),
    Rule => |rule| clear(&rule.clear, &mut rule.assign),
    Command => |command| clear(&command.clear, &mut command.assign),
    CycleSource => |cycle| if let Some(fields @ [_, ..]) = cycle.clear.as_deref() {
        clear(fields, cycle.entry.get_or_insert_default());
    },
}

/// Assigns null to fields. One that is also assigned keeps its value: the loader reports it.
fn clear(fields: &[String], assign: &mut Assign) {
    for name in fields {
        assign.entry(name.clone()).or_insert(Literal::Null);
    }
}
