//! Compares the receipts of an instance with themselves, with its files, and with a version of the code.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chain::Chain;
use super::charts;
use super::remarks::Remarks;
use super::replay::{Ready, ReceiptReplay};
use super::signature::{self, Signers};
use super::statement::{self, Line, Predicate, Statement};
use super::unpassed::Finder;
use super::{Entry, Open, ReviewEntry, goes_on_from};
use crate::chart::Chart;
use crate::engine::context::Context;
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
    run: ReceiptReplay,
}

/// Checks the text of a file: each hash, how the lines follow each other, the signatures, and every decision.
pub(crate) fn lines(root: &Path, text: &str, signers: Option<&Signers>) -> Checked {
    let mut checked = Checked::default();
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
        let statement = match line.whole_statement() {
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
        if statement.subject != statement::subject(reviews(&statement)) {
            checked.flaw(number, "its subject is not what its last review saw");
        }
        checked.charts(number, predicate);
        for difference in checked.run.line(&line.sha256, predicate) {
            checked.flaw(number, &difference);
        }
        let mut said = predicate.entries.iter().rev().filter_map(Entry::settings);
        if said.next().is_some_and(|said| *said != predicate.settings) {
            checked.flaw(number, "its settings are not those that its last entries say");
        }
        let before = predicate.previous.as_ref().and_then(|name| known.get(name));
        let mut remarks = before.map(|(_, remarks)| remarks.clone()).unwrap_or_default();
        let merged = predicate.merges.iter();
        let merged = merged.filter_map(|name| known.get(name)?.1.state().cloned());
        let merged = merged.collect();
        let again = remarks.line(&predicate.entries, merged).into_iter();
        let again: Vec<String> = again.map(|remark| remark.to_string()).collect();
        if predicate.remarks != again {
            checked.flaw(number, "its remarks are not those about its entries");
        }
        checked.remarks.extend(again);
        // Where a gate has failed, there was none.
        checked.reviews += reviews(&statement).filter(|review| review.times.is_none()).count();
        known.insert(line.sha256.clone(), (number, remarks));
        checked.chain.add(line.sha256, statement);
    }
    let is_unsigned = (checked.chain.ends()).any(|end| !signed.contains(&end.sha256));
    if is_unsigned && signers.is_some_and(|signers| signers.are_required) {
        let what = "the last line is not signed, and --signers asks for that";
        checked.flaws.push(what.to_owned());
    }
    checked.decisions = checked.run.count;
    checked
}

impl Checked {
    /// Returns the patterns of the files that do not count for the next review of code, by the last receipt.
    pub(crate) fn skips(&self) -> Option<Vec<String>> {
        let Predicate { entries, settings, .. } = &self.chain.links.last()?.statement.predicate;
        let ready = self.run.charts.get(entries.last()?.chart())?;
        ready.coming_skips(&Context::default(), settings)
    }

    /// Returns the files that reviews have read, and that are not as the last clean one of them has read them. `open` is what
    /// has happened since the last receipt.
    pub(crate) fn rewritten(&self, dir: &Path, open: &[Open]) -> Vec<String> {
        let mut read = BTreeMap::new();
        let links = self.chain.links.iter();
        let sealed = links.flat_map(|link| counted(&link.statement.predicate.entries));
        for (review, is_clean) in sealed.chain(counted(open)) {
            let worked_in = self.run.charts.get(&review.chart);
            let worked_in = |file: &str| worked_in.is_none_or(|ready| ready.is_worked_in(file));
            let files = review.subject.iter().filter(|(file, _)| is_clean && !worked_in(file));
            read.extend(files.map(|(file, sha256)| (file, (sha256, &review.file))));
        }
        let rewritten = read.into_iter().filter_map(|(file, (sha256, review))| {
            let text = crate::disk::read_regular(&dir.join(file)).ok().flatten();
            let is = match text {
                Some(text) if hash::of_text(&text) == *sha256 => return None,
                Some(_) => "was changed",
                None => "is gone",
            };
            Some(format!("{} {is} since {}", shown(file), shown(review)))
        });
        rewritten.collect()
    }

