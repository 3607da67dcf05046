//! Which numbers are tried: 0 to 3, and those that the chart names beside a field or a setting. What a field counts beyond
//! all of them is one number more.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::term::Term;
use crate::chart::model::Field;

/// A greater number is tried only if a field can have it by itself.
pub(super) const LARGE: i64 = 1_000;

/// The numbers beside each field and setting: those of what is compared with each other are the same.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// For each term the number of its group.
    groups: FxHashMap<Term, usize>,
    beside: Vec<BTreeSet<i64>>,
}

impl Numbers {
    /// Returns the group of a term, which is a new one if it has none.
    fn group(&mut self, term: Term) -> usize {
        let next = self.beside.len();
        let group = *self.groups.entry(term).or_insert(next);
        if group == next {
            self.beside.push(BTreeSet::new());
        }
        group
    }

    /// Makes the groups of these terms one, with more numbers beside it.
    pub(super) fn join(&mut self, related: &[Term], mut named: BTreeSet<i64>) {
        let Some(first) = related.first().map(|term| self.group(*term)) else { return };
        for term in &related[1..] {
            let group = self.group(*term);
            if group != first {
                named.append(&mut self.beside[group]);
                self.groups.values_mut().filter(|it| **it == group).for_each(|it| *it = first);
            }
        }
        self.beside[first].append(&mut named);
    }

    /// Adds numbers beside a term.
    pub(super) fn add(&mut self, term: Term, named: impl IntoIterator<Item = i64>) {
        let group = self.group(term);
        self.beside[group].extend(named);
    }

    /// Returns the numbers beside a field or a setting.
    pub(super) fn beside(&self, term: Term) -> Option<&BTreeSet<i64>> {
        self.beside.get(*self.groups.get(&term)?)
    }

    /// Returns the numbers that are tried for a field or a setting.
    pub(super) fn tried(&self, term: Term, field: &Field) -> Vec<i64> {
        let least = field.minimum.unwrap_or(i64::MIN);
        let most = field.maximum.unwrap_or(i64::MAX);
        let tried = self.beside(term).into_iter().flatten().copied();
        tried.filter(|number| (least..=most).contains(number)).collect()
    }

    /// Returns a number as a field holds it: all that are greater than those that are tried are one, unless the field
    /// itself has a limit.
    pub(super) fn held(&self, term: Term, field: &Field, number: i64) -> i64 {
        let most = self.beside(term).and_then(|it| it.last()).map_or(LARGE, |it| it + 1);
        match field.maximum {
            Some(most) if most < LARGE => number,
            _ => number.clamp(-most, most),
        }
    }
}
