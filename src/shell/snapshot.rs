//! The world as it stands on disk, read when it is asked for and then kept: one snapshot, one answer.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use minijinja::value::Value;
use walkdir::WalkDir;

use super::git::Git;
use super::settings;
use super::store::{self, Reading, read_optional, read_regular};
use crate::chart::{Chart, FileSet, RowShape};
use crate::diagnostic::suggest::suggest;
use crate::engine::context::{self, Context};
use crate::engine::fault::Fault;
use crate::engine::world::{Source, World};
use crate::expr::prompt;
use crate::files::pattern::{Capture, Pattern, is_slug};
use crate::files::table::{self, Content};
use crate::files::timestamp;
use crate::shell::find::{self, Instance};

/// One instance on disk.
#[derive(Debug)]
pub(crate) struct Snapshot {
    chart: Arc<Chart>,
    root: PathBuf,
    instance: Instance,
    /// What `state.json` holds.
    pub(crate) state: Reading,
    context: Context,
    names: OnceLock<Vec<String>>,
    nested: OnceLock<Vec<String>>,
    tables: Mutex<HashMap<String, Value>>,
    config: OnceLock<Result<Context, String>>,
    siblings: OnceLock<Value>,
    git: Arc<Git>,
    warnings: Mutex<Vec<String>>,
    notes: Mutex<Vec<String>>,
}

impl Snapshot {
    /// Reads the state; everything else waits until it is asked for.
    pub(crate) fn take(chart: &Arc<Chart>, root: &Path, instance: &Instance) -> Self {
        let state = store::read(chart, &root.join(&instance.dir));
        Self::with_state(
            chart,
            root,
            instance,
            state,
            &instance.dir.join(store::FILE),
        )
    }

    /// The same with the state of another file.
    pub(crate) fn with_state(
        chart: &Arc<Chart>,
        root: &Path,
        instance: &Instance,
        state: Reading,
        file: &Path,
    ) -> Self {
        let context = match &state {
            Reading::Sound { context, .. } => context.clone(),
            Reading::Missing | Reading::Broken(_) => context::initial(chart),
        };
        let mut context = context;
        let mut warnings = Vec::new();
        let from_settings = || {
            let fields = chart.context.iter();
            fields.filter_map(|(name, field)| Some((name, field.setting.as_ref()?)))
        };
        if matches!(state, Reading::Missing) && from_settings().next().is_some() {
            match settings::read(chart, root) {
                Ok(settings) => {
                    let values = settings.values();
                    let own = from_settings().filter_map(|(name, setting)| {
                        Some((name.clone(), values.get(setting)?.clone()))
                    });
                    context.extend(own);
                }
                Err(why) => {
                    warnings.push(format!("{why}{} The defaults are used.", full_stop(&why)))
                }
            }
        }
        match &state {
            Reading::Broken(why) => {
                let halt = match chart.cycles.is_empty() {
                    true => "Nothing is decided and nothing is written until it is mended.",
                    false => "No review runs and nothing is written until it is mended.",
                };
                warnings.push(format!(
                    "{}: {why}{} {halt}",
                    file.display(),
                    full_stop(why)
                ));
            }
            Reading::Sound { absent, .. } if !absent.is_empty() => warnings.push(format!(
                "{} lacks {}: the defaults are used.",
                file.display(),
                absent
                    .iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            )),
            Reading::Sound { .. } | Reading::Missing => {}
        }
        Self {
            chart: Arc::clone(chart),
            root: root.to_owned(),
            instance: instance.clone(),
            state,
            context,
            names: OnceLock::new(),
            nested: OnceLock::new(),
            tables: Mutex::new(HashMap::new()),
            config: OnceLock::new(),
            siblings: OnceLock::new(),
            git: Arc::default(),
            warnings: Mutex::new(warnings),
            notes: Mutex::new(Vec::new()),
        }
    }

    /// The same with what git was asked already.
    pub(crate) fn with_git(mut self, git: &Arc<Git>) -> Self {
        self.git = Arc::clone(git);
        self
    }

    /// The same with these context fields instead of the state's.
    pub(crate) fn with_fields(mut self, fields: &Context) -> Self {
        self.context.extend(fields.clone());
        self
    }

