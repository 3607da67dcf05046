//! What changes while a review runs.
//!
//! The reviewer can do it, the user, or a process in the background: nobody knows, so nobody is blamed. Each changed file is
//! named to the user.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use walkdir::{DirEntry, WalkDir};

use crate::chart::Chart;
use crate::disk;
use crate::engine::context::Context;
use crate::hash;
use crate::project::change::Tree;
use crate::project::git;
use crate::project::state_file;
use crate::run::place::Place;
use crate::text::shown;

/// How many files are named.
const NAMED: usize = 12;

/// The most files of an instance that are compared.
const FILES: usize = 10_000;

/// The files that a review must not change unnoticed.
#[derive(Debug)]
pub(crate) struct FilesBefore {
    /// A hash of each file of the instance and directly in the home; hidden ones are this program's own.
    own: BTreeMap<PathBuf, String>,
    /// The code; `None` if nobody knows.
    tree: Option<Arc<Tree>>,
    /// A number for what git passes over.
    rules: Option<u64>,
    /// Git keeps the code.
    is_in_git: bool,
}

/// What has changed.
#[derive(Debug, Clone)]
pub(crate) struct ChangedFiles {
    /// Those that were there before come first: nothing limits how many new ones somebody adds.
    files: Vec<PathBuf>,
    /// Git cannot say whether the code is among them.
    is_code_unknown: bool,
    /// Git passes over other files now.
    hides_others: bool,
    is_in_git: bool,
}

impl FilesBefore {
    /// Reads them.
    pub(crate) fn read(place: &Place) -> Self {
        let home = &place.chart.scope.home;
        let is_visible = |entry: &DirEntry| {
            entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
        };
        let folders = [WalkDir::new(place.root.join(home)).max_depth(1), WalkDir::new(place.dir())];
        let entries =
            folders.into_iter().flat_map(|folder| folder.into_iter().filter_entry(is_visible));
        let files = entries.flatten().filter(|entry| entry.file_type().is_file());
        let own = files.take(FILES).filter_map(|file| {
            let text = disk::read(&place.root, file.path()).ok().flatten();
            let name = file.path().strip_prefix(&place.root).ok()?.to_owned();
            Some((name, hash::of(&text.unwrap_or_default())))
        });
        Self {
            own: own.collect(),
            tree: place.trees().read().ok(),
            rules: git::is_in_git(&place.root).then(|| git::rules(&place.root)).flatten(),
            is_in_git: git::is_in_git(&place.root),
        }
    }

    /// Returns those that have changed since.
    pub(crate) fn changed(&self, place: &Place) -> ChangedFiles {
        place.trees().forget();
        let now = Self::read(place);
        let names = self.own.keys().chain(now.own.keys());
        let names = names.filter(|name| self.own.get(*name) != now.own.get(*name)).cloned();
        let (mut names, mut new): (Vec<_>, Vec<_>) =
            names.partition(|name| self.own.contains_key(name));
        let trees = self.tree.as_ref().zip(now.tree.as_ref());
        let of_tree = trees.and_then(|(then, now)| place.trees().changed([&then.id, &now.id]));
        let is_known = of_tree.is_some();
        if let Some((others, added)) = of_tree {
            names.extend(others);
            new.extend(added);
        }
        for names in [&mut names, &mut new] {
            names.sort();
            names.dedup();
        }
        names.extend(new);
        let is_in_git = self.is_in_git || now.is_in_git;
        ChangedFiles {
            files: names,
            is_code_unknown: !is_known && is_in_git,
            hides_others: self.rules != now.rules,
            is_in_git,
        }
    }
}

/// Returns a sentence for the user about these files, apart from the `review`, which the reviewer had to write, and the state;
/// `None` if none has changed.
pub(crate) fn changes(place: &Place, changed: &ChangedFiles, review: &str) -> Option<String> {
    let known = [review, state_file::FILE].map(|name| place.instance.dir.join(name));
    let files = (changed.files.iter()).filter(|file| !known.contains(file));
    let mut files = files.map(|file| shown(&file.to_string_lossy()).into_owned());
    let mut changes: Vec<String> = files.by_ref().take(NAMED).collect();
    changes.extend(match files.count() {
        0 => None,
        more if changed.is_in_git => Some(format!("and {more} more (`git status` lists them)")),
        more => Some(format!("and {more} more")),
    });
    let changes = Some(changes.join(", ")).filter(|changes| !changes.is_empty());
    let changes = changes.map(|changes| format!("Changed while it was reviewed: {changes}."));
    let unknown = changed.is_code_unknown.then(|| {
        "Whether code has changed while it was reviewed is not known: git cannot say.".to_owned()
    });
    let hidden = changed.hides_others.then(|| {
        "What git passes over has changed while it was reviewed: that is not compared.".to_owned()
    });
    let sentences: Vec<String> = changes.into_iter().chain(unknown).chain(hidden).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Returns whether the state has other fields than before: another limit counts.
pub(crate) fn has_moved_on(chart: &Chart, before: &Context, now: &Context) -> bool {
    let is_limit = |name: &String| chart.cycles.values().any(|cycle| cycle.limit == *name);
    let mut names = chart.context.keys();
    names.any(|name| before.get(name) != now.get(name) && !is_limit(name))
}

/// Returns the limits that were lowered below review `n` while it ran, as they were before: it has been paid for, so they
/// hold for the next one.
pub(crate) fn passed_limits(chart: &Chart, before: &Context, now: &Context, n: i64) -> Context {
    let limits = chart.cycles.values().filter_map(|cycle| {
        let limit = now.get(&cycle.limit)?.as_i64()?;
        let old = before.get(&cycle.limit)?;
        (0 < limit && limit < n).then(|| (cycle.limit.clone(), old.clone()))
    });
    limits.collect()
}
