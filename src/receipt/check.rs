//! Compares the receipts of an instance with themselves, with its files, and with a version of the code.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::remarks;
use super::replay::{Ready, Run};
use super::signature::{self, Signed};
use super::statement::{Line, Statement};
use super::{Entry, Review};
use crate::chart::Chart;
use crate::hash;
use crate::project::change::Blobs;
use crate::project::manifest::Manifest;

/// What was found out about a file of receipts.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// The name of the instance, as its receipts have it.
    pub(crate) name: String,
    pub(crate) lines: usize,
    pub(crate) reviews: usize,
    pub(crate) decisions: usize,
    /// What is wrong; the first comes first.
    pub(crate) flaws: Vec<String>,
    /// What its lines say themselves.
    pub(crate) remarks: Vec<String>,
    pub(crate) signatures: Vec<String>,
    pub(crate) statements: Vec<Statement>,
}

/// Checks the text of a file: each hash, the chain, the signatures, and every decision.
pub(crate) fn lines(root: &Path, text: &str, signers: Option<&Path>) -> Checked {
    let mut checked = Checked::default();
    let mut run = Run::default();
    let mut previous: Option<String> = None;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    for (at, line) in lines.enumerate() {
        checked.lines += 1;
        let number = at + 1;
        let flaws = &mut checked.flaws;
        let mut flaw = |what: String| flaws.push(format!("line {number}: {what}"));
        let read = Line::parse(line).and_then(|line| Ok((line.statement()?, line)));
        let (statement, line) = match read {
            Ok(read) => read,
            Err(why) => {
                flaw(why);
                // What follows is about a state that nobody knows.
                break;
            }
        };
        let predicate = &statement.predicate;
        if predicate.previous != previous {
            flaw(
                "it does not follow the line before: a line was changed, moved or removed"
                    .to_owned(),
            );
        }
        previous = Some(line.sha256.clone());
        if at == 0 {
            checked.name.clone_from(&predicate.name);
        } else if predicate.name != checked.name {
            flaw(format!("it is about `{}`", predicate.name));
        }
        if let Some(signature) = &line.signature {
            match signature::check(root, signers, &line.sha256, signature) {
                Ok(Signed::By(name)) => checked.signatures.push(format!("line {number}: {name}")),
                Ok(Signed::Unlisted) => {
                    checked
                        .signatures
                        .push(format!("line {number}: an unlisted key"));
                }
                Err(why) => flaw(format!("its signature does not hold: {why}")),
            }
        }
        for (sha256, whole) in &predicate.charts {
            if whole.hash() != *sha256 {
                flaw("its chart was changed: its hash is another one".to_owned());
                continue;
            }
            match whole.load() {
                Ok(chart) => {
                    run.charts.insert(sha256.clone(), Ready::of(&chart));
                }
                Err(why) => flaw(format!("its chart cannot decide: {why}")),
            }
        }
        for difference in run.line(predicate) {
            flaw(difference.to_string());
        }
        if predicate.remarks != remarks::of(predicate) {
            flaw("its remarks are not those about its entries".to_owned());
        }
        checked.remarks.extend(predicate.remarks.clone());
        checked.reviews += reviews(&statement).count();
        checked.statements.push(statement);
    }
    checked.decisions = run.count;
    checked
}

/// Returns the reviews of a statement.
pub(crate) fn reviews(statement: &Statement) -> impl Iterator<Item = &Review> {
    let entries = statement.predicate.entries.iter();
    entries.filter_map(Entry::review)
}

/// Returns what is wrong with the files of reviews and answers in an instance's directory: those that are not as they were.
pub(crate) fn files(dir: &Path, statements: &[Statement]) -> Vec<String> {
    // A file that was written again replaces what was there.
    let mut last: BTreeMap<&str, &str> = BTreeMap::new();
    for review in statements.iter().flat_map(reviews) {
        for (file, sha256) in &review.answers {
            last.insert(file, sha256);
        }
        if let Some(sha256) = &review.review {
            last.insert(&review.file, sha256);
        }
    }
    let flaw = |(file, sha256): (&str, &str)| {
        let path: PathBuf = dir.join(file);
        match crate::disk::read_regular(&path).ok().flatten() {
            None => Some(format!("{file} is gone")),
            Some(text) if hash::of(&text) != sha256 => {
                Some(format!("{file} was changed after the review"))
            }
            Some(_) => None,
        }
    };
    last.into_iter().filter_map(flaw).collect()
}

/// The versions of files that clean reviews have seen: the file, its blob (none: it is gone), and the review.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    files: HashMap<(String, Option<String>), String>,
    skips: Vec<String>,
    /// Where the work of the newest receipt began.
    pub(crate) base: Option<String>,
}

impl Seen {
    /// Adds what the clean reviews of an instance have seen. `is_clean` says which are.
    pub(crate) fn add(
        &mut self,
        name: &str,
        statements: &[Statement],
        is_clean: impl Fn(&Review) -> bool,
    ) {
        for review in statements.iter().flat_map(reviews) {
            let Some(tree) = &review.tree else { continue };
            self.base = Some(tree.base.clone());
            self.skips.clone_from(&tree.skips);
            if !is_clean(review) {
                continue;
            }
            for (file, blob) in &tree.files {
                let key = (file.clone(), blob.clone());
                self.files.insert(key, format!("{name}/{}", review.file));
            }
        }
    }

    /// Returns the patterns of the files that do not count.
    pub(crate) fn skips(&self) -> &[String] {
        &self.skips
    }

    /// Returns the files of a manifest, each with the review that has seen it as it is there.
    pub(crate) fn covered(&self, manifest: &Manifest) -> Blobs {
        let files = manifest.files.iter();
        let files = files.map(|(file, blob)| {
            let review = self.files.get(&(file.clone(), blob.clone()));
            (file.clone(), review.cloned())
        });
        files.collect()
    }
}

/// Returns whether a review has the best verdict of its chart, and nothing worse happened.
pub(crate) fn has_passed(chart: &Chart, review: &Review) -> bool {
    let verdict = review.verdict.as_ref();
    review.error.is_none() && verdict.is_some_and(|verdict| chart.is_best_verdict(verdict))
}