    /// Returns what is known of the receipts of an instance whose file cannot be read.
    pub(crate) fn unreadable(name: String, why: String) -> Self {
        Self { name, flaws: vec![why], ..Self::default() }
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
        let previous = predicate.previous.as_deref().unwrap_or_default();
        if (predicate.merges.iter()).any(|merged| self.chain.goes_on(previous, merged)) {
            self.flaw(number, "it unites a line from which it goes on already");
        }
        let goes_on = |other: &Predicate, from: &String| other.follows().any(|name| name == from);
        let is_beside = |other: &Predicate| match predicate.follows().next() {
            Some(_) => predicate.follows().any(|name| goes_on(other, name)),
            None => other.previous.is_none(),
        };
        let mut beside = self.chain.links.iter();
        let beside = beside.find(|link| is_beside(&link.statement.predicate));
        if let Some((other, _)) = beside.and_then(|link| known.get(&link.sha256)) {
            let what =
                format!("line {number}: it begins where line {other} does: branches were merged");
            self.remarks.push(what);
        }
        if predicate.name != self.name && !self.chain.links.is_empty() {
            let (new, old) = (shown(&predicate.name), shown(&self.name));
            let what =
                format!("line {number}: it is about `{new}`, and the one before about `{old}`");
            self.remarks.push(what);
        }
        self.name.clone_from(&predicate.name);
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
            Ok(name) => name.unwrap_or_else(|| "an unlisted key".to_owned()),
            Err(why) => return self.flaw(number, &format!("its signature does not hold: {why}")),
        };
        self.signatures.push(format!("line {number}: {name}"));
    }

    /// Checks the charts that a line brings, and adds them to those that can decide.
    fn charts(&mut self, number: usize, predicate: &Predicate) {
        for (sha256, whole) in &predicate.charts {
            if whole.hash() != *sha256 {
                self.flaw(number, "its chart was changed: its hash is another one");
                continue;
            }
            let odd = whole.oddity(&predicate.taskie).into_iter();
            self.remarks.extend(odd.map(|what| format!("line {number}: {what}")));
            match whole.load() {
                Ok(chart) => {
                    self.run.charts.insert(sha256.clone(), Ready::of(&chart));
                }
                Err(why) => self.flaw(number, &format!("its chart cannot decide: {why}")),
            }
        }
    }
}

/// Returns what is wrong where there is no receipt yet: the cycle that runs according to these entries was left, and not by a
/// decision, which would be among them. `fields` is the state as it is now.
pub(crate) fn abandoned(
    chart: &Chart,
    open: &[Open],
    fields: Option<&serde_json::Map<String, serde_json::Value>>,
) -> Option<String> {
    let mut finder = Finder::of(chart);
    finder.add(open);
    // What cannot be read has left nothing.
    let left = finder.compare(&fields?.clone().into_iter().collect())?;
    let left = shown(&left.title(chart)).into_owned();
    Some(format!("the {left} was left by a change of state.json, and not by a decision"))
}

/// Returns the cycles that were left without having passed, in words. `open` is what has happened since the last receipt.
pub(crate) fn unpassed(chart: &Chart, chain: &Chain, open: &[Open]) -> Option<String> {
    let mut finder = Finder::of(chart);
    for statement in chain.statements() {
        finder.add(&statement.predicate.entries);
    }
    finder.add(open);
    let left = finder.into_left();
    let left: Vec<String> = left.iter().map(|left| left.title(chart)).collect();
    (!left.is_empty()).then(|| format!("left without having passed: {}", shown(&left.join(", "))))
}

/// Returns the fields of an instance's state that are not as its record has left them, in words. `open` is what has happened
/// since the last receipt, as far as the instance's directory knows it.
pub(crate) fn left(
    chain: &Chain,
    open: Vec<Open>,
    fields: Option<&serde_json::Map<String, serde_json::Value>>,
) -> Option<String> {
    let states = chain.states(&chain.unsealed(open, Entry::at));
    let Some(fields) = fields else {
        let what = "there is no state.json that can be read, and the record has left one";
        return (!states.is_empty()).then(|| what.to_owned());
    };
    let others = states.iter().map(|left| {
        let others = left.iter().filter_map(|(name, old)| match fields.get(name) {
            Some(new) if new != old => Some(format!("{} is {new}, not {old}", shown(name))),
            None if !old.is_null() => Some(format!("{} is missing, not {old}", shown(name))),
            _ => None,
        });
        others.collect::<Vec<String>>()
    });
    // Of several branches, one has left it.
    let others = others.min_by_key(Vec::len).filter(|others| !others.is_empty())?;
    let others = others.join(", ");
    Some(format!("state.json is not as the record has left it: {others}"))
}

