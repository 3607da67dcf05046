//! The lines of a file of receipts and how they follow each other. Each goes on from a line before it. Where branches of a
//! repository were merged, several go on from the same one, and the next line unites them: it names the others, too.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::statement::{self, Line, Statement};
use super::{Entry, Open, Review, seal};
use crate::engine::context::Context;
use crate::hash::IndexMap;
use crate::store::{Store, open_record};

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
    /// What each goes back to, directly or not.
    before: Vec<Vec<bool>>,
}

impl Chain {
    /// Reads the lines of a file; `check` says what is wrong with those that are left out.
    pub(crate) fn read(text: &str) -> Self {
        let mut chain = Self::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let Ok(line) = Line::parse(line) else {
                continue;
            };
            if let Ok(statement) = line.statement() {
                chain.add(line.sha256, statement);
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
            let Some(at) = found else { continue };
            before[at] = true;
            let further = self.before[at].iter().enumerate();
            further.for_each(|(at, is_before)| before[at] |= is_before);
        }
        self.before.push(before);
        self.links.push(Link { sha256, statement });
    }

    /// Returns the statements, oldest first.
    pub(crate) fn statements(&self) -> impl DoubleEndedIterator<Item = &Statement> {
        self.links.iter().map(|link| &link.statement)
    }

    /// Returns the lines from which none goes on.
    pub(crate) fn ends(&self) -> impl DoubleEndedIterator<Item = &Link> {
        let is_end = |at: &usize| {
            !self
                .before
                .iter()
                .any(|before| before.get(*at) == Some(&true))
        };
        let ends = (0..self.links.len()).filter(is_end);
        ends.map(|at| &self.links[at])
    }

    /// Returns the line from which these entries go on: the end that has left the state in which the first was decided, or the
    /// last end.
    pub(crate) fn end_before(&self, open: &[Open]) -> Option<&Link> {
        let state = open.iter().find_map(|entry| match entry {
            Open::Decision(decision) => decision.state.as_ref(),
            Open::Review(_) => None,
        });
        let mut ends = self.ends().rev();
        let is_it = |link: &&Link| link.state_after().as_ref() == state;
        ends.find(is_it).or_else(|| self.ends().next_back())
    }

    /// Returns a line and those from which it goes on, one after the other, oldest first.
    pub(crate) fn up_to<'c>(&'c self, last: Option<&'c Link>) -> Vec<&'c Statement> {
        let known: HashMap<&str, &Statement> = (self
            .links
            .iter()
            .map(|link| (&*link.sha256, &link.statement)))
        .collect();
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
    pub(crate) fn unsealed(&self, mut open: Vec<Open>) -> Vec<Open> {
        let entries = self
            .statements()
            .flat_map(|statement| &statement.predicate.entries);
        let sealed: HashSet<&str> = entries.map(Entry::at).collect();
        open.retain(|entry| !sealed.contains(entry.at()));
        open
    }

    /// Returns the fields as the record has left them, once for each branch. `open` is what has happened since.
    pub(crate) fn states(&self, open: &[Open]) -> Vec<Context> {
        match seal::state_after(open.iter()) {
            Some(state) => vec![state],
            None => (self.ends().rev())
                .filter_map(|link| link.state_after())
                .collect(),
        }
    }

    /// Returns what the files of reviews and answers may be, as far as the record knows them: each has the hashes that it had
    /// last in a branch. `edits` says which files a review has found changed; `open` is what has happened since.
    pub(crate) fn files(
        &self,
        open: &[Open],
        edits: impl Fn(&Review) -> Vec<(String, Option<String>)>,
    ) -> IndexMap<String, Vec<Option<String>>> {
        let mut known: IndexMap<String, Vec<(usize, Option<String>)>> = IndexMap::default();
        let all = self.links.len();
        let sealed = self.links.iter().enumerate().flat_map(|(at, link)| {
            let reviews = link.statement.predicate.entries.iter();
            let reviews = reviews.filter_map(Entry::review);
            reviews.map(move |review| (at, review))
        });
        let open = open.iter().filter_map(Entry::review);
        for (at, review) in sealed.chain(open.map(|review| (all, review))) {
            // What another branch has is not replaced.
            let is_replaced = |other: usize| {
                at == all || other == at || self.before[at].get(other) == Some(&true)
            };
            let answers = review.answers.clone().into_iter();
            let answers = answers.map(|(name, sha256)| (name, Some(sha256)));
            let own = (review.file.clone(), review.review.clone());
            for (name, sha256) in edits(review).into_iter().chain(answers).chain([own]) {
                // Nobody knows what a review that failed has written.
                let is_known = name != review.file || sha256.is_some();
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

/// Returns the commit at which the last cycle of an instance has ended, or at which its record begins; `None` if that is
/// unknown. `dir` is its directory.
pub(crate) fn last_base(instance: (&Store, &str), dir: &Path) -> Option<String> {
    let open: Vec<Open> = open_record::read(instance, dir);
    let chain = Chain::read(&statement::read(dir).unwrap_or_default());
    let statements = chain.statements();
    let sealed = statements.flat_map(|statement| &statement.predicate.entries);
    let open = open.iter().rev().find_map(Entry::base);
    open.or_else(|| sealed.rev().find_map(Entry::base))
}
