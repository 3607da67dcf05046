//! The world as it stands on disk, read when it is asked for and then kept: one snapshot, one answer.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use minijinja::value::Value;
use walkdir::WalkDir;

use super::store::{self, Reading};
use crate::chart::{Chart, RowShape};
use crate::engine::context::{self, Context};
use crate::engine::fault::Fault;
use crate::engine::world::{Source, World};
use crate::scope::find::Instance;
use crate::scope::pattern::{Capture, is_slug};
use crate::scope::table::{self, Content};

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
    warnings: Mutex<Vec<String>>,
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
        let mut warnings = Vec::new();
        match &state {
            Reading::Broken(why) => {
                // A question stands at the end of some.
                let stop = if why.ends_with('?') { "" } else { "." };
                warnings.push(format!(
                    "{}: {why}{stop} No review runs and nothing is written until it is mended.",
                    file.display()
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
            warnings: Mutex::new(warnings),
        }
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

    fn dir(&self) -> PathBuf {
        self.root.join(&self.instance.dir)
    }

    /// The files directly in the directory, sorted.
    pub(crate) fn names(&self) -> &[String] {
        self.names.get_or_init(|| {
            let entries = fs::read_dir(self.dir()).into_iter().flatten().flatten();
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
        })
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
                    ("path", Value::from(self.path(name))),
                ];
                let captured = captures.into_iter().map(|(hole, capture)| {
                    let value = match capture {
                        Capture::Text(text) => Value::from(text),
                        Capture::Integer(number) => Value::from(number),
                    };
                    (hole, value)
                });
                Some(Value::from_pairs(fixed.into_iter().chain(captured)))
            })
            .collect();
        Value::from(files)
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
                    .map(|(field, heading)| (field.as_str(), heading.as_str())),
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
            .map(|row| {
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
                value
            })
            .collect();
        Value::from_pairs([
            ("exists", Value::from(content.exists)),
            ("head", Value::from(content.head)),
            ("prose", Value::from(content.prose)),
            ("lines", Value::from(content.lines)),
            ("rows", Value::from(rows)),
            ("open", Value::from(open)),
        ])
    }

    fn modified(&self, name: &str) -> Option<std::time::SystemTime> {
        fs::metadata(self.dir().join(name)).ok()?.modified().ok()
    }
}

/// A file's bytes; `None` where there is none. A pipe or a device, which would be read for ever, is an error.
fn read_regular(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let read = fs::metadata(path).and_then(|meta| match meta.is_file() {
        true => fs::read(path),
        false => Err(io::Error::other("it is not a regular file")),
    });
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
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
        })
    }
}
