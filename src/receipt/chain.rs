//! The lines of a file of receipts and how they follow each other. Each goes on from a line before it. Where branches of a
//! repository were merged, several go on from the same one, and the next line unites them: it names the others, too.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::{Map, Value as Json};

use super::remarks::Remarks;
use super::statement::{self, Line, Predicate, Statement};
use super::{Entry, Open, seal};
use crate::engine::context::Context;
use crate::hash::IndexMap;
use crate::store::Store;
use crate::store::open_record::{self, KeptLine};

/// A line that can be read.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) sha256: String,
    pub(crate) statement: Statement,
}

impl Link {
    /// Returns the fields after its last decision.
    fn state_after(&self) -> Option<Context> {
        seal::state_after(self.statement.predicate.entries.iter())
    }
}

/// The lines, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(crate) links: Vec<Link>,
    /// A line cannot be read, was changed, or goes on from none that is before it.
    pub(crate) is_broken: bool,
    /// What each goes back to, directly or not.
    before: Vec<Vec<bool>>,
}

impl Chain {
    /// Reads the lines of a file; `check` says what is wrong with those that are left out.
    pub(crate) fn read(text: &str) -> Self {
        let mut chain = Self::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let read = Line::parse(line).and_then(|line| Ok((line.statement()?, line.sha256)));
            match read {
                Ok((statement, sha256)) => chain.add(sha256, statement),
                Err(_) => chain.is_broken = true,
            }
        }
        chain
    }

    /// Adds a line, unless it is there: a branch may have signed its own copy.
    pub(crate) fn add(&mut self, sha256: String, statement: Statement) {
        if self.links.iter().any(|link| link.sha256 == sha256) {
            return;
        }
        let mut before = vec![false; self.links.len()];
        for name in statement.predicate.follows() {
            let found = self.links.iter().position(|link| link.sha256 == *name);
            let Some(at) = found else {
                self.is_broken = true;
                continue;
            };
            before[at] = true;
            let further = self.before[at].iter().enumerate();
            further.for_each(|(at, is_before)| before[at] |= is_before);
        }
        self.before.push(before);
        self.links.push(Link { sha256, statement });
    }

    /// Returns whether the line `sha256` goes on from the line `before`, directly or not.
    pub(crate) fn goes_on(&self, sha256: &str, before: &str) -> bool {
        let place = |sha256: &str| self.links.iter().position(|link| link.sha256 == sha256);
        let places = place(sha256).zip(place(before));
        places.is_some_and(|(at, before)| self.before[at].get(before) == Some(&true))
    }

    /// Returns the statements, oldest first.
    pub(crate) fn statements(&self) -> impl DoubleEndedIterator<Item = &Statement> {
        self.links.iter().map(|link| &link.statement)
    }

    /// Returns the lines from which none goes on.
    pub(crate) fn ends(&self) -> impl DoubleEndedIterator<Item = &Link> {
        let is_end = |at: &usize| !self.before.iter().any(|before| before.get(*at) == Some(&true));
        let ends = (0..self.links.len()).filter(is_end);
        ends.map(|at| &self.links[at])
    }

    /// Returns the line from which a decision in this state goes on: the end that has left it, or else the last end.
    pub(crate) fn end(&self, state: Option<&Context>) -> Option<&Link> {
        let is_it = |link: &&Link| link.state_after().as_ref() == state;
        let mut ends = self.ends().rev();
        ends.find(is_it).or_else(|| self.ends().next_back())
    }

    /// Returns what is before the line of these entries: the line from which it goes on, the ends of other branches, which it
    /// unites, and what is known of both. If another branch was merged since the first decision, the line is no end; none: it
    /// is gone.
    pub(crate) fn before(
        &self,
        open: &[Open],
    ) -> (Option<&Link>, Vec<&Link>, Remarks, Vec<Context>) {
        let first = open.iter().find_map(|entry| match entry {
            Entry::Decision(decision) => Some(decision),
            Entry::Review(_) => None,
        });
        let name = super::goes_on_from(open);
        let named = name.and_then(|name| self.links.iter().find(|link| link.sha256 == *name));
        let end = self.end(first.and_then(|decision| decision.state.as_ref()));
        let is_left =
            |link: &&Link| first.is_some_and(|decision| decision.state == link.state_after());
        // Where the line was removed that was there, none of the others takes its place.
        let previous = named.or(end.filter(|end| name.is_none() || is_left(end)));
        let is_previous = |link: &&Link| previous.is_some_and(|it| it.sha256 == link.sha256);
        let merged: Vec<&Link> = self.ends().filter(|link| !is_previous(link)).collect();
        let mut remarks = Remarks::default();
        for statement in self.up_to(previous) {
            remarks.line(&statement.predicate.entries, Vec::new());
        }
        let states = merged.iter().filter_map(|link| link.state_after());
        let states = states.collect();
        (previous, merged, remarks, states)
    }

    /// Puts these entries into a predicate, and says where it goes on from.
    pub(crate) fn next(&self, open: Vec<Open>, mut predicate: Predicate) -> Predicate {
        let (previous, merged, remarks, states) = self.before(&open);
        let previous = previous.map(|link| &link.sha256);
        predicate.previous = previous.or(super::goes_on_from(&open)).cloned();
        predicate.merges = merged.iter().map(|link| link.sha256.clone()).collect();
        seal::seal(&mut predicate, open, remarks, states);
        predicate
    }

    /// Returns whether these entries are one after the other: the first decision goes on from a line, each from the one
    /// before, and the last has left these `fields`.
    pub(crate) fn is_whole<'o>(
        &self,
        open: impl Iterator<Item = &'o Open>,
        fields: &Map<String, Json>,
    ) -> bool {
        let is_left = |left: &Context| {
            let mut left = left.iter();
            left.all(|(name, value)| fields.get(name).is_none_or(|field| field == value))
        };
        let mut state: Option<Context> = None;
        for entry in open {
            let Entry::Decision(decision) = entry else {
                continue;
            };
            let goes_on = match &state {
                Some(state) => decision.state.as_ref() == Some(state),
                None => self.has_left(|left| decision.state.as_ref() == Some(left)),
            };
            if !goes_on {
                return false;
            }
            state = decision.after(state);
        }
        match &state {
            Some(state) => is_left(state),
            None => self.has_left(is_left),
        }
    }

    /// Returns whether a line has left a state that `is_it`, or whether there is no line yet.
    fn has_left(&self, is_it: impl Fn(&Context) -> bool) -> bool {
        let mut left = self.links.iter().filter_map(Link::state_after);
        self.links.is_empty() || left.any(|left| is_it(&left))
    }

    /// Returns a line and those from which it goes on, one after the other, oldest first.
    fn up_to<'c>(&'c self, last: Option<&'c Link>) -> Vec<&'c Statement> {
        let known: HashMap<&str, &Statement> =
            (self.links.iter().map(|link| (&*link.sha256, &link.statement))).collect();
        let mut way = Vec::new();
        let mut next = last.map(|link| &link.statement);
        while let Some(statement) = next {
            way.push(statement);
            let previous = statement.predicate.previous.as_deref();
            next = previous.and_then(|name| known.get(name).copied());
        }
        way.reverse();
        way
    }

    /// Returns those entries that no line has. Whoever wrote a line may have been killed before it could remove them.
    pub(crate) fn unsealed<T>(&self, mut open: Vec<T>, at: impl Fn(&T) -> &str) -> Vec<T> {
        let entries = self.statements().flat_map(|statement| &statement.predicate.entries);
        let sealed: HashSet<&str> = entries.map(Entry::at).collect();
        open.retain(|entry| !sealed.contains(at(entry)));
        open
    }

    /// Returns the fields as the record has left them, once for each branch. `open` is what has happened since.
    pub(crate) fn states(&self, open: &[Open]) -> Vec<Context> {
        match seal::state_after(open.iter()) {
            Some(state) => vec![state],
            None => (self.ends().rev()).filter_map(|link| link.state_after()).collect(),
        }
    }

    /// Returns what the files of reviews and answers may be, as far as the record knows them: each has the hashes that it had
    /// last in a branch; with `edits`, also as another hand has changed it, where the record says so. `open` is what has happened
    /// since.
    pub(crate) fn files(
        &self,
        open: &[Open],
        edits: bool,
    ) -> IndexMap<String, Vec<Option<String>>> {
        let mut known: IndexMap<String, Vec<(usize, Option<String>)>> = IndexMap::default();
        let all = self.links.len();
        let sealed = self.links.iter().enumerate().flat_map(|(at, link)| {
            let entries = link.statement.predicate.entries.iter();
            entries.map(move |entry| (at, entry.review(), entry.answers(), entry.edited()))
        });
        let open = open.iter();
        let open = open.map(|entry| (all, entry.review(), entry.answers(), entry.edited()));
        for (at, review, answers, edited) in sealed.chain(open) {
            // What another branch has is not replaced.
            let is_replaced = |other: usize| {
                at == all || other == at || self.before[at].get(other) == Some(&true)
            };
            let answers = answers.clone().into_iter();
            let answers = answers.map(|(name, sha256)| (name, Some(sha256)));
            let own = review.map(|review| (review.file.clone(), review.review.clone()));
            let edited = edited.clone().into_iter().filter(|_| edits);
            for (name, sha256) in edited.chain(answers).chain(own) {
                // Nobody knows what a review that failed has written.
                let is_known = sha256.is_some() || review.is_none_or(|review| name != review.file);
                let versions = known.entry(name).or_default();
                versions.retain(|(other, _)| !is_replaced(*other));
                versions.extend(is_known.then_some((at, sha256)));
            }
        }
        known.retain(|_, versions| !versions.is_empty());
        let known = known.into_iter();
        let known = known.map(|(name, versions)| {
            let versions = versions.into_iter().map(|(_, sha256)| sha256);
            (name, versions.collect())
        });
        known.collect()
    }
}

