//! The world on disk. Each part is read when it is needed and then kept, so that a snapshot always gives the same
//! answers.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use minijinja::value::Value;
use walkdir::WalkDir;

use crate::chart::field::name_part;
use crate::chart::model::Field;
use crate::chart::{Chart, FileSet};
use crate::diagnostic::suggest::suggest;
use crate::disk;
use crate::engine::context::{self, Context};
use crate::engine::fault::Fault;
use crate::engine::names::root::or_invalid;
use crate::engine::records;
use crate::engine::spent::{Past, PastReview, of_cycle, spent as spent_so_far};
use crate::engine::world::{Source, World};
use crate::expr::prompt;
use crate::files::timestamp;
use crate::hash::IndexMap;
use crate::os::folder::{Entry, Folder};
use crate::project::find::{self, Instance};
use crate::project::git::Git;
use crate::project::ledger;
use crate::project::seen;
use crate::project::settings;
use crate::project::state_file::{self, Reading};
use crate::store::Store;
use crate::store::journal::Journal;
use crate::store::{driver, postponed};
use crate::text::{full_stop, shown};

/// One instance on disk.
#[derive(Debug)]
pub(crate) struct Snapshot {
    chart: Arc<Chart>,
    root: PathBuf,
    instance: Instance,
    store: Store,
    /// The contents of `state.json`.
    pub(crate) state: Reading,
    context: Context,
    listing: OnceLock<Result<Listing, Fault>>,
    nested: OnceLock<Result<Vec<String>, Fault>>,
    tables: Mutex<HashMap<String, Result<Value, Fault>>>,
    config: OnceLock<Result<Context, String>>,
    /// Settings that count wherever those on disk are looser.
    bounds: Option<Context>,
    siblings: OnceLock<Result<Value, Fault>>,
    git: Arc<Git>,
    /// The last run of the journal is the one that is being decided on.
    has_run: bool,
    warnings: Mutex<Vec<String>>,
    notes: Mutex<Vec<String>>,
}

impl Snapshot {
    /// Returns it as the world that a decision looks at.
    pub(crate) fn as_world(self: &Arc<Self>) -> Arc<dyn World> {
        Arc::<Self>::clone(self)
    }

    /// Returns the typed fields of `state.json`, with defaults where keys are absent.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Takes this state; everything else is read when it is needed.
    pub(crate) fn take(
        chart: &Arc<Chart>,
        root: &Path,
        instance: &Instance,
        store: &Store,
        state: Reading,
    ) -> Self {
        let file = instance.dir.join(state_file::FILE);
        Self::with_state(chart, root, instance, store, state, &file)
    }

    /// Returns a snapshot with the state in another file.
    pub(crate) fn with_state(
        chart: &Arc<Chart>,
        root: &Path,
        instance: &Instance,
        store: &Store,
        state: Reading,
        file: &Path,
    ) -> Self {
        let mut context = match &state {
            Reading::Sound { context, .. } => context.clone(),
            Reading::Missing | Reading::Broken(_) => context::initial(chart),
        };
        let mut warnings = Vec::new();
        let is_absent = |name: &String| match &state {
            Reading::Missing => true,
            Reading::Sound { absent, .. } => absent.contains(name),
            Reading::Broken(_) => false,
        };
        let set = (chart.context.iter()).filter_map(|(name, field)| Some((name, field.setting()?)));
        let mut set = set.filter(|(name, _)| is_absent(name)).peekable();
        if set.peek().is_some() {
            // Settings that cannot be read are reported when a rule looks at one.
            let values = settings::read(chart, root).map(|read| read.values());
            let values = values.unwrap_or_default();
            context.extend(
                set.filter_map(|(name, setting)| {
                    Some((name.clone(), values.get(setting)?.clone()))
                }),
            );
        }
        if let Some(fields) = state.lacks() {
            let file = file.display();
            warnings.push(format!("{file} lacks {fields}: the defaults are used."));
        }
        if let Reading::Broken(why) = &state {
            let halt = match chart.cycles.is_empty() {
                true => "Nothing is decided and nothing is written until it is fixed.",
                false => "No review runs and nothing is written until it is fixed.",
            };
            let file = file.display();
            warnings.push(format!("{file}: {why}{} {halt}", full_stop(why)));
        }
        Self {
            chart: Arc::clone(chart),
            root: root.to_owned(),
            instance: instance.clone(),
            store: store.clone(),
            state,
            context,
            listing: OnceLock::new(),
            nested: OnceLock::new(),
            tables: Mutex::new(HashMap::new()),
            config: OnceLock::new(),
            bounds: None,
            siblings: OnceLock::new(),
            git: Arc::default(),
            has_run: false,
            warnings: Mutex::new(warnings),
            notes: Mutex::new(Vec::new()),
        }
    }

