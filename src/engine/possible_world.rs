//! A world whose files are in memory: what a disk, an event and a user could really bring.
//!
//! Here a scenario is played: the sets of files, the tables and the checks come
//! from the same files, by the same code that reads the disk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use minijinja::value::Value;
use serde_json::{Map, Value as Json};

use crate::chart::field::{default_of, name_part};
use crate::chart::known::MAX_COST;
use crate::chart::{Chart, FileSet};
use crate::engine::context::{Context, to_value};
use crate::engine::fault::Fault;
use crate::engine::file_values;
use crate::engine::records;
use crate::engine::spent::{Past, PastReview, spent};
use crate::engine::world::{Source, World};

/// What lies on a disk below an instance's directory, and what else a decision can look at.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    /// By name: the text, and when it was written.
    pub files: BTreeMap<String, (String, u64)>,
    /// The settings that a user has made.
    pub config: Map<String, Json>,
    /// Who drives the instance, as the session that asks sees it.
    pub driver: Option<String>,
    /// Until when no reviewer can run.
    pub postponed: Option<String>,
    /// The budget that is used up, whatever reviews cost.
    pub over: Option<String>,
    /// The reviews that have run, oldest first.
    pub runs: Vec<PastReview>,
    /// The last reviews agree, and nothing has changed.
    pub stalled: bool,
    pub dirty: bool,
    pub now: String,
}

/// A disk, with the state that an instance is in.
#[derive(Debug)]
pub struct PossibleWorld {
    pub chart: Arc<Chart>,
    pub context: Context,
    pub started: bool,
    pub disk: Disk,
}

/// The name of the instance that is explored.
pub const INSTANCE: &str = "1";

impl PossibleWorld {
    /// Returns the instance's directory, from the project's root.
    pub fn dir(chart: &Chart, name: &str) -> PathBuf {
        let scope = &chart.scope;
        [&scope.home, scope.folder(), name].iter().collect()
    }

    /// Returns the names that a set sees: only one that looks into subfolders sees what lies there.
    fn names(set: &FileSet, files: impl Iterator<Item = String>) -> Vec<String> {
        files.filter(|name| set.is_nested() || !name.contains('/')).collect()
    }

    /// Returns the name of a table's file, as the fields make it.
    fn table_name(&self, name: &str) -> Option<String> {
        let table = self.chart.tables.get(name)?;
        let part = |hole: &str| self.context.get(hole).and_then(name_part).ok_or(());
        table.file.render(part).ok()
    }

    /// Returns the setting of that name in `config.json`, or its default.
    fn setting(&self, name: &str) -> Json {
        let given = self.disk.config.get(name).cloned();
        let default = || {
            let field = self.chart.config.get(name);
            field.map(|field| default_of(&self.chart, field))
        };
        given.or_else(default).unwrap_or_default()
    }

    /// Returns what reviews have cost: a budget that is used up, or what the runs say.
    fn spent(&self, of: (&str, &str, i64)) -> Value {
        if let Some(over) = &self.disk.over {
            return Value::from_pairs([
                ("cost", Value::from("")),
                ("failures", Value::from(0)),
                ("over", Value::from(over.as_str())),
                ("next", Value::from(over.as_str())),
                ("why", Value::from("")),
            ]);
        }
        let past = Past { runs: self.disk.runs.clone(), ..Past::default() };
        spent(&self.chart, self.setting(MAX_COST).as_f64(), &past, of)
    }
}

impl World for PossibleWorld {
    fn field(&self, name: &str) -> Option<&Json> {
        self.context.get(name)
    }

    fn look(&self, source: &Source) -> Result<Value, Fault> {
        let dir = Self::dir(&self.chart, INSTANCE);
        let files = &self.disk.files;
        Ok(match source {
            Source::Scope => records::scope(&self.chart, INSTANCE, &dir, self.started),
            Source::Files(set) => match self.chart.files.get(set) {
                None => Value::from(Vec::<Value>::new()),
                Some(set) => {
                    let names = Self::names(set, files.keys().cloned());
                    let text = |name: &str| files[name].0.clone().into_bytes();
                    file_values::files(set, &dir, &names, text)
                }
            },
            Source::Table(name) => match self.chart.tables.get(name) {
                None => Value::from(()),
                Some(table) => {
                    let file = self.table_name(name).and_then(|file| files.get(&file));
                    let text = file.map(|(text, _)| text.as_bytes());
                    file_values::table(table, &file_values::content(table, text), None)
                }
            },
            Source::Answers { answer, review } => {
                let written = |name: &String| files.get(name).map(|(_, at)| *at);
                let is_newer = match (written(answer), written(review)) {
                    (Some(answer), Some(review)) => answer >= review,
                    _ => false,
                };
                Value::from(is_newer)
            }
            Source::Config(name) => to_value(&self.setting(name)),
            Source::Driver { .. } => Value::from(self.disk.driver.as_deref()),
            Source::Postponed(_) => Value::from(self.disk.postponed.as_deref()),
            Source::Dirty => Value::from(self.disk.dirty),
            Source::Base | Source::Prompt(_) => Value::from(()),
            Source::Spent { cycle, files, count } => self.spent((cycle, files, *count)),
            Source::Stalled { .. } => Value::from(self.disk.stalled),
            Source::Rulings | Source::Findings { .. } | Source::Siblings => {
                Value::from(Vec::<Value>::new())
            }
            Source::Now => Value::from(self.disk.now.as_str()),
            Source::Names(folder) => {
                let inside = *folder == *dir.to_string_lossy();
                let names = files.keys().filter(|name| inside && !name.contains('/'));
                names.map(|name| Value::from(name.as_str())).collect()
            }
        })
    }
}