/// Returns the reviews of a statement.
pub(crate) fn reviews(statement: &Statement) -> impl DoubleEndedIterator<Item = &ReviewEntry> {
    let entries = statement.predicate.entries.iter();
    entries.filter_map(Entry::review)
}

/// Returns those reviews among some entries that count: about which the next decision was, and not to set it aside; and
/// whether each was clean.
pub(crate) fn counted<'e, W: 'e>(
    entries: impl IntoIterator<Item = &'e Entry<W>>,
) -> Vec<(&'e ReviewEntry, bool)> {
    let mut open = None;
    let counted = entries.into_iter().filter_map(|entry| match entry {
        Entry::Review(review) => {
            open = Some(&**review);
            None
        }
        Entry::Decision(decision) => {
            let of_it = decision.is_reviewed.then(|| open.take()).flatten();
            let of_it = of_it.filter(|_| !decision.is_superseded);
            of_it.map(|review| (review, decision.is_clean))
        }
    });
    counted.collect()
}

/// Returns what is wrong with the files of reviews and answers in an instance's directory: those that are not as they were.
/// `open` is what has happened since the last receipt. Where that is `sound`, a review about which something was decided can be
/// in place of one that a receipt has.
pub(crate) fn files(dir: &Path, chain: &Chain, open: &[Open], is_sound: bool) -> Vec<String> {
    let sealed = chain.files(&[], false);
    let is_new = |entry: &Open| {
        let own = entry.review().map(|review| &review.file);
        let mut names = entry.answers().keys().chain(own);
        names.all(|name| !sealed.contains_key(name))
    };
    let is_decided = |at: usize| {
        let next = open[at + 1..].iter().find_map(|entry| match entry {
            Entry::Review(_) => Some(false),
            Entry::Decision(decision) => decision.is_reviewed.then_some(true),
        });
        is_sound && (open[at].review().is_none() || next == Some(true))
    };
    let open: Vec<Open> = (open.iter().enumerate())
        .filter(|(at, entry)| is_new(entry) || is_decided(*at))
        .map(|(_, entry)| entry.clone())
        .collect();
    let known = chain.files(&open, false);
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
pub(crate) struct CleanVersions {
    all: Versions,
    /// Those that the last clean review of each branch of each instance has seen.
    last: Versions,
    /// What each instance is about.
    pub(crate) works: Vec<Work>,
    /// For each instance without a review of code, the patterns of the files that will not count for one.
    unseen: Vec<Vec<String>>,
}

type Versions = HashMap<(String, Option<String>), String>;

/// What the reviews of a branch of an instance are about.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) name: String,
    /// Where it began.
    pub(crate) base: String,
    /// The patterns of the files that do not count, as the last review has them.
    pub(crate) skips: Vec<String>,
    /// The files that the last clean review has seen.
    files: Blobs,
}