    /// Uses the answer that git has already given.
    pub(crate) fn with_git(mut self, git: &Arc<Git>) -> Self {
        self.git = Arc::clone(git);
        self
    }

    /// Does not count the last run, whose outcome is still to be decided on: it was allowed, whatever it cost.
    pub(crate) fn after_run(mut self, has_run: bool) -> Self {
        self.has_run = has_run;
        self
    }

    /// Uses these context fields instead of those in the state.
    pub(crate) fn with_fields(mut self, fields: &Context) -> Self {
        self.context.extend(fields.clone());
        self
    }

    /// Returns a new snapshot of the same state, but with these fields.
    pub(crate) fn again(&self, fields: &Context) -> Self {
        let (chart, instance, state) = (&self.chart, &self.instance, self.state.clone());
        Self::take(chart, &self.root, instance, &self.store, state)
            .with_git(&self.git)
            .with_fields(fields)
    }

    /// Returns it as the outcome of a review sees it: wherever the state or a setting is looser than in `before`, which was
    /// taken when the review became due, that counts. Some fields are `restored`.
    pub(crate) fn after_review(&self, before: &Self, restored: &Context) -> Self {
        let mut after = self.again(restored).after_run(true);
        bound(&mut after.context, before.context(), &self.chart.context);
        after.bounds = before.config().ok().cloned();
        after
    }

    /// Returns the problems with everything that has been read so far, for the user.
    pub(crate) fn warnings(&self) -> Vec<String> {
        locked(&self.warnings).clone()
    }

    /// Returns the possible problems with everything that has been read so far.
    pub(crate) fn notes(&self) -> Vec<String> {
        locked(&self.notes).clone()
    }

    fn warn(&self, warning: String) {
        let mut warnings = locked(&self.warnings);
        // The same thing may be read more than once.
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

    /// Returns the contents of the directory itself.
    fn listing(&self) -> Result<&Listing, Fault> {
        let listing = self.listing.get_or_init(|| {
            Listing::of(&self.dir()).map_err(|error| unreadable(&self.instance.dir, &error))
        });
        listing.as_ref().map_err(Clone::clone)
    }

    /// Returns the files directly in the directory, sorted.
    pub(crate) fn names(&self) -> Result<&[String], Fault> {
        Ok(&self.listing()?.files)
    }

    /// Returns the files in subfolders, relative to the directory, sorted.
    fn nested(&self) -> Result<&[String], Fault> {
        let nested = self.nested.get_or_init(|| {
            let dir = self.dir();
            let mut names = Vec::new();
            let folders = self.listing()?.folders.iter();
            for entry in folders.flat_map(|folder| WalkDir::new(dir.join(folder))) {
                let entry = entry.map_err(|error| {
                    let below = error.path().and_then(|path| path.strip_prefix(&dir).ok());
                    let path = self.instance.dir.join(below.unwrap_or(Path::new("")));
                    unreadable(&path, &error.into())
                })?;
                if entry.file_type().is_file()
                    && let Ok(path) = entry.path().strip_prefix(&dir)
                {
                    names.push(path.to_string_lossy().into_owned());
                }
            }
            names.sort_unstable();
            Ok(names)
        });
        nested.as_deref().map_err(Clone::clone)
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.instance.dir.to_string_lossy())
    }

    fn files(&self, set: &str) -> Result<Value, Fault> {
        let Some(set) = self.chart.files.get(set) else {
            return Ok(Value::from(Vec::<Value>::new()));
        };
        if !set.is_nested() {
            return self.set(set, &self.instance.dir, self.names()?);
        }
        let mut names = [self.names()?, self.nested()?].concat();
        names.sort_unstable();
        self.set(set, &self.instance.dir, &names)
    }

