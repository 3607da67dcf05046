//! A chart: a workflow as data, with its names resolved.
//!
//! [`model`] has the types of the TOML. [`load`] makes a [`Chart`] from it, or says what is wrong and where.
//! [`choice`] has the charts that are compiled in. [`crate::engine`] decides what a chart does.

pub mod choice;
pub mod extend;
pub mod field;
pub mod fragments;
pub mod kind;
pub mod known;
pub mod load;
pub mod merge;
pub mod model;
pub mod node;
pub mod part;
pub mod schema;
pub mod shipped;

pub(crate) mod structure;

use std::ops::Deref;
use std::sync::Arc;

use indexmap::IndexSet;

use crate::expr::syntax::names_in;
use crate::expr::templates::Templates;
use crate::hash::IndexMap;
pub use model::{Cycle, FileSet, IN_GIT, Invoke, Scope, Table};
use model::{Phase, PhaseType, Rule, Source};
use part::Part;

/// A chart whose names are all resolved. What needs no resolving is as in its source.
#[derive(Debug)]
pub struct Chart {
    source: Arc<Source>,
    /// Its name in messages: a path, or the id if it is compiled in.
    pub origin: String,
    /// Whether it is the chart of commands that name none.
    pub is_default: bool,
    pub scope: Scope,
    pub phases: Part<IndexMap<String, PhaseEntry>>,
    pub templates: Templates,
}

impl Deref for Chart {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.source
    }
}

impl Chart {
    /// Returns the setting that says who reviews: a list whose items begin with the names of reviewers.
    pub fn models(&self) -> Option<&String> {
        let mut settings = self.config.iter();
        settings.find(|(_, field)| field.reviewers.is_some()).map(|(name, _)| name)
    }

    /// Returns the reviewer that is meant, its name, and the model: `codex:gpt-5`, a reviewer alone, or a model of the first
    /// one.
    pub fn reviewer<'w>(&self, who: &'w str) -> Option<(&str, &Invoke, &'w str)> {
        let (name, model) = who.split_once(':').unwrap_or((who, ""));
        if let Some((name, reviewer)) = self.reviewers.get_key_value(name) {
            return Some((name, reviewer, model));
        }
        let (name, first) = self.reviewers.first()?;
        first.vendor.is_some().then_some((name, first, who))
    }

    /// Returns the file name of a prompt, which is the same in the chart's templates and in the home.
    pub fn prompt_file(name: &str) -> String {
        format!("{name}.md")
    }

    /// Returns the name of the prompt whose template this is, if it is one.
    pub fn prompt_of(&self, template: &str) -> Option<&str> {
        let mut names = self.prompts.keys().map(String::as_str);
        names.find(|name| Self::prompt_file(name) == template)
    }

    /// Returns the names that these expressions and texts use, directly or through a let.
    pub fn names_in<'t>(&'t self, texts: impl IntoIterator<Item = &'t str>) -> IndexSet<String> {
        let mut open: Vec<&str> = texts.into_iter().collect();
        let mut names: IndexSet<String> = IndexSet::new();
        while let Some(text) = open.pop() {
            for name in names_in(text) {
                let expr = self.lets.get(name.split('.').next().unwrap_or_default());
                if names.insert(name) {
                    open.extend(expr.map(|expr| expr.0.as_str()));
                }
            }
        }
        names
    }

    /// Returns whether anything must succeed before a reviewer starts.
    pub fn has_gates(&self) -> bool {
        self.cycles.values().any(Cycle::is_of_code)
    }

    /// Returns what the author calls the rule or command at `place` (`on.Stop[2]`, `commands.pause`): its `about`.
    pub fn about(&self, place: &str) -> Option<&str> {
        self.rule(place)?.about.as_deref()
    }

    /// Returns whether the rule or command at `place` ends the running cycle.
    pub fn advances(&self, place: &str) -> bool {
        self.rule(place).is_some_and(|rule| rule.advance)
    }

    /// Returns whether nothing comes after a phase.
    pub fn is_final(&self, phase: &str) -> bool {
        let entry = self.phases.get(phase);
        entry.is_some_and(|entry| entry.phase.kind == Some(PhaseType::Final))
    }

    /// Returns the stage of a phase; without one of its own, that of the cycle whose name it was made from.
    pub fn stage(&self, phase: &str) -> Option<&String> {
        let entry = self.phases.get(phase)?;
        let of_cycle = || self.source.cycles.get(entry.cycle.as_ref()?)?.stage.as_ref();
        entry.phase.stage.as_ref().or_else(of_cycle)
    }

    /// Returns the rule at `place`, which may be that of a command.
    fn rule(&self, place: &str) -> Option<&Rule> {
        if let Some(name) = place.strip_prefix("commands.") {
            return self.commands.get(name);
        }
        let (event, index) = place.strip_prefix("on.")?.strip_suffix(']')?.split_once('[')?;
        self.on.get(event)?.get(index.parse::<usize>().ok()?)
    }

    /// Returns the text of a template; the error says why there is none.
    pub fn template(&self, name: &str) -> Result<String, String> {
        match self.templates.get(name) {
            Ok(Some(text)) => Ok(text.into_owned()),
            Ok(None) => Err(format!("unknown template `{name}`")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A phase, and the cycle whose name it was made from.
#[derive(Debug)]
pub struct PhaseEntry {
    pub phase: Part<Phase>,
    /// Its key under `[phases]`: `post-{cycle}` makes several phases.
    pub key: String,
    /// `it.cycle`: set for a phase whose name has a `{cycle}` hole.
    pub cycle: Option<String>,
}