impl CleanVersions {
    /// Adds what the reviews of an instance that count have seen. `open` is what has happened since its last receipt.
    /// `unseen` are the patterns of the files that do not count, for when no review of code has said which.
    pub(crate) fn add<'r>(
        &mut self,
        name: &str,
        chain: &'r Chain,
        open: &'r [Open],
        unseen: Option<Vec<String>>,
    ) {
        let (mut latest, mut clean) = (None, Vec::new());
        // Of a line without a clean review, those count of the lines from which it goes on.
        let mut line = |counted: Vec<(&'r ReviewEntry, bool)>, mut last: Vec<usize>| {
            for (review, is_clean) in counted {
                latest = review.tree.as_ref().or(latest);
                if let (true, Some(tree)) = (is_clean, &review.tree) {
                    last = vec![clean.len()];
                    clean.push((format!("{name}/{}", review.file), tree));
                }
            }
            last
        };
        let mut lasts: HashMap<&str, Vec<usize>> = HashMap::new();
        for link in &chain.links {
            let Predicate { entries, .. } = &link.statement.predicate;
            let before = link.statement.predicate.follows();
            let before = before.filter_map(|name| lasts.get(&**name)).flatten();
            let last = line(counted(entries), before.copied().collect());
            lasts.insert(&link.sha256, last);
        }
        let ends = chain.ends().filter_map(|end| lasts.get(&*end.sha256));
        let last = line(counted(open), ends.flatten().copied().collect());
        let Some(latest) = latest else {
            return self.unseen.push(unseen.unwrap_or_default());
        };
        let work = |base: &str, files: &Blobs| Work {
            name: name.to_owned(),
            base: base.to_owned(),
            skips: latest.skips.clone(),
            files: files.clone(),
        };
        for (at, (review, tree)) in clean.into_iter().enumerate() {
            let is_last = last.contains(&at);
            for (file, version) in &tree.files {
                let key = (file.clone(), version.clone());
                if is_last {
                    self.last.insert(key.clone(), review.clone());
                }
                self.all.insert(key, review.clone());
            }
            self.works.extend(is_last.then(|| work(&tree.base, &tree.files)));
        }
        self.works.push(work(&latest.base, &Blobs::new()));
    }

    /// Returns the files of a manifest that count, where no instance has a review of code: no review has seen them.
    pub(crate) fn unseen(&self, manifest: &Manifest) -> Blobs {
        if !self.works.is_empty() {
            return Blobs::default();
        }
        let counts = |file: &&String| !self.unseen.iter().all(|skips| is_any_like(file, skips));
        let files = manifest.files.keys().filter(counts);
        files.map(|file| (file.clone(), None)).collect()
    }

    /// Returns which files of a work are no longer as they were, where git does not know where it began: `now` has all files.
    pub(crate) fn covered_without_base(&self, work: &Work, mut now: Manifest) -> Blobs {
        now.files.retain(|file, _| work.files.contains_key(file));
        for file in work.files.keys() {
            now.files.entry(file.clone()).or_default();
        }
        self.covered(work, &now, true)
    }

    /// Returns the files that count for a work, each with the review that has seen it as it is in a manifest. If the manifest
    /// is of the work as it `is_now`, only the last clean reviews count, and so do their files that are no longer changed.
    pub(crate) fn covered(&self, work: &Work, manifest: &Manifest, is_now: bool) -> Blobs {
        let seen = if is_now { &self.last } else { &self.all };
        let files = manifest.files.iter().map(|(file, version)| {
            let review = seen.get(&(file.clone(), version.clone()));
            (file, review.cloned())
        });
        let undone = work.files.keys().filter(|_| is_now);
        let undone = undone.filter(|file| !manifest.files.contains_key(*file));
        let files = files.chain(undone.map(|file| (file, None)));
        let files = files.filter(|(file, _)| !is_any_like(file, &work.skips));
        let files = files.map(|(file, review)| (file.clone(), review));
        files.collect()
    }
}

/// Adds files to others. What one of several works has seen was seen.
pub(crate) fn join(covered: &mut Blobs, files: Blobs) {
    for (file, review) in files {
        let known = covered.entry(file).or_default();
        *known = known.take().or(review);
    }
}

/// Makes the decisions since the last receipt again, as far as the instance's directory knows them. `chart` is the one in use:
/// the receipts may not have it yet. Returns whether all could be made again.
pub(crate) fn open(checked: &mut Checked, chart: &Arc<Chart>, open: Vec<Open>) -> bool {
    if open.is_empty() {
        return true;
    }
    let is_there = |name: &String| {
        let mut links = checked.chain.links.iter();
        links.any(|link| link.sha256 == *name)
    };
    if goes_on_from(&open).is_some_and(|name| !is_there(name)) {
        let what = "what happened since goes on from a last line that is gone";
        checked.flaws.push(what.to_owned());
    }
    let charts = &mut checked.run.charts;
    charts.entry(charts::hash(chart)).or_insert_with(|| Ready::of(chart));
    if open.iter().any(|entry| !charts.contains_key(entry.chart())) {
        let what = "what happened since the last receipt was decided by a chart that is not here";
        checked.remarks.push(what.to_owned());
        return false;
    }
    let predicate = checked.chain.next(open, Predicate::default());
    let differences = checked.run.line("", &predicate).into_iter();
    let flaws = differences.map(|what| format!("since the last receipt, {what}"));
    checked.flaws.extend(flaws);
    checked.remarks.extend(predicate.remarks);
    true
}