    /// Returns the files of a set among those in a directory, which is relative to the root.
    fn set(&self, set: &FileSet, dir: &Path, names: &[String]) -> Result<Value, Fault> {
        let mut files: Vec<Value> = Vec::new();
        for name in names {
            let Some(captures) = set.matches(name) else {
                continue;
            };
            // A captured text may become part of paths, and of texts for the agent.
            if !captures.is_empty() && is_odd(name) {
                self.warn(format!(
                    "{} is ignored: its name contains characters that are not allowed.",
                    shown(&dir.join(name).to_string_lossy())
                ));
                continue;
            }
            let path = dir.join(name);
            let text = || {
                let text = disk::read(&self.root, &self.root.join(&path));
                let text = text.map_err(|error| unreadable(&path, &error))?;
                Ok::<_, Fault>(text.unwrap_or_default())
            };
            files.push(records::file(set, dir, name, captures, text)?);
        }
        Ok(Value::from(files))
    }

    /// Returns who drives the instance, from the point of view of `session`.
    fn driver(&self, session: Option<&str>) -> Value {
        let drivers = driver::of(&self.store, &self.instance.name);
        let is_this = |driver: &String| Some(driver.as_str()) == session;
        match drivers.is_empty() {
            true => Value::from(()),
            false if drivers.iter().any(is_this) => Value::from("this"),
            false => Value::from("other"),
        }
    }

    /// Returns the settings. One wrong value makes all of them unusable: no decision is based on a guess.
    pub(crate) fn config(&self) -> Result<&Context, Fault> {
        let config = self.config.get_or_init(|| {
            let settings = match (settings::read(&self.chart, &self.root), &self.bounds) {
                (Ok(settings), _) => settings,
                // The review has been paid for, and these are the settings that it was started with.
                (Err(why), Some(bounds)) => {
                    let end = full_stop(&why);
                    self.warn(format!(
                        "{why}{end} The settings from before the review count for it."
                    ));
                    return Ok(bounds.clone());
                }
                (Err(why), None) => return Err(why),
            };
            for warning in &settings.warnings {
                self.warn(warning.clone());
            }
            let mut values = settings.values();
            if let Some(bounds) = &self.bounds {
                bound(&mut values, bounds, &self.chart.config);
            }
            Ok(values)
        });
        config.as_ref().map_err(|why| Fault::File(why.clone()))
    }