    /// What was wrong with what has been read so far, for the user.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What may be wrong with what has been read so far.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn warn(&self, warning: String) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        // The same thing may be looked at more than once.
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    fn dir(&self) -> PathBuf {
        self.root.join(&self.instance.dir)
    }

    fn home(&self) -> PathBuf {
        self.root.join(&self.chart.scope.home)
    }

    /// The files directly in the directory, sorted.
    pub(crate) fn names(&self) -> &[String] {
        self.names.get_or_init(|| files_in(&self.dir()))
    }

    /// The files in subfolders, from the directory, sorted.
    fn nested(&self) -> &[String] {
        self.nested.get_or_init(|| {
            let dir = self.dir();
            let mut names: Vec<String> = WalkDir::new(&dir)
                .min_depth(2)
                .into_iter()
                .flatten()
                .filter(|entry| entry.file_type().is_file())
                .filter_map(|entry| {
                    entry
                        .path()
                        .strip_prefix(&dir)
                        .ok()
                        .map(|path| path.to_string_lossy().into_owned())
                })
                .collect();
            names.sort_unstable();
            names
        })
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.instance.dir.to_string_lossy())
    }

    fn files(&self, set: &str) -> Value {
        let Some(set) = self.chart.files.get(set) else {
            return Value::from(Vec::<Value>::new());
        };
        let names = if set.is_nested() {
            self.nested()
        } else {
            self.names()
        };
        self.set(set, &self.instance.dir, names)
    }

    /// The files of a set among those in a directory, which is given from the root.
    fn set(&self, set: &FileSet, dir: &Path, names: &[String]) -> Value {
        let files: Vec<Value> = names
            .iter()
            .filter_map(|name| {
                let captures = set.matches(name)?;
                // A control character in a name must not shape the message that names it.
                let shown: String = if name.chars().any(char::is_control) {
                    name.escape_debug().to_string()
                } else {
                    name.clone()
                };
                let fixed = [
                    ("name", Value::from(shown)),
                    (
                        "path",
                        Value::from(format!("{}/{name}", dir.to_string_lossy())),
                    ),
                ];
                let captured = captures.into_iter().map(|(hole, capture)| {
                    let value = match capture {
                        Capture::Text(text) => Value::from(text),
                        Capture::Integer(number) => Value::from(number),
                    };
                    (hole, value)
                });
                let lines = set.line.as_ref().map(|line| {
                    let lines = self.lines(&dir.join(name), line);
                    ("lines", Value::from(lines))
                });
                Some(Value::from_pairs(
                    fixed.into_iter().chain(captured).chain(lines),
                ))
            })
            .collect();
        Value::from(files)
    }

    /// The lines of a file that fit, as records.
    fn lines(&self, file: &Path, line: &Pattern) -> Vec<Value> {
        let text = match read_regular(&self.root.join(file)) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => {
                self.warn(format!("{} cannot be read: {error}.", file.display()));
                return Vec::new();
            }
        };
        let content = table::read_lines(&String::from_utf8_lossy(&text), line);
        let record = |row: &table::Row| {
            let fields = row.fields.iter();
            Value::from_pairs(
                fields.map(|(name, value)| (name.as_str(), Value::from(value.as_str()))),
            )
        };
        content.rows.iter().map(record).collect()
    }

    /// The settings, each of its type. One that is wrong makes all of them unusable: nothing is decided on a guess.
    fn config(&self) -> Result<&Context, Fault> {
        let config = self.config.get_or_init(|| {
            let settings = settings::read(&self.chart, &self.root)?;
            for warning in &settings.warnings {
                self.warn(warning.clone());
            }
            Ok(settings.values())
        });
        config.as_ref().map_err(|why| Fault::File(why.clone()))
    }

    /// A user's own text of a prompt. Names in it that are never filled in are worth a note: they may be meant so.
    fn prompt(&self, name: &str) -> Result<Value, Fault> {
        let file = Chart::prompt_file(name);
        let shown = Path::new(&self.chart.scope.home).join(&file);
        let unusable = |why: String| Fault::File(format!("{}: {why}", shown.display()));
        let Some(bytes) = read_optional(&self.home().join(&file))
            .map_err(|error| unusable(format!("it cannot be read: {error}")))?
        else {
            return Ok(Value::from(()));
        };
        let text = String::from_utf8(bytes).map_err(|_| unusable("it is not UTF-8".to_owned()))?;
        let vars = &self.chart.prompts.vars;
        let known = || vars.keys().map(String::as_str);
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        for hole in prompt::names(&text).filter(|hole| !vars.contains_key(*hole)) {
            let hint = suggest(hole, known()).map_or_else(
                || format!("the names are {}", known().collect::<Vec<_>>().join(", ")),
                |name| format!("did you mean {{{{{name}}}}}?"),
            );
            let note = format!(
                "{}: nothing is filled in for {{{{{hole}}}}}; {hint}",
                shown.display()
            );
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        Ok(Value::from(text))
    }

    /// The other instances.
    fn siblings(&self) -> Value {
        let names = find::names(&self.root, &self.chart.scope);
        let others = names.iter().filter(|name| **name != self.instance.name);
        others.map(|name| self.sibling(name)).collect()
    }

    fn sibling(&self, name: &str) -> Value {
        let chart = &self.chart;
        let dir = find::folder(&chart.scope).join(name);
        let whole = self.root.join(&dir);
        let state = store::read(chart, &whole);
        let context = match &state {
            Reading::Sound { context, .. } => Some(context.clone()),
            Reading::Missing => Some(context::initial(chart)),
            Reading::Broken(_) => None,
        };
        let field = |name: &str| {
            let value = context.as_ref().and_then(|context| context.get(name));
            value.map_or_else(|| Value::from(()), context::to_value)
        };
        let fields = chart.context.keys();
        let names = files_in(&whole);
        let sets = chart.files.iter().filter(|(_, set)| !set.is_nested());
        Value::from_pairs([
            ("name", Value::from(name)),
            ("path", Value::from(dir.to_string_lossy())),
            ("idle_hours", Value::from(idle_hours(&whole, &names))),
            (
                "unreadable",
                Value::from(matches!(state, Reading::Broken(_))),
            ),
            (
                "context",
                Value::from_pairs(fields.map(|name| (name.as_str(), field(name)))),
            ),
            (
                "files",
                Value::from_pairs(
                    sets.map(|(set, patterns)| (set.as_str(), self.set(patterns, &dir, &names))),
                ),
            ),
        ])
    }

    fn table(&self, name: &str) -> Value {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = tables.get(name) {
            return value.clone();
        }
        let value = self.read_table(name);
        tables.insert(name.to_owned(), value.clone());
        value
    }

    fn read_table(&self, name: &str) -> Value {
        let Some(table) = self.chart.tables.get(name) else {
            return Value::from(());
        };
        let file = table.file.render(|hole| match self.context.get(hole) {
            Some(serde_json::Value::String(text)) if is_slug(text) => Ok(text.clone()),
            _ => Err(()),
        });
        let text = file.as_ref().ok().and_then(|file| {
            read_regular(&self.dir().join(file)).unwrap_or_else(|error| {
                let warning = format!("{} cannot be read: {error}.", self.path(file));
                self.warnings
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(warning);
                None
            })
        });
        let content = match (&text, &table.rows) {
            (None, _) => Content::default(),
            (Some(text), RowShape::Columns(columns)) => table::read_columns(
                &String::from_utf8_lossy(text),
                columns
                    .iter()
                    .map(|(field, headings)| (field.as_str(), headings.as_slice())),
            ),
            (Some(text), RowShape::Line(pattern)) => {
                table::read_lines(&String::from_utf8_lossy(text), pattern)
            }
        };
        if let Ok(file) = file {
            let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
            warnings.extend(
                content
                    .warnings
                    .iter()
                    .map(|warning| format!("{}: {warning}.", self.path(&file))),
            );
        }
        let mut open = Vec::new();
        let rows: Vec<Value> = content
            .rows
            .iter()
            .filter_map(|row| {
                let field = |name: &str| {
                    row.fields
                        .iter()
                        .find(|(field, _)| field == name)
                        .map(|(_, value)| value.as_str())
                };
                let done = field("status")
                    .is_some_and(|status| table::is_finished(status, &table.finished));
                let path = table.path.as_ref().and_then(|path| {
                    path.render(|hole| {
                        field(hole)
                            .filter(|value| is_slug(value))
                            .map(str::to_owned)
                            .ok_or(())
                    })
                    .ok()
                });
                let fields = row
                    .fields
                    .iter()
                    .map(|(name, value)| (name.as_str(), Value::from(value.as_str())));
                let made = [("done", Value::from(done)), ("path", Value::from(path))];
                let value = Value::from_pairs(fields.chain(made));
                if !done {
                    open.push(value.clone());
                }
                row.is_usable.then_some(value)
            })
            .collect();
        Value::from_pairs([
            ("exists", Value::from(content.exists)),
            ("head", Value::from(content.head)),
            ("prose", Value::from(content.prose)),
            ("lacks", Value::from(content.lacks)),
            ("lines", Value::from(content.lines)),
            ("rows", Value::from(rows)),
            ("open", Value::from(open)),
        ])
    }

    fn modified(&self, name: &str) -> Option<std::time::SystemTime> {
        fs::metadata(self.dir().join(name)).ok()?.modified().ok()
    }
}

