//! The contents of a `statechart.toml`, as types: one struct per table, one field per key.
//!
//! Nothing here is resolved or checked: [`super::load`] turns a [`Source`] into a [`super::Chart`],
//! whose names are all resolved. A doc comment here is what an editor shows for the key.

mod field;
mod files;
mod phase;
mod review;
mod rule;
mod value;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

pub use self::field::{Arg, Direction, Field, Given, Looser, setting_in};
pub use self::files::{FileSet, Table};
pub use self::phase::{Phase, PhaseType};
pub use self::review::{Advance, Cycle, Invoke, know_vendors};
pub use self::rule::{Action, Check, Deed, Property, Rule};
pub use self::value::{Assign, FilePattern};
pub use super::kind::FieldType;
use super::part::Part;
use crate::expr::source::Expr;
use crate::hash::IndexMap;

/// A chart file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The charts over which this one is merged, in order: `taskie`, `dr-done`, one of the parts `reviewers`, `policy`,
    /// `plans` and `stops`, or the path of a chart next to this one.
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
    /// Which directories are the instances.
    pub scope: Scope,
    /// The typed fields of `state.json`.
    pub context: Part<IndexMap<String, Field>>,
    /// The typed settings of `config.json` in the home, written by the user: `config.NAME`. The program itself reads some, where
    /// a chart has them: `max_cost_usd` (of a plan, or of a change until it is clean), `max_cost_usd_review`, `skip` (files that
    /// reviews of code are not about), `permissions` (`restricted`), `review_timeout` (seconds), `gates`, `every_stop` and
    /// `receipts`.
    #[serde(default)]
    pub config: Part<IndexMap<String, Field>>,
    /// The options of commands and phases.
    #[serde(default)]
    pub args: Part<IndexMap<String, Arg>>,
    /// Named sets of files in the instance's directory: `files.NAME`.
    #[serde(default)]
    pub files: Part<IndexMap<String, FileSet>>,
    /// Rows of files in the instance's directory: `tables.NAME`.
    #[serde(default)]
    pub tables: Part<IndexMap<String, Table>>,
    /// Names for expressions, which can be used like fields.
    #[serde(default, rename = "let")]
    pub lets: Part<IndexMap<String, Expr>>,
    /// Prompts that a user may replace: `prompts.loop` is the file `loop.md` in the home, else the template `loop.md`.
    /// `[prompts.loop]` has the value of each `{{name}}` in it. Other names stay as they are.
    #[serde(default)]
    pub prompts: Part<IndexMap<String, IndexMap<String, Expr>>>,
    /// The states of the chart. `{cycle}` in a name makes one phase per cycle. The reviews of a cycle are answered in the phase
    /// `post-{cycle}`.
    pub phases: IndexMap<String, Part<Phase>>,
    /// What all cycles share. Keys that are required in a cycle can be here.
    #[serde(default)]
    #[schemars(with = "Cycle")]
    pub cycle: Option<IgnoredAny>,
    /// Review cycles.
    #[serde(default)]
    pub cycles: Part<IndexMap<String, Cycle>>,
    /// What all reviewers share. Keys that are required in one can be here.
    #[serde(default)]
    #[schemars(with = "Invoke")]
    pub reviewer: Option<IgnoredAny>,
    /// The reviewers: programs that a rule can start.
    #[serde(default)]
    pub reviewers: Part<IndexMap<String, Invoke>>,
    /// The rules for each event, in order of priority.
    #[serde(default)]
    pub on: IndexMap<String, Part<Vec<Rule>>>,
    /// The commands that users run: `taskie NAME`.
    #[serde(default)]
    pub commands: Part<IndexMap<String, Rule>>,
    /// Lists of findings: `checks.NAME`.
    #[serde(default)]
    pub checks: Part<IndexMap<String, Vec<Check>>>,
    /// Claims about every state, for `check-chart`.
    #[serde(default)]
    pub properties: Part<Vec<Property>>,
}

pub(super) fn templates_beside() -> Vec<String> {
    vec!["templates".to_owned()]
}

/// Which directories are the instances.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The folder for everything that the chart keeps, below the project's root. The search for it goes upward from
    /// the directory that the agent works in. With `{git}/taskie`, it is in the git directory of the work tree, and an instance
    /// is a change: what is different from the commit in its field `base`. With the setting `every_stop`, each session has one
    /// of its own. The settings of such a chart are those of the chart `taskie`, as far as both have them.
    pub home: String,
    /// The directories that are instances, below `home`. With `plans/*`, a session uses the one that it claimed last, or
    /// else the one in which `state.json` or a Markdown file was modified last. With `sessions/{session}`, each session has
    /// its own. The folder's name without its last `s` is what one is called: commands take `--plan NAME`, or `--session ID`.
    pub instances: String,
    /// Whether the instances are changes: the home is then below the git directory, wherever that is.
    #[serde(skip)]
    pub(crate) is_of_changes: bool,
}

/// What `scope.instances` ends with if each session has an instance of its own.
const OF_SESSION: &str = "/{session}";

/// What the home of a chart begins with if it is in the git directory of the work tree.
pub const IN_GIT: &str = "{git}/";

impl Scope {
    /// Returns the folder of the instances, below the home; `None` if `instances` names none.
    pub(crate) fn folder_named(&self) -> Option<&str> {
        let named = self.instances.strip_suffix("/*");
        named.or_else(|| self.instances.strip_suffix(OF_SESSION))
    }

    /// Returns the folder of the instances, below the home: `plans`.
    pub fn folder(&self) -> &str {
        self.folder_named().unwrap_or_default()
    }

    /// Returns what an instance is called: `plan`.
    pub fn noun(&self) -> &str {
        let name = self.folder().rsplit('/').next().unwrap_or_default();
        name.strip_suffix('s').unwrap_or(name)
    }

    /// Returns whether each session has an instance of its own.
    pub fn is_per_session(&self) -> bool {
        self.instances.ends_with(OF_SESSION)
    }

    /// Returns it with what its home says of the instances.
    pub(crate) fn of_home(self) -> Self {
        Self { is_of_changes: self.home.starts_with(IN_GIT), ..self }
    }

    /// Returns whether the instances are changes.
    pub fn is_of_changes(&self) -> bool {
        self.is_of_changes
    }

    /// Returns how to repair the broken state of an instance. That of a session or of a change is not in git.
    pub fn remedy(&self) -> &'static str {
        if self.is_per_session() || self.is_of_changes() {
            "fix the file, or delete it to start over"
        } else {
            "fix the file, or restore it from git"
        }
    }
}
