//! The files of the instance, their tables, and what is in the directories of the others.

use std::path::Path;
use std::time::SystemTime;

use minijinja::value::Value;
use walkdir::WalkDir;

use super::{Snapshot, locked};
use crate::chart::FileSet;
use crate::chart::field::name_part;
use crate::disk;
use crate::engine::context;
use crate::engine::fault::Fault;
use crate::engine::file_values;
use crate::engine::names::root::or_invalid;
use crate::engine::records;
use crate::project::find;
use crate::project::listing::{Listing, idle_hours, is_odd, unreadable};
use crate::project::state_file::{self, Reading};
use crate::text::shown;

impl Snapshot {
    /// Returns the contents of the directory itself.
    fn listing(&self) -> Result<&Listing, Fault> {
        let listing = self.listing.get_or_init(|| {
            Listing::of(&self.place.dir())
                .map_err(|error| unreadable(&self.place.instance.dir, &error))
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
            let dir = self.place.dir();
            let mut names = Vec::new();
            let folders = self.listing()?.folders.iter();
            for entry in folders.flat_map(|folder| WalkDir::new(dir.join(folder))) {
                let entry = entry.map_err(|error| {
                    let below = error.path().and_then(|path| path.strip_prefix(&dir).ok());
                    let path = self.place.instance.dir.join(below.unwrap_or(Path::new("")));
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
        format!("{}/{name}", self.place.instance.dir.to_string_lossy())
    }

    pub(super) fn files(&self, set: &str) -> Result<Value, Fault> {
        let Some(set) = self.place.chart.files.get(set) else {
            return Ok(Value::from(Vec::<Value>::new()));
        };
        if !set.is_nested() {
            return self.set(set, &self.place.instance.dir, self.names()?);
        }
        let mut names = [self.names()?, self.nested()?].concat();
        names.sort_unstable();
        self.set(set, &self.place.instance.dir, &names)
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
                let text = disk::read(&self.place.root, &self.place.root.join(&path));
                let text = text.map_err(|error| unreadable(&path, &error))?;
                Ok::<_, Fault>(text.unwrap_or_default())
            };
            files.push(file_values::file(set, dir, name, captures, text)?);
        }
        Ok(Value::from(files))
    }

    /// Returns the other instances.
    pub(super) fn siblings(&self) -> Result<Value, Fault> {
        let scope = &self.place.chart.scope;
        let names = find::names(&self.place.root, scope)
            .map_err(|error| unreadable(&find::folder(scope), &error))?;
        let others = names.iter().filter(|name| **name != self.place.instance.name);
        Ok(others.map(|name| self.sibling(name)).collect())
    }

    fn sibling(&self, name: &str) -> Value {
        let chart = &self.place.chart;
        let dir = find::folder(&chart.scope).join(name);
        let whole = self.place.root.join(&dir);
        let state = state_file::read(chart, &whole);
        let initial = matches!(state, Reading::Missing).then(|| context::initial(chart));
        let context = state.context().or(initial.as_ref());
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
        let facts = (idle_hours(&whole, &names), is_unreadable);
        records::sibling(chart, (name, &dir), context, facts, files)
    }

    pub(super) fn table(&self, name: &str) -> Result<Value, Fault> {
        let mut tables = locked(&self.tables);
        if let Some(value) = tables.get(name) {
            return value.clone();
        }
        let value = self.read_table(name);
        tables.insert(name.to_owned(), value.clone());
        value
    }

    fn read_table(&self, name: &str) -> Result<Value, Fault> {
        let Some(table) = self.place.chart.tables.get(name) else {
            return Ok(Value::from(()));
        };
        let file = table.file.render(|hole| self.context.get(hole).and_then(name_part).ok_or(()));
        let text = match &file {
            Ok(file) => disk::read(&self.place.root, &self.place.dir().join(file))
                .map_err(|error| unreadable(&self.place.instance.dir.join(file), &error))?,
            Err(()) => None,
        };
        let content = file_values::content(table, text.as_deref());
        // There are rows with files of their own, but no table that lists them: which rows there are is unknown.
        let orphan = match (&file, &text, &table.path) {
            (Ok(_), None, Some(path)) => {
                self.names()?.iter().find(|name| path.matches(name).is_some())
            }
            _ => None,
        };
        if let Ok(file) = &file {
            for warning in &content.warnings {
                self.warn(format!("{}: {warning}.", self.path(file)));
            }
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
        Ok(file_values::table(table, &content, undecided.as_ref()))
    }

    /// Returns when a file was modified; `None` if it does not exist.
    pub(super) fn modified(&self, name: &str) -> Result<Option<SystemTime>, Fault> {
        disk::modified(&self.place.dir().join(name))
            .map_err(|error| unreadable(&self.place.instance.dir.join(name), &error))
    }
}