/// Returns the commit that was checked out when the last review began that ended a cycle of reviews of code, clean; without one,
/// that at which the record of the instance begins. What is different from it, no such review has seen. `None` if it is
/// unknown. `dir` is the instance's directory.
pub(crate) fn last_base(instance: (&Store, &str), dir: &Path) -> Option<String> {
    let chain = Chain::read(&statement::read(dir).unwrap_or_default());
    let kept =
        chain.unsealed(open_record::read(instance, dir), |kept: &KeptLine<Open>| kept.entry.at());
    let open: Vec<Open> = kept.into_iter().map(|kept| kept.entry).collect();
    let sealed = || {
        let statements = chain.statements();
        statements.flat_map(|statement| &statement.predicate.entries)
    };
    let passed = passed_at(&open).or_else(|| passed_at(sealed()));
    let begun = || sealed().find_map(Entry::base);
    passed.or_else(begun).or_else(|| open.iter().find_map(Entry::base))
}

/// Returns the commit that was checked out when the last of these reviews of code began that ended its cycle, clean.
fn passed_at<'e, W: 'e>(entries: impl IntoIterator<Item = &'e Entry<W>>) -> Option<String> {
    let (mut review, mut passed) = (None, None);
    for entry in entries {
        match entry {
            Entry::Review(of_code) => review = Some(of_code),
            Entry::Decision(decision) if decision.is_reviewed => {
                let ends = decision.is_clean && !decision.is_superseded && decision.base.is_some();
                let review = review.take().filter(|review| ends && review.tree.is_some());
                passed = review.and_then(|review| review.head.clone()).or(passed);
            }
            Entry::Decision(_) => {}
        }
    }
    passed
}
