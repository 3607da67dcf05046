//! Whether what is here is what was reviewed: compares changed files, reviews and the chain of receipts with what is there.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::file::{folder, read};
use super::statement::{Receipt, entry, over_all};
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
    pub(crate) fn of(root: &Path, scope: &Scope) -> io::Result<Self> {
        let kept = files_in(&folder(root).unwrap_or_default(), "");
        let committed = files_in(&root.join(find::folder(scope)), RECEIPTS);
        let mut receipts = Self::default();
        for file in kept.into_iter().chain(committed) {
            let mut hashes = HashSet::new();
            let shown = file.strip_prefix(root).unwrap_or(&file).display();
            for (at, (line, receipt)) in read(&file)?.into_iter().enumerate() {
                let before = receipt.as_ref().and_then(|receipt| receipt.before.clone());
                // After a merge, two lines can follow the same one, and the first of a file one that was not committed.
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
        receipts.all.dedup();
        Ok(receipts)
    }

    /// Compares them with these files, and with the reviews in the project at `root`.
    pub(crate) fn verify(self, root: &Path, changed: &[Changed]) -> Verified {
        let Self { all, mut flaws } = self;
        let entries: Vec<String> = changed.iter().map(entry).collect();
        let named = |receipt: &Receipt| {
            let files = receipt.code.iter().flat_map(|code| code.files.clone());
            files.collect::<HashSet<String>>()
        };
        let seen: HashSet<String> =
            all.iter().filter(|receipt| receipt.has_passed()).flat_map(named).collect();
        let has_seen_all = seen.contains(&over_all(&entries));
        let unread = entries.iter().zip(changed).filter(|(entry, _)| !seen.contains(*entry));
        let unread = unread.filter(|_| !has_seen_all).map(|(_, file)| file.path.clone());
        let is_about = |receipt: &Receipt| {
            let named = named(receipt);
            entries.iter().any(|entry| named.contains(entry)) || named.contains(&over_all(&entries))
        };
        let about = all.iter().filter(|receipt| is_about(receipt));
        let about: HashSet<&Path> = about.map(|receipt| &*receipt.instance).collect();
        let all = all.iter().filter(|receipt| about.contains(&*receipt.instance));
        let all: Vec<&Receipt> = all.collect();
        for (at, receipt) in all.iter().enumerate() {
            let instance = receipt.instance.display();
            let is_same = |later: &&Receipt| {
                (&later.instance, &later.cycle) == (&receipt.instance, &receipt.cycle)
            };
            let is_last = !all.iter().skip(at + 1).any(is_same);
            if is_last && !receipt.has_passed() {
                let how = match &*receipt.ended {
                    "not passed" => "has not passed".to_owned(),
                    how => format!("ended by `{}`", shown(how)),
                };
                flaws.push(format!("{instance}: the {} {how}", shown(&receipt.cycle)));
            }
        }
        let reviews = all.iter().flat_map(|receipt| {
            let file = |name: &String| receipt.instance.join(name);
            receipt.reviews.iter().map(move |review| (file(&review.file), &review.sha256))
        });
        // Of a plan that was begun again under its name, the last reviews count.
        for (file, sha256) in reviews.collect::<HashMap<_, _>>() {
            let text = disk::read(root, &root.join(&file)).ok().flatten();
            let now = text.map(|text| hash::of(&text));
            // A plan can be removed once it is over.
            if now.is_some() && now != *sha256 {
                flaws.push(format!("{} is not what the reviewer wrote", file.display()));
            }
        }
        flaws.sort();
        Verified { files: changed.len(), unread: unread.collect(), flaws }
    }
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
