//! Compares the receipts of an instance with themselves, with its files, and with a version of the code.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::chain::Chain;
use super::remarks::Remarks;
use super::replay::{Ready, Run};
use super::signature::{self, Signed, Signers};
use super::statement::{Line, Predicate, Statement};
use super::{Entry, Open, Review};
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
    pub(crate) chain: Chain,
}

/// Checks the text of a file: each hash, how the lines follow each other, the signatures, and every decision.
pub(crate) fn lines(root: &Path, text: &str, signers: Option<&Signers>) -> Checked {
    let mut checked = Checked::default();
    let mut run = Run::default();
    let mut known: HashMap<String, (usize, Remarks)> = HashMap::new();
    let mut signed = HashSet::new();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    for (at, line) in lines.enumerate() {
        let number = at + 1;
        let line = match Line::parse(line) {
            Ok(line) => line,
            // It is about nothing, so what follows can still be checked.
            Err(why) => {
                checked.flaw(number, &why);
                continue;
            }
        };
        checked.lines += 1;
        let statement = match line.statement() {
            Ok(statement) => statement,
            Err(why) => {
                checked.flaw(number, &why);
                // What follows is about a state that nobody knows.
                break;
            }
        };
        let is_signed = signed.contains(&line.sha256);
        if known.contains_key(&line.sha256) && line.signature.is_some() != is_signed {
            // One branch has signed it, and git has kept both.
            if let Some(signature) = &line.signature {
                checked.signature(root, number, &line.sha256, signature, signers);
                signed.insert(line.sha256);
            }
            continue;
        }
        let predicate = &statement.predicate;
        checked.place(number, &line.sha256, predicate, &known);
        if let Some(signature) = &line.signature {
            checked.signature(root, number, &line.sha256, signature, signers);
            signed.insert(line.sha256.clone());
        }
        checked.charts(number, predicate, &mut run);
        for difference in run.line(&line.sha256, predicate) {
            checked.flaw(number, &difference.to_string());
        }
        let before = predicate.previous.as_ref().and_then(|name| known.get(name));
        let mut remarks = before
            .map(|(_, remarks)| remarks.clone())
            .unwrap_or_default();
        let again = remarks.line(&predicate.entries).into_iter();
        let again: Vec<String> = again.map(|remark| remark.to_string()).collect();
        if predicate.remarks != again {
            checked.flaw(number, "its remarks are not those about its entries");
        }
        checked.remarks.extend(again);
        checked.reviews += reviews(&statement).count();
        known.insert(line.sha256.clone(), (number, remarks));
        checked.chain.add(line.sha256, statement);
    }
    let is_unsigned = (checked.chain.ends()).any(|end| !signed.contains(&end.sha256));
    if is_unsigned && signers.is_some_and(|signers| signers.are_required) {
        let what = "the last line is not signed, and --signers asks for that";
        checked.flaws.push(what.to_owned());
    }
    checked.decisions = run.count;
    checked
}

impl Checked {
    /// Returns what is known of the receipts of an instance whose file cannot be read.
    pub(crate) fn unreadable(name: String, why: String) -> Self {
        Self {
            name,
            flaws: vec![why],
            ..Self::default()
        }
    }

    fn flaw(&mut self, line: usize, what: &str) {
        self.flaws.push(format!("line {line}: {what}"));
    }

    /// Checks that a line is where it belongs, and about what the others are about.
    fn place(
        &mut self,
        number: usize,
        sha256: &str,
        predicate: &Predicate,
        known: &HashMap<String, (usize, Remarks)>,
    ) {
        if known.contains_key(sha256) {
            self.flaw(number, "it is there twice");
        } else if predicate.follows().any(|name| !known.contains_key(name)) {
            let what = "it goes on from no line before it: a line was changed, moved or removed";
            self.flaw(number, what);
        }
        let beside = self.chain.links.iter();
        let mut beside =
            beside.filter(|link| link.statement.predicate.previous == predicate.previous);
        if let Some((other, _)) = beside.next().and_then(|link| known.get(&link.sha256)) {
            let what =
                format!("line {number}: it begins where line {other} does: branches were merged");
            self.remarks.push(what);
        }
        if self.chain.links.is_empty() {
            self.name.clone_from(&predicate.name);
        } else if predicate.name != self.name {
            self.flaw(number, &format!("it is about `{}`", predicate.name));
        }
    }