/// The files directly in a directory, sorted.
fn files_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if is_link {
                entry.path().is_file()
            } else {
                entry.file_type().is_ok_and(|kind| kind.is_file())
            }
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}

/// Whole hours since a directory or a file in it was modified.
fn idle_hours(dir: &Path, names: &[String]) -> u64 {
    let modified = |path: PathBuf| fs::metadata(path).ok()?.modified().ok();
    let files = names.iter().map(|name| dir.join(name));
    let last = files.chain([dir.to_owned()]).filter_map(modified).max();
    let idle = last.and_then(|last| last.elapsed().ok());
    idle.map_or(0, |idle| idle.as_secs() / 3600)
}

/// What ends a sentence that is `why` so far: a question stands at the end of some.
fn full_stop(why: &str) -> &'static str {
    if why.ends_with('?') { "" } else { "." }
}

impl World for Snapshot {
    fn context(&self) -> &Context {
        &self.context
    }

    fn look(&self, source: &Source) -> Result<Value, Fault> {
        Ok(match source {
            Source::Scope => Value::from_pairs([
                // Of a state that cannot be used nothing is known, as of one that is missing.
                (
                    "started",
                    Value::from(matches!(self.state, Reading::Sound { .. })),
                ),
                ("name", Value::from(self.instance.name.as_str())),
                ("path", Value::from(self.instance.dir.to_string_lossy())),
                ("home", Value::from(self.chart.scope.home.as_str())),
            ]),
            Source::Files(set) => self.files(set),
            Source::Table(name) => self.table(name),
            Source::Answers { answer, review } => {
                let newer = match (self.modified(answer), self.modified(review)) {
                    (Some(answer), Some(review)) => answer >= review,
                    _ => false,
                };
                Value::from(newer)
            }
            Source::Config(name) => match self.config()?.get(name) {
                Some(serde_json::Value::String(path))
                    if self.chart.config.get(name).is_some_and(|field| field.file) =>
                {
                    let part = settings::file(&self.root, path)
                        .map_err(|why| Fault::File(format!("`{name}`: {why}")))?;
                    Value::from(String::from_utf8_lossy(&part.content).trim_end())
                }
                value => value.map_or_else(|| Value::from(()), context::to_value),
            },
            Source::Dirty => {
                let dirty = self.git.is_dirty(&self.root, &self.chart.scope.home);
                Value::from(dirty.unwrap_or_else(|why| {
                    self.warn(format!("Uncommitted changes are not looked for: {why}."));
                    false
                }))
            }
            Source::Siblings => self.siblings.get_or_init(|| self.siblings()).clone(),
            Source::Now => Value::from(timestamp::now()),
            Source::Names(folder) => {
                let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten();
                let names = entries.flatten().map(|entry| entry.file_name());
                names
                    .map(|name| Value::from(name.to_string_lossy()))
                    .collect()
            }
            Source::Prompt(name) => self.prompt(name)?,
        })
    }
}
