//! A chart: a workflow as data, loaded, its names resolved.
//!
//! [`model`] is what the TOML says, [`load`] makes a [`Chart`] of it or says what is wrong and where,
//! [`embedded`] holds the charts compiled in. What a chart decides is [`crate::engine`]'s.

pub(crate) mod check;
pub(crate) mod embedded;
pub(crate) mod error;
pub(crate) mod excerpt;
pub(crate) mod label;
pub(crate) mod load;
pub(crate) mod model;
pub(crate) mod names;
pub(crate) mod templates;

use indexmap::IndexMap;

use crate::scope::pattern::Pattern;
use model::{
    Advance, Arg, Assign, Check, Expr, Field, Invoke, Phase, Prompts, Property, Rule, Text,
};
use templates::Templates;

/// A chart whose names all lead somewhere.
#[derive(Debug)]
pub(crate) struct Chart {
    pub(crate) id: String,
    /// Where it was read, for messages: a path, or the chart's id where it is compiled in.
    pub(crate) origin: String,
    pub(crate) initial: String,
    /// The context field that holds the phase.
    pub(crate) state: String,
    /// The context field that holds the phase that is due.
    pub(crate) next: Option<String>,
    pub(crate) quiet: bool,
    pub(crate) scope: Scope,
    pub(crate) context: IndexMap<String, Field>,
    pub(crate) config: IndexMap<String, Field>,
    pub(crate) args: IndexMap<String, Arg>,
    pub(crate) files: IndexMap<String, FileSet>,
    pub(crate) tables: IndexMap<String, Table>,
    /// The tables that could not be made out. A chart that runs has none; one that is checked may.
    pub(crate) broken_tables: Vec<String>,
    pub(crate) lets: IndexMap<String, Expr>,
    pub(crate) prompts: Prompts,
    pub(crate) phases: IndexMap<String, PhaseEntry>,
    pub(crate) cycles: IndexMap<String, Cycle>,
    pub(crate) invoke: IndexMap<String, Invoke>,
    pub(crate) on: IndexMap<String, Vec<Rule>>,
    pub(crate) commands: IndexMap<String, Command>,
    pub(crate) checks: IndexMap<String, Vec<Check>>,
    pub(crate) properties: Vec<Property>,
    pub(crate) templates: Templates,
    /// Checks `state.json` against the chart's schema; compiled in for embedded charts.
    pub(crate) validator: Option<embedded::Validator>,
}

impl Chart {
    /// The file of a prompt: in the chart's templates, and in the home where a user has replaced it.
    pub(crate) fn prompt_file(name: &str) -> String {
        format!("{name}.md")
    }

    /// The prompt that a template is, if it is one.
    pub(crate) fn prompt_of(&self, template: &str) -> Option<&str> {
        let mut names = self.prompts.names.iter().map(String::as_str);
        names.find(|name| Self::prompt_file(name) == template)
    }

    /// The chart's own text of a prompt; the error says why there is none.
    pub(crate) fn prompt_template(&self, name: &str) -> Result<String, String> {
        self.template(&Self::prompt_file(name))
    }

    /// The text of a template; the error says why there is none.
    pub(crate) fn template(&self, name: &str) -> Result<String, String> {
        match self.templates.get(name) {
            Ok(Some(text)) => Ok(text.into_owned()),
            Ok(None) => Err(format!("there is no template `{name}`")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Where instances live.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) home: String,
    pub(crate) noun: String,
    /// The folder of the instances, below the home: `plans`.
    pub(crate) folder: String,
    pub(crate) choice: InstanceChoice,
    /// The context field that names the session an instance belongs to.
    pub(crate) owner: Option<String>,
}

/// Which of the directories in the folder is meant.
#[derive(Debug)]
pub(crate) enum InstanceChoice {
    /// The one in which a file that fits was modified last.
    Newest { touch: Vec<Pattern> },
    /// The one of the session's name.
    Session,
}

impl Scope {
    /// How an instance's broken state is put right. One of a session's own is in no git history.
    pub(crate) fn remedy(&self) -> &'static str {
        if self.is_per_session() {
            "mend the file, or delete it: it begins anew"
        } else {
            "mend the file, or restore it from git"
        }
    }

    /// True where each session has an instance of its own.
    pub(crate) fn is_per_session(&self) -> bool {
        matches!(self.choice, InstanceChoice::Session)
    }
}

/// A named set of file names: patterns that add and patterns that take away.
#[derive(Debug)]
pub(crate) struct FileSet {
    pub(crate) with: Vec<Pattern>,
    pub(crate) without: Vec<Pattern>,
    /// The lines that a file's `lines` are.
    pub(crate) line: Option<Pattern>,
}

impl FileSet {
    /// The captures of the first pattern that adds `name`; `None` where none does or one takes it away.
    pub(crate) fn matches(
        &self,
        name: &str,
    ) -> Option<Vec<(&str, crate::scope::pattern::Capture)>> {
        let captures = self.with.iter().find_map(|pattern| pattern.matches(name))?;
        let taken = self
            .without
            .iter()
            .any(|pattern| pattern.matches(name).is_some());
        (!taken).then_some(captures)
    }

    /// True where the set reaches into subfolders.
    pub(crate) fn is_nested(&self) -> bool {
        self.with.iter().any(Pattern::is_nested)
    }
}

/// Rows of a Markdown file.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) file: Pattern,
    pub(crate) rows: RowShape,
    pub(crate) path: Option<Pattern>,
    pub(crate) finished: Vec<String>,
}

/// What is a row.
#[derive(Debug)]
pub(crate) enum RowShape {
    /// A row of a pipe table: (field, heading).
    Columns(IndexMap<String, String>),
    /// A line that fits.
    Line(Pattern),
}

/// A phase, and the cycle whose name it was made from.
#[derive(Debug)]
pub(crate) struct PhaseEntry {
    pub(crate) phase: Phase,
    /// `it.cycle`: set for a phase whose name has a `{cycle}` hole.
    pub(crate) cycle: Option<String>,
}

/// A review cycle, what all cycles share filled in.
#[derive(Debug)]
pub(crate) struct Cycle {
    pub(crate) id: String,
    pub(crate) count: String,
    pub(crate) limit: String,
    pub(crate) exit: Expr,
    pub(crate) entry: Assign,
    pub(crate) post: String,
    pub(crate) base: Pattern,
    pub(crate) review: Pattern,
    pub(crate) answer: Pattern,
    pub(crate) subject: Vec<Text>,
    pub(crate) ready: Option<Expr>,
    pub(crate) resume: Option<String>,
    pub(crate) stage: Option<String>,
    pub(crate) text: IndexMap<String, Text>,
    pub(crate) advance: Vec<Advance>,
}

/// A command: one rule, and what is said where it does not apply.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) about: String,
    pub(crate) otherwise: Option<Text>,
    pub(crate) rule: Rule,
    /// The commands that are run after it.
    pub(crate) raise: Vec<String>,
}

/// The name among `names` that `wrong` was most likely meant to be.
pub(crate) fn suggest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}
