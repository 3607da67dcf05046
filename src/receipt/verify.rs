//! Whether what is here is what was reviewed: compares changed files, reviews and the chain of receipts with what is there.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value as Json, json};

use super::file::{folder, read};
use super::statement::{OVER_ALL, Receipt, entries, entry};
use crate::chart::Scope;
use crate::disk;
use crate::hash;
use crate::project::change::{Changed, RECEIPTS};
use crate::project::find;
use crate::text::shown;

/// The receipts of a project.
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    pub(crate) all: Vec<Receipt>,
    /// What is wrong with their files.
    flaws: Vec<String>,
}

/// What does not match, in sentences.
#[derive(Debug)]
pub(crate) struct Verified {
    /// How many files were compared.
    pub(crate) files: usize,
    /// Those that no clean review has seen as they are.
    pub(crate) unread: Vec<String>,
    /// Cycles that have not passed, reviews that are other ones now, and receipts that do not follow from each other.
    pub(crate) flaws: Vec<String>,
}

impl Receipts {
    /// Reads those in the git directory, and those that were committed.
    pub(crate) fn of(root: &Path, scope: &Scope) -> Self {
        let kept = files_in(&folder(root).unwrap_or_default(), "");
        let committed = files_in(&root.join(find::folder(scope)), RECEIPTS);
        let mut receipts = Self::default();
        for file in kept.into_iter().chain(committed) {
            let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            let lines = read(&file).unwrap_or_else(|error| {
                receipts.flaws.push(format!("{shown} cannot be read: {error}"));
                Vec::new()
            });
            let mut hashes = HashSet::new();
            for (at, (line, receipt)) in lines.into_iter().enumerate() {
                let before = receipt.as_ref().and_then(|receipt| receipt.before.clone());
                // After a merge, two lines can follow the same one.
                let follows = at == 0 || before.is_some_and(|before| hashes.contains(&before));
                let why = match &receipt {
                    None => Some("is no receipt"),
                    Some(_) if !follows => Some("does not follow from a line before it"),
                    Some(_) => None,
                };
                let why = why.map(|why| format!("line {} of {shown} {why}", at + 1));
                receipts.flaws.extend(why);
                hashes.insert(hash::of(line.as_bytes()));
                receipts.all.extend(receipt);
            }
        }
        receipts.all.sort_by(|a, b| a.at.cmp(&b.at));
        // One that is committed is in both.
        receipts.all.dedup_by(|a, b| a.is_same(b));
        receipts
    }

    /// Compares them with these files, and with the reviews in the work tree at `top`.
    pub(crate) fn verify(self, top: &Path, changed: &[Changed]) -> Verified {
        let Self { all, mut flaws } = self;
        let whole = entries(changed);
        let files = |receipt: &Receipt| receipt.code.clone().map(|it| it.files).unwrap_or_default();
        let passed = all.iter().filter(|receipt| receipt.has_passed());
        let passed: HashSet<String> = passed.flat_map(files).collect();
        // Of many files, a receipt has one hash.
        let has_all = whole.iter().any(|it| it.starts_with(OVER_ALL) && passed.contains(it));
        let is_seen =
            |file: &&Changed| entry(file).is_some() && (has_all || is_read(file, &passed));
        let unread = changed.iter().filter(|file| !is_seen(file));
        let unread = unread.map(|file| file.path.clone()).collect();
        let names: HashSet<&str> = changed.iter().map(|file| &*file.path).collect();
        let is_meant = |entry: &String| whole.contains(entry) || names.contains(name_in(entry));
        let about = all.iter().filter(|receipt| files(receipt).iter().any(is_meant));
        let about: HashSet<&Path> = about.map(|receipt| &*receipt.instance).collect();
        let about: Vec<&Receipt> =
            all.iter().filter(|receipt| about.contains(&*receipt.instance)).collect();
        let last: HashMap<_, _> =
            (about.iter()).map(|receipt| ((&receipt.instance, &receipt.cycle), *receipt)).collect();
        for receipt in last.into_values().filter(|receipt| !receipt.has_passed()) {
            let how = match &*receipt.ended {
                "not passed" => "has not passed".to_owned(),
                how => format!("ended by `{}`", shown(how)),
            };
            let instance = receipt.instance.display().to_string();
            flaws.push(format!("{}: the {} {how}", shown(&instance), shown(&receipt.cycle)));
        }
        let mut written: HashMap<PathBuf, Vec<&String>> = HashMap::new();
        for receipt in about {
            for review in &receipt.reviews {
                let hashes = written.entry(receipt.instance.join(&review.file)).or_default();
                hashes.extend(&review.sha256);
            }
        }
        let is_inside =
            |file: &Path| file.components().all(|it| matches!(it, Component::Normal(_)));
        for (file, hashes) in written.into_iter().filter(|(file, _)| is_inside(file)) {
            let text = disk::read(top, &top.join(&file)).ok().flatten();
            // A plan can be removed once it is over, and begun again under its name.
            let is_other = text.is_some_and(|text| !hashes.contains(&&hash::of(&text)));
            if is_other {
                let file = file.display().to_string();
                flaws.push(format!("{} is not what the reviewer wrote", shown(&file)));
            }
        }
        flaws.sort();
        Verified { files: changed.len(), unread, flaws }
    }
}

/// Returns the name of the file that an entry is about.
fn name_in(entry: &str) -> &str {
    entry.splitn(5, ' ').nth(4).unwrap_or_default()
}

/// Returns whether clean reviews lead from what a file was to what it is: each from what the one before it has read.
fn is_read(file: &Changed, passed: &HashSet<String>) -> bool {
    let Some([before, now]) = &file.objects else { return false };
    let steps = passed.iter().filter_map(|entry| {
        let words: Vec<&str> = entry.splitn(5, ' ').collect();
        let [old_mode, old, mode, new, name] = words[..] else { return None };
        (name == file.path).then(|| (format!("{old_mode} {old}"), format!("{mode} {new}")))
    });
    let steps: Vec<(String, String)> = steps.collect();
    let mut reached = HashSet::from([before]);
    let next = |reached: &HashSet<_>| {
        steps.iter().find(|(from, to)| reached.contains(from) && !reached.contains(to))
    };
    while let Some((_, to)) = next(&reached) {
        reached.insert(to);
    }
    reached.contains(now)
}

impl Verified {
    /// Returns whether all that has changed was seen by a clean review, and nothing else is wrong.
    pub(crate) fn is_clean(&self) -> bool {
        self.unread.is_empty() && self.flaws.is_empty()
    }

    /// Returns it for programs.
    pub(crate) fn json(&self) -> Json {
        json!({
            "verified": self.is_clean(),
            "files": self.files,
            "unread": self.unread,
            "flaws": self.flaws,
        })
    }
}

/// Returns the files in a folder; if there is a `name`, those of that name in each folder of it.
fn files_in(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    if !name.is_empty() {
        files.iter_mut().for_each(|file| file.push(name));
    }
    files.retain(|file| file.is_file());
    files.sort();
    files
}