    /// Returns the user's own text of a prompt. Names in it that are never filled in are noted, because they may be
    /// intentional.
    fn prompt(&self, name: &str) -> Result<Value, Fault> {
        let file = Chart::prompt_file(name);
        let shown = Path::new(&self.chart.scope.home).join(&file);
        let unusable = |why: String| Fault::File(format!("{}: {why}", shown.display()));
        let Some(bytes) = disk::read(&self.root, &self.home().join(&file))
            .map_err(|error| unusable(format!("it cannot be read: {error}")))?
        else {
            return Ok(Value::from(()));
        };
        let text = String::from_utf8(bytes).map_err(|_| unusable("it is not UTF-8".to_owned()))?;
        let vars = &self.chart.prompts.vars;
        let known = || vars.keys().map(String::as_str);
        let mut notes = locked(&self.notes);
        for hole in prompt::names(&text).filter(|hole| !vars.contains_key(*hole)) {
            let hint = suggest(hole, known()).map_or_else(
                || format!("the names are {}", known().collect::<Vec<_>>().join(", ")),
                |name| format!("did you mean {{{{{name}}}}}?"),
            );
            let note = format!(
                "{}: {{{{{hole}}}}} is not filled in; {hint}",
                shown.display()
            );
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        Ok(Value::from(text))
    }

    /// Returns the other instances.
    fn siblings(&self) -> Result<Value, Fault> {
        let scope = &self.chart.scope;
        let names = find::names(&self.root, scope)
            .map_err(|error| unreadable(&find::folder(scope), &error))?;
        let others = names.iter().filter(|name| **name != self.instance.name);
        Ok(others.map(|name| self.sibling(name)).collect())
    }

    fn sibling(&self, name: &str) -> Value {
        let chart = &self.chart;
        let dir = find::folder(&chart.scope).join(name);
        let whole = self.root.join(&dir);
        let state = state_file::glance(chart, &whole);
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
        let mut listed = Listing::of(&whole)
            .map(|listing| listing.files)
            .map_err(|error| unreadable(&dir, &error));
        if let Ok(names) = &mut listed {
            // Such a file stays where it is: no path that could be written here would reach it.
            names.retain(|name| !is_odd(name));
        }
        let sets = || chart.files.iter().filter(|(_, set)| !set.is_nested());
        let files = listed.and_then(|names| {
            sets()
                .map(|(set, patterns)| Ok((set.as_str(), self.set(patterns, &dir, &names)?)))
                .collect::<Result<Vec<_>, Fault>>()
                .map(|files| (files, names))
        });
        let is_unreadable = matches!(state, Reading::Broken(_)) || files.is_err();
        // A session that cannot be read has to be fixed by its own user.
        let (files, names) = files.unwrap_or_else(|_| {
            let none = sets().map(|(set, _)| (set.as_str(), Value::from(Vec::<Value>::new())));
            (none.collect(), Vec::new())
        });
        Value::from_pairs([
            ("name", Value::from(name)),
            ("path", Value::from(dir.to_string_lossy())),
            ("idle_hours", Value::from(idle_hours(&whole, &names))),
            ("unreadable", Value::from(is_unreadable)),
            (
                "context",
                Value::from_pairs(fields.map(|name| (name.as_str(), field(name)))),
            ),
            ("files", Value::from_pairs(files)),
        ])
    }

    /// Returns the runs of reviews that have ended, oldest first.
    fn all_runs(&self) -> Vec<PastReview> {
        let name = self.instance.shared_name(&self.chart.scope);
        Journal::of(&self.store, &name, &self.instance.name).runs()
    }

    /// Returns those that count.
    fn runs(&self) -> Vec<PastReview> {
        let mut runs = self.all_runs();
        if self.has_run {
            runs.pop();
        }
        runs
    }

    /// Returns whether the last reviews of a cycle found something in exactly what is there now, or found exactly the same,
    /// and the user has not ruled about that.
    fn is_stalled(
        &self,
        (cycle, files, count): (&str, &str, i64),
        subject: &[String],
        rounds: usize,
    ) -> bool {
        let runs = self.runs();
        let of_cycle = of_cycle(
            &runs,
            |run| (&run.cycle, run.n, &run.file),
            cycle,
            files,
            count,
        );
        // Only those that count: of each number the last one, which replaced what earlier ones wrote.
        let is_counted = |run: &&PastReview| run.error.is_none() && run.n <= count;
        let mut ran: Vec<&PastReview> = of_cycle.into_iter().filter(is_counted).collect();
        ran.dedup_by_key(|run| run.n);
        let last = &ran[..rounds.min(ran.len())];
        let has_found = |run: &&PastReview| {
            let verdict = run.verdict.as_ref();
            verdict.is_some_and(|verdict| !self.chart.is_best_verdict(verdict))
        };
        let Some(newest) = last.first().filter(|_| last.len() == rounds) else {
            return false;
        };
        if !last.iter().all(has_found) {
            return false;
        }
        let is_ruled = || {
            let rulings = ledger::rulings(&self.chart, &self.root, &self.dir());
            // An earlier review may have found the same, and the user has ruled about it then.
            let named = ran.iter().flat_map(|run| run.found.named(&run.file));
            let mut same = named.filter(|(_, finding)| {
                let mut newest = newest.found.findings.iter();
                newest.any(|other| other.is_same(finding))
            });
            same.any(|(id, finding)| {
                let mut rulings = rulings.iter();
                rulings.any(|line| ledger::ruled(line, &id, finding).is_some())
            })
        };
        // One review is always the same as itself. Without rulings, nothing but the end of the cycle could answer the
        // question.
        let is_same = rounds > 1
            && last.iter().all(|run| run.found.is_same(&newest.found))
            && !self.chart.findings.rulings.is_empty();
        // Git is asked only where all of them saw the same.
        let is_unchanged = || {
            newest.seen.is_some()
                && last.iter().all(|run| run.seen == newest.seen)
                && seen::seen(&self.chart, &self.root, &self.dir(), subject).all == newest.seen
        };
        is_same && !is_ruled() || is_unchanged()
    }

    /// Returns what the reviews that this machine ran have found; `unfinished` is as in [`ledger::entries`].
    pub(crate) fn ledger(&self, unfinished: Option<(&str, i64)>) -> Vec<ledger::Entry> {
        // The last run counts too: it has found what it has found.
        self.ledger_with(Vec::new(), unfinished)
    }

    /// Returns the same, with reviews that were run elsewhere, before those of this machine.
    pub(crate) fn ledger_with(
        &self,
        mut runs: Vec<PastReview>,
        unfinished: Option<(&str, i64)>,
    ) -> Vec<ledger::Entry> {
        runs.extend(self.all_runs());
        ledger::entries(&self.chart, &self.root, &self.dir(), runs, unfinished)
    }

    /// Returns the findings, or those of the cycle that is not over only, as records.
    fn findings(&self, unfinished: Option<(&str, i64)>, is_of_cycle: bool) -> Value {
        let entries = self.ledger(unfinished).into_iter();
        let entries = entries.filter(|entry| !is_of_cycle || entry.is_of_cycle);
        entries
            .map(|entry| {
                let is_newest = unfinished.is_some_and(|(_, count)| entry.n == count);
                Value::from_pairs([
                    ("id", Value::from(entry.id.as_str())),
                    ("last", Value::from(entry.is_of_cycle && is_newest)),
                    ("severity", Value::from(entry.finding.severity.as_str())),
                    ("state", Value::from(entry.state.as_str())),
                    ("again", Value::from(entry.is_again)),
                    ("text", Value::from(entry.to_string())),
                ])
            })
            .collect()
    }

    fn table(&self, name: &str) -> Result<Value, Fault> {
        let mut tables = locked(&self.tables);
        if let Some(value) = tables.get(name) {
            return value.clone();
        }
        let value = self.read_table(name);
        tables.insert(name.to_owned(), value.clone());
        value
    }

    fn read_table(&self, name: &str) -> Result<Value, Fault> {
        let Some(table) = self.chart.tables.get(name) else {
            return Ok(Value::from(()));
        };
        let file = table
            .file
            .render(|hole| self.context.get(hole).and_then(name_part).ok_or(()));
        let text = match &file {
            Ok(file) => disk::read(&self.root, &self.dir().join(file))
                .map_err(|error| unreadable(&self.instance.dir.join(file), &error))?,
            Err(()) => None,
        };
        let content = records::content(table, text.as_deref());
        // There are rows with files of their own, but no table that lists them: nobody knows which rows there are.
        let orphan = match (&file, &text, &table.path) {
            (Ok(_), None, Some(path)) => self
                .names()?
                .iter()
                .find(|name| path.matches(name).is_some()),
            _ => None,
        };
        if let Ok(file) = &file {
            let mut warnings = locked(&self.warnings);
            warnings.extend(
                content
                    .warnings
                    .iter()
                    .map(|warning| format!("{}: {warning}.", self.path(file))),
            );
        }
        let undecided = orphan.map(|orphan| {
            let file = file.as_deref().map(|file| self.path(file));
            let missing = file.unwrap_or_default();
            let why = format!(
                "{missing} is missing, and there is a {}: restore it, or write it again with a row for each such file",
                shown(orphan)
            );
            or_invalid(Err(Fault::File(why)))
        });
        Ok(records::table(table, &content, undecided.as_ref()))
    }

    /// Returns when a file was modified; `None` if it does not exist.
    fn modified(&self, name: &str) -> Result<Option<SystemTime>, Fault> {
        disk::modified(&self.dir().join(name))
            .map_err(|error| unreadable(&self.instance.dir.join(name), &error))
    }
}

/// The files and folders directly in a directory; none if the directory does not exist.
#[derive(Debug, Default)]
struct Listing {
    /// The names of files, sorted.
    files: Vec<String>,
    folders: Vec<OsString>,
}

impl Listing {
    fn of(dir: &Path) -> io::Result<Self> {
        let mut listing = Self::default();
        let entries = match Folder::open(dir) {
            Ok(mut folder) => folder.entries()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            Err(error) => return Err(error),
        };
        for Entry { name, kind } in entries {
            if kind.is_file() || kind.is_symlink() && dir.join(&name).is_file() {
                listing.files.push(name.to_string_lossy().into_owned());
            } else if kind.is_dir() {
                listing.folders.push(name);
            }
        }
        listing.files.sort_unstable();
        Ok(listing)
    }
}

/// Replaces the values that are looser than those in `bounds`.
fn bound(values: &mut Context, bounds: &Context, fields: &IndexMap<String, Field>) {
    for (name, field) in fields {
        if let (Some(value), Some(bound)) = (values.get_mut(name), bounds.get(name))
            && field.is_looser(value, bound)
        {
            value.clone_from(bound);
        }
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a name is not UTF-8, or would change the text around it.
fn is_odd(name: &str) -> bool {
    shown(name) != name || name.contains('\u{fffd}')
}

fn unreadable(path: &Path, error: &io::Error) -> Fault {
    Fault::File(format!(
        "{} cannot be read: {error}",
        shown(&path.to_string_lossy())
    ))
}

/// Returns the whole hours since a directory or a file in it was modified.
fn idle_hours(dir: &Path, names: &[String]) -> u64 {
    let modified = |path: PathBuf| fs::symlink_metadata(path).ok()?.modified().ok();
    let files = names.iter().map(|name| dir.join(name));
    let last = files.chain([dir.to_owned()]).filter_map(modified).max();
    let idle = last.and_then(|last| last.elapsed().ok());
    idle.map_or(0, |idle| idle.as_secs() / 3600)
}

impl World for Snapshot {
    fn field(&self, name: &str) -> Option<&serde_json::Value> {
        self.context.get(name)
    }

    fn look(&self, source: &Source) -> Result<Value, Fault> {
        Ok(match source {
            Source::Scope => Value::from_pairs([
                // A state that cannot be used counts as a missing one.
                (
                    "started",
                    Value::from(matches!(self.state, Reading::Sound { .. })),
                ),
                ("name", Value::from(self.instance.name.as_str())),
                ("path", Value::from(self.instance.dir.to_string_lossy())),
                ("home", Value::from(self.chart.scope.home.as_str())),
            ]),
            Source::Files(set) => self.files(set)?,
            Source::Table(name) => self.table(name)?,
            Source::Answers { answer, review } => {
                let (answer, review) = (self.modified(answer)?, self.modified(review)?);
                Value::from(disk::is_as_new(answer, review))
            }
            Source::Config(name) => match self.config()?.get(name) {
                Some(serde_json::Value::String(path))
                    if self.chart.config.get(name).is_some_and(|field| field.file) =>
                {
                    let part = settings::named_file(&self.root, path)
                        .map_err(|why| Fault::File(format!("`{name}`: {why}")))?;
                    Value::from(String::from_utf8_lossy(&part.content).trim_end())
                }
                value => value.map_or_else(|| Value::from(()), context::to_value),
            },
            Source::Dirty => {
                let dirty = self.git.is_dirty(&self.root, &self.chart.scope.home);
                Value::from(dirty.unwrap_or_else(|why| {
                    self.warn(format!("Cannot check for uncommitted changes: {why}."));
                    false
                }))
            }
            Source::Siblings => self.siblings.get_or_init(|| self.siblings()).clone()?,
            Source::Drivers => Value::from(driver::of(&self.store, &self.instance.name)),
            Source::Driver { session } => self.driver(session.as_deref()),
            Source::Spent {
                cycle,
                files,
                count,
            } => {
                let setting =
                    |name: &str| Ok(self.config()?.get(name).cloned().unwrap_or_default());
                let of = (cycle.as_deref(), files.as_str(), *count);
                let past = || Past {
                    runs: self.all_runs(),
                    has_run: self.has_run,
                    retried: postponed::retried(&self.store),
                };
                spent_so_far(&self.chart, setting, past, of)?
            }
            Source::Stalled {
                cycle,
                files,
                count,
                subject,
                rounds,
            } => Value::from(self.is_stalled((cycle, files, *count), subject, *rounds)),
            Source::Findings {
                files,
                count,
                is_of_cycle,
            } => {
                let unfinished = files.as_deref().map(|files| (files, *count));
                self.findings(unfinished, *is_of_cycle)
            }
            Source::Rulings => Value::from(ledger::rulings(&self.chart, &self.root, &self.dir())),
            Source::Postponed => Value::from(postponed::read(&self.store)),
            Source::Now => Value::from(timestamp::now()),
            Source::Names(folder) => {
                let entries = match fs::read_dir(self.root.join(folder)) {
                    Ok(entries) => Some(entries),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                    Err(error) => return Err(unreadable(Path::new(folder), &error)),
                };
                let names = entries.into_iter().flatten().flatten();
                names
                    .map(|entry| Value::from(entry.file_name().to_string_lossy()))
                    .collect()
            }
            Source::Prompt(name) => self.prompt(name)?,
        })
    }
}