    fn signature(
        &mut self,
        root: &Path,
        number: usize,
        sha256: &str,
        signature: &str,
        signers: Option<&Signers>,
    ) {
        let file = signers.map(|signers| &*signers.file);
        let name = match signature::check(root, file, sha256, signature) {
            Ok(Signed::By(name)) => name,
            Ok(Signed::Unlisted) => "an unlisted key".to_owned(),
            Err(why) => return self.flaw(number, &format!("its signature does not hold: {why}")),
        };
        self.signatures.push(format!("line {number}: {name}"));
    }

    /// Checks the charts that a line brings, and adds them to those that can decide.
    fn charts(&mut self, number: usize, predicate: &Predicate, run: &mut Run) {
        for (sha256, whole) in &predicate.charts {
            if whole.hash() != *sha256 {
                self.flaw(number, "its chart was changed: its hash is another one");
                continue;
            }
            let is_own = predicate.taskie == env!("CARGO_PKG_VERSION");
            let odd = whole.is_odd(is_own).into_iter();
            self.remarks
                .extend(odd.map(|what| format!("line {number}: {what}")));
            match whole.load() {
                Ok(chart) => {
                    run.charts.insert(sha256.clone(), Ready::of(&chart));
                }
                Err(why) => self.flaw(number, &format!("its chart cannot decide: {why}")),
            }
        }
    }
}

/// Returns the fields of an instance's state that are not as its record has left them, in words. `open` is what has happened
/// since the last receipt, as far as the instance's directory knows it.
pub(crate) fn left(
    chain: &Chain,
    open: Vec<Open>,
    fields: &serde_json::Map<String, serde_json::Value>,
) -> Option<String> {
    let states = chain.states(&chain.unsealed(open));
    let others = states.iter().map(|left| {
        let others = left.iter().filter_map(|(name, old)| {
            let new = fields.get(name)?;
            (new != old).then(|| format!("{} is {new}, not {old}", shown(name)))
        });
        others.collect::<Vec<String>>()
    });
    // Of several branches, one has left it.
    let others = others
        .min_by_key(Vec::len)
        .filter(|others| !others.is_empty())?;
    let others = others.join(", ");
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
pub(crate) fn files(dir: &Path, chain: &Chain) -> Vec<String> {
    let known = chain.files(&[], |_| Vec::new());
    let flaw = |(file, versions): (String, Vec<Option<String>>)| {
        let path: PathBuf = dir.join(&file);
        match crate::disk::read_regular(&path).ok().flatten() {
            None => Some(format!("{file} is gone")),
            Some(text) if !versions.contains(&Some(hash::of_text(&text))) => {
                Some(format!("{file} was changed after the review"))
            }
            Some(_) => None,
        }
    };
    let mut flaws: Vec<String> = known.into_iter().filter_map(flaw).collect();
    flaws.sort();
    flaws
}

/// The versions of files that clean reviews have seen: the file, its mode and blob (none: it is gone), and the review.
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
            for (file, version) in &tree.files {
                let key = (file.clone(), version.clone());
                self.files.insert(key, format!("{name}/{}", review.file));
            }
        }
        self.works.extend(work);
    }

    /// Returns the files of a manifest that count for a work, each with the review that has seen it as it is there.
    pub(crate) fn covered(&self, work: &Work, manifest: &Manifest) -> Blobs {
        let files = manifest.files.iter();
        let files = files.filter(|(file, _)| !is_any_like(file, &work.skips));
        let files = files.map(|(file, version)| {
            let review = self.files.get(&(file.clone(), version.clone()));
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
