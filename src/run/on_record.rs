//! What is on record about an instance: its receipts, and what has happened since the last one.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Map, Value as Json};

use crate::engine::context::Context;
use crate::hash::{self, IndexMap};
use crate::project::state_file;
use crate::receipt::chain::Chain;
use crate::receipt::check;
use crate::receipt::replay::answer_seen;
use crate::receipt::statement;
use crate::receipt::{self, Entry, Open, ReviewEntry, Sealed};
use crate::run::place::Place;
use crate::store::notices::Recorded;
use crate::store::open_record::{self, KeptLine};

/// What is on record about an instance: its receipts, and what has happened since the last one.
pub(super) struct OnRecord {
    pub(super) chain: Chain,
    pub(super) open: Vec<Open>,
    /// The last of them is of this machine.
    is_own: bool,
    /// Since the last decision of this machine, others were added.
    pub(super) is_added_to: bool,
    /// When the entries were recorded that are of another checkout of the instance.
    pub(super) aside: HashSet<String>,
}

impl OnRecord {
    pub(super) fn of(place: &Place) -> Self {
        Self::at(place, state_file::fields(&place.dir()).unwrap_or_default())
    }

    /// Returns it as it is where the state has these fields.
    pub(super) fn at(place: &Place, fields: Map<String, Json>) -> Self {
        let chain = Chain::read(&statement::read(&place.dir()).unwrap_or_default());
        let kept = open_record::read((&place.store, &place.instance.name), &place.dir());
        let mut kept = chain.unsealed(kept, |kept: &KeptLine<Open>| kept.entry.at());
        let aside: Vec<KeptLine<Open>> = match is_elsewhere(&chain, &kept, &fields) {
            true => kept.extract_if(.., |kept| !kept.is_here).collect(),
            false => Vec::new(),
        };
        Self {
            is_own: kept.last().is_some_and(|kept| kept.is_own),
            is_added_to: {
                let is_decision = |kept: &&KeptLine<Open>| {
                    kept.is_own && matches!(kept.entry, Entry::Decision(_))
                };
                let mut new = kept.iter().rev().take_while(|kept| !is_decision(kept));
                new.any(|kept| !kept.is_own)
            },
            open: kept.into_iter().map(|kept| kept.entry).collect(),
            aside: aside.iter().map(|kept| kept.entry.at().to_owned()).collect(),
            chain,
        }
    }

    pub(super) fn sealed(&self) -> impl DoubleEndedIterator<Item = &Sealed> {
        let statements = self.chain.statements();
        statements.flat_map(|statement| &statement.predicate.entries)
    }

    /// Returns the reviews, oldest first.
    pub(super) fn reviews(&self) -> impl DoubleEndedIterator<Item = &ReviewEntry> {
        let open = self.open.iter().filter_map(Entry::review);
        self.sealed().filter_map(Entry::review).chain(open)
    }

    /// Returns whether the state is like this after one of its ends.
    fn leads_to(&self, fields: &Context) -> bool {
        let states = self.chain.states(&self.open);
        let is_it =
            |left: &Context| left.iter().all(|(name, value)| fields.get(name) == Some(value));
        states.iter().any(is_it)
    }

    /// Returns whether a decision since the last review has found this answer to it.
    pub(super) fn has_seen(&self, answer: &str) -> bool {
        let decisions = self.open.iter().rev().map_while(|entry| match entry {
            Entry::Decision(decision) if !decision.is_reviewed => Some(decision),
            _ => None,
        });
        let mut seen = decisions.flat_map(|decision| decision.world.iter().filter_map(answer_seen));
        seen.any(|(_, file)| file == answer)
    }

    /// Returns what the trees of earlier reviews are compared with, otherwise the commit at which the record begins.
    pub(super) fn base(&self) -> Option<String> {
        let mut reviews = self.reviews().rev();
        let compared = reviews.find_map(|review| Some(review.tree.as_ref()?.base.clone()));
        compared
            .or_else(|| self.sealed().find_map(Entry::base))
            .or_else(|| self.open.iter().find_map(Entry::base))
    }

    /// Returns the hash of the receipts if a line is gone or was changed, and the record does not say so yet: the one from which
    /// its open entries go on, otherwise the last one that this machine has written. In another checkout, the lines which are
    /// there have left the state. Of the lines before, that is said once.
    pub(super) fn cut(&self, place: &Place, fields: &Context) -> Option<String> {
        let chain = &self.chain;
        let is_there = |sha256: &String| chain.links.iter().any(|link| link.sha256 == *sha256);
        let is_cut = match receipt::goes_on_from(&self.open) {
            Some(previous) => !is_there(previous) && self.aside.is_empty(),
            None => {
                let last = open_record::last((&place.store, &place.instance.name))?;
                self.open.is_empty() && !is_there(&last) && !chain.states(&[]).contains(fields)
            }
        };
        let is_edited =
            |edited: &IndexMap<String, Option<String>>| edited.contains_key(statement::FILE);
        let is_broken = || {
            let mut open = self.open.iter().map(Entry::edited);
            let mut sealed = self.sealed().map(Entry::edited);
            chain.is_broken && !open.any(is_edited) && !sealed.any(is_edited)
        };
        if !is_cut && !is_broken() {
            return None;
        }
        let text = statement::read(&place.dir()).unwrap_or_default();
        let now = hash::of(text.as_bytes());
        let now = Some(now);
        let is_said = |entry: &Open| entry.edited().get(statement::FILE) == Some(&now);
        now.clone().filter(|_| !self.open.iter().any(is_said))
    }
}

/// Returns whether the last receipt is the last one that this machine has written.
pub(crate) fn is_as_written(place: &Place) -> bool {
    let chain = Chain::read(&statement::read(&place.dir()).unwrap_or_default());
    let last = open_record::last((&place.store, &place.instance.name));
    last.is_some() && last == chain.links.last().map(|link| link.sha256.clone())
}

/// Returns whether the instance's directory is that of another checkout than before: what this machine has recorded does not
/// lead to its state, and those entries do which the directory has.
fn is_elsewhere(chain: &Chain, kept: &[KeptLine<Open>], fields: &Map<String, Json>) -> bool {
    let is_whole = |is_counted: fn(&KeptLine<Open>) -> bool| {
        let entries = kept.iter().filter(|kept| is_counted(kept));
        chain.is_whole(entries.map(|kept| &kept.entry), fields)
    };
    !kept.iter().all(|kept| kept.is_here) && !is_whole(|_| true) && is_whole(|kept| kept.is_here)
}

impl Recorded for Place {
    fn left(&self) -> Option<Context> {
        // Most stops without notices are of an instance without a record, too.
        let record = has_record(&self.dir()).then(|| OnRecord::of(self))?;
        let mut states = record.chain.states(&record.open).into_iter();
        states.next().filter(|_| states.next().is_none())
    }

    /// What others may have added since the last receipt says nothing about that, and a receipt only if its decisions can be
    /// made again.
    fn explains(&self, fields: &Context) -> bool {
        let record = OnRecord::of(self);
        let text = || statement::read(&self.dir()).unwrap_or_default();
        let is_sound = match record.open.is_empty() {
            true => check::lines(&self.root, &text(), None).flaws.is_empty(),
            false => record.is_own,
        };
        is_sound && record.leads_to(fields)
    }

    fn agrees(&self, fields: &Context) -> bool {
        OnRecord::of(self).leads_to(fields)
    }
}

/// Returns whether the instance's directory has a record.
pub(super) fn has_record(dir: &Path) -> bool {
    let mut files = [statement::FILE, open_record::FILE].iter();
    files.any(|file| dir.join(file).exists())
}
