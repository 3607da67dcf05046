//! Compares the receipts of an instance with themselves, with its files, and with a version of the code.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::remarks::Remarks;
use super::replay::{Ready, Run};
use super::signature::{self, Signed, Signers};
use super::statement::{Line, Statement};
use super::{Entry, Open, Review, seal};
use crate::chart::Chart;
use crate::hash;
use crate::project::change::{Blobs, is_any_like};
use crate::project::manifest::Manifest;
use crate::text::shown;

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
pub(crate) fn lines(root: &Path, text: &str, signers: Option<&Signers>) -> Checked {
    let mut checked = Checked::default();
    let mut run = Run::default();
    let mut remarks = Remarks::default();
    let mut previous: Option<String> = None;
    let mut is_signed = false;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    for (at, line) in lines.enumerate() {
        let number = at + 1;
        let flaws = &mut checked.flaws;
        let mut flaw = |what: String| flaws.push(format!("line {number}: {what}"));
        let line = match Line::parse(line) {
            Ok(line) => line,
            // It is about nothing, so what follows can still be checked.
            Err(why) => {
                flaw(why);
                continue;
            }
        };
        checked.lines += 1;
        let statement = match line.statement() {
            Ok(statement) => statement,
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
        if checked.statements.is_empty() {
            checked.name.clone_from(&predicate.name);
        } else if predicate.name != checked.name {
            flaw(format!("it is about `{}`", predicate.name));
        }
        is_signed = line.signature.is_some();
        if let Some(signature) = &line.signature {
            let file = signers.map(|signers| &*signers.file);
            match signature::check(root, file, &line.sha256, signature) {
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
            let is_own = predicate.taskie == env!("CARGO_PKG_VERSION");
            let odd = whole.is_odd(is_own).into_iter();
            checked
                .remarks
                .extend(odd.map(|what| format!("line {number}: {what}")));
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
        let again = remarks.line(&predicate.entries).into_iter();
        let again: Vec<String> = again.map(|remark| remark.to_string()).collect();
        if predicate.remarks != again {
            flaw("its remarks are not those about its entries".to_owned());
        }
        checked.remarks.extend(again);
        checked.reviews += reviews(&statement).count();
        checked.statements.push(statement);
    }
    if !is_signed && signers.is_some_and(|signers| signers.are_required) {
        let what = "the last line is not signed, and --signers asks for that";
        checked.flaws.push(what.to_owned());
    }
    checked.decisions = run.count;
    checked
}

/// Returns the fields of an instance's state that are not as its record has left them, in words. `open` is what has happened
/// since the last receipt, as far as the instance's directory knows it.
pub(crate) fn left(
    statements: &[Statement],
    open: &[Open],
    state: &serde_json::Map<String, serde_json::Value>,
) -> Option<String> {
    let sealed = statements
        .iter()
        .flat_map(|statement| &statement.predicate.entries);
    let last = sealed.clone().last().map(|entry| entry.at().to_owned());
    let is_newer = |entry: &&Open| last.as_ref().is_none_or(|last| last.as_str() < entry.at());
    let left = seal::state_after(sealed, None);
    let left = seal::state_after(open.iter().filter(is_newer), left)?;
    let others = left.iter().filter_map(|(name, old)| {
        let new = state.get(name)?;
        (new != old).then(|| format!("{} is {new}, not {old}", shown(name)))
    });
    let others: Vec<String> = others.collect();
    let others = Some(others.join(", ")).filter(|others| !others.is_empty())?;
    Some(format!(
        "state.json is not as the record has left it: {others}"
    ))
}

/// Returns the reviews of a statement.
pub(crate) fn reviews(statement: &Statement) -> impl Iterator<Item = &Review> {
    let entries = statement.predicate.entries.iter();
    entries.filter_map(Entry::review)
}

/// Returns those reviews among some entries that count: about which the next decision was, and not to set it aside.
pub(crate) fn counted<'e, W: 'e>(
    entries: impl IntoIterator<Item = &'e Entry<W>>,
) -> Vec<&'e Review> {
    let mut open = None;
    let counted = entries.into_iter().filter_map(|entry| match entry {
        Entry::Review(review) => {
            open = Some(&**review);
            None
        }
        Entry::Decision(decision) => {
            let of_it = decision.is_reviewed.then(|| open.take()).flatten();
            of_it.filter(|_| !decision.is_superseded)
        }
    });
    counted.collect()
}

/// Returns what is wrong with the files of reviews and answers in an instance's directory: those that are not as they were.
pub(crate) fn files(dir: &Path, statements: &[Statement]) -> Vec<String> {
    // A file that was written again replaces what was there.
    let mut last: BTreeMap<&str, &str> = BTreeMap::new();
    for review in statements.iter().flat_map(reviews) {
        for (file, sha256) in &review.answers {
            last.insert(file, sha256);
        }
        match &review.review {
            Some(sha256) => last.insert(&review.file, sha256),
            // Nobody knows what a review that failed has written.
            None => last.remove(&*review.file),
        };
    }
    let flaw = |(file, sha256): (&str, &str)| {
        let path: PathBuf = dir.join(file);
        match crate::disk::read_regular(&path).ok().flatten() {
            None => Some(format!("{file} is gone")),
            Some(text) if hash::of_text(&text) != sha256 => {
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
    /// What each instance is about.
    pub(crate) works: Vec<Work>,
}

/// What the reviews of an instance are about, as the last of them has it.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) name: String,
    /// Where it began.
    pub(crate) base: String,
    /// The patterns of the files that do not count.
    pub(crate) skips: Vec<String>,
}

impl Seen {
    /// Adds what some reviews of an instance that count have seen. `is_clean` says which of them are.
    pub(crate) fn add<'r>(
        &mut self,
        name: &str,
        counted: impl IntoIterator<Item = &'r Review>,
        is_clean: impl Fn(&Review) -> bool,
    ) {
        let mut work = None;
        for review in counted {
            let Some(tree) = &review.tree else { continue };
            work = Some(Work {
                name: name.to_owned(),
                base: tree.base.clone(),
                skips: tree.skips.clone(),
            });
            if !is_clean(review) {
                continue;
            }
            for (file, blob) in &tree.files {
                let key = (file.clone(), blob.clone());
                self.files.insert(key, format!("{name}/{}", review.file));
            }
        }
        self.works.extend(work);
    }

    /// Returns the files of a manifest that count for a work, each with the review that has seen it as it is there.
    pub(crate) fn covered(&self, work: &Work, manifest: &Manifest) -> Blobs {
        let files = manifest.files.iter();
        let files = files.filter(|(file, _)| !is_any_like(file, &work.skips));
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
