//! What holds whatever the user has set: combinations of settings, as far as they make a difference.
//!
//! There can be more combinations than anyone can look at, but few edges look at more than a few settings. So a question
//! is asked about all combinations at once: some edges exist in all of them, others in some. If that does not answer it,
//! the values of one setting are divided into those that the edges in question tell apart, and each part is asked about
//! by itself, until every part has an answer or there are too many.

use std::collections::BTreeSet;

use crate::explore::answer::plain;
use crate::explore::graph::Longest;
use crate::explore::moves::{Edge, Setting};
use crate::explore::search::{Search, Transition};
use crate::explore::state::number;
use crate::hash::IndexMap;

/// The most parts that one question is divided into.
const MOST: usize = 20_000;

/// Some combinations of what a user can set: for some fields, the values that are left. Any other can have any value.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Settings {
    left: IndexMap<usize, Vec<u32>>,
}

/// What one look at some combinations says.
pub(super) enum Probe<B> {
    /// None of them breaches the claim.
    Holds,
    /// All of them do, or one that is known does.
    Breach(B),
    /// That depends on this field; these edges tell its values apart.
    Depends { field: usize, edges: Vec<usize> },
}

/// There are too many combinations, or no time is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany;

impl Settings {
    /// Returns the only value that is left to a field; `None` if all are.
    pub(super) fn only(&self, field: usize) -> Option<u32> {
        self.left.get(&field)?.first().copied()
    }

    /// Returns the values that a field can have.
    fn values(&self, search: &Search, field: usize) -> Vec<u32> {
        let left = self.left.get(&field).cloned();
        left.unwrap_or_else(|| values_of(search, field))
    }

    /// Returns the same combinations with these values of a field only.
    pub(super) fn with(&self, field: usize, values: Vec<u32>) -> Self {
        let mut left = self.left.clone();
        left.shift_remove(&field);
        left.insert(field, values);
        Self { left }
    }

    /// Divides these combinations by the value of a field; they stay as they are where a user does not set it.
    pub(super) fn by(&self, search: &Search, field: usize) -> Vec<Self> {
        let parts = values_of(search, field).into_iter();
        let parts: Vec<Self> = parts.map(|value| self.with(field, vec![value])).collect();
        match parts.is_empty() {
            true => vec![self.clone()],
            false => parts,
        }
    }

    /// Returns the same combinations, in which what `others` leaves to its fields is left to them.
    pub(super) fn and(&self, others: &Self) -> Self {
        let mut left = self.left.clone();
        left.extend(others.left.clone());
        Self { left }
    }

    /// Returns whether an edge exists in some of these combinations.
    pub(super) fn may(&self, search: &Search, edge: &Edge) -> bool {
        let tree = &search.moves.tree;
        edge.needs.iter().all(|(field, set)| {
            let left = self.left.get(field);
            left.is_none_or(|left| left.iter().any(|value| tree.has(*set, *value)))
        })
    }

    /// Returns the first field on which it depends whether an edge exists; `None` if it exists in all combinations.
    pub(super) fn open(&self, search: &Search, edge: &Edge) -> Option<usize> {
        let tree = &search.moves.tree;
        let mut needs = edge.needs.iter();
        let open = needs.find(|(field, set)| {
            let mut values = self.values(search, *field).into_iter();
            !values.all(|value| tree.has(*set, value))
        });
        open.map(|(field, _)| *field)
    }

    /// Returns the field of which no value that is left fits all of these edges; `None` if all exist in one combination.
    pub(super) fn conflict(&self, search: &Search, edges: &[usize]) -> Option<usize> {
        let tree = &search.moves.tree;
        let needs = || edges.iter().flat_map(|edge| &search.edges[*edge].needs);
        let fits = |field: usize, value: u32| {
            let mut needs = needs().filter(|(needed, _)| *needed == field);
            needs.all(|(_, set)| tree.has(*set, value))
        };
        let mut fields = needs().map(|(field, _)| *field);
        fields.find(|field| {
            let values = self.values(search, *field);
            !values.iter().any(|value| fits(*field, *value))
        })
    }

    /// Divides the values that are left to a field into groups that no edge distinguishes.
    fn divided(&self, search: &Search, field: usize, edges: &[usize]) -> Vec<Self> {
        let tree = &search.moves.tree;
        let values = self.values(search, field);
        let sets = edges.iter().flat_map(|edge| &search.edges[*edge].needs);
        let sets = sets.filter(|(needed, _)| *needed == field);
        let sets: BTreeSet<u32> = sets.map(|(_, set)| *set).collect();
        let mut parts: IndexMap<Vec<bool>, Vec<u32>> = IndexMap::default();
        for value in values {
            let seen = sets.iter().map(|set| tree.has(*set, value)).collect();
            parts.entry(seen).or_default().push(value);
        }
        let parts = parts.into_values();
        parts.map(|part| self.with(field, part)).collect()
    }

    /// Returns one of these combinations, the default where it is left.
    pub(super) fn example(&self, search: &Search) -> Vec<Setting> {
        let tree = &search.moves.tree;
        let left = self.left.iter();
        left.map(|(field, left)| (*field, tree.likely(*field, left))).collect()
    }
}

impl<'s> Longest<'s> {
    /// Returns the paths made of the steps that are `kept`, if their edges exist in some of these combinations and have a
    /// `weight`.
    pub(super) fn over(
        search: &'s Search,
        settings: &Settings,
        weight: impl Fn(&Edge) -> Option<usize>,
        kept: impl Fn(&Transition) -> bool,
    ) -> Self {
        let edges = search.edges.iter();
        // There are many more steps than edges.
        let weights = edges.map(|edge| weight(edge).filter(|_| settings.may(search, edge)));
        let weights: Vec<Option<usize>> = weights.collect();
        Self::of(search, |step| weights[step.edge].filter(|_| kept(step)))
    }
}

/// Asks about all combinations, and about ever smaller parts of them where that depends. Returns the first breach.
pub(super) fn find_breach<B>(
    search: &Search,
    mut probe: impl FnMut(&Settings) -> Probe<B>,
) -> Result<Option<B>, TooMany> {
    let mut open = vec![Settings::default()];
    let mut asked = 0;
    while let Some(settings) = open.pop() {
        asked += 1;
        if asked > MOST || search.moves.tree.budget.is_exhausted() {
            return Err(TooMany);
        }
        match probe(&settings) {
            Probe::Holds => {}
            Probe::Breach(breach) => return Ok(Some(breach)),
            Probe::Depends { field, edges } => {
                let parts = settings.divided(search, field, &edges);
                if parts.len() < 2 {
                    return Err(TooMany);
                }
                // The part with the default is asked about first.
                open.extend(parts.into_iter().rev());
            }
        }
    }
    Ok(None)
}

/// Returns the values that are tried for a field which a user sets, the default first. A value that was never looked at
/// makes no difference.
pub(super) fn values_of(search: &Search, field: usize) -> Vec<u32> {
    let tree = &search.moves.tree;
    let values = tree.domain.parameters.get(&field).into_iter();
    let values = values.flat_map(|values| values.iter());
    let known = values.filter_map(|value| tree.values.get_index_of(value));
    known.map(number).collect()
}

/// Returns a combination in words: `, max_reviews being 0`.
pub(super) fn in_words(search: &Search, settings: &[Setting]) -> String {
    let tree = &search.moves.tree;
    let words = |(field, value): &Setting| {
        let name = tree.name_of(*field);
        format!(", {name} being {}", plain(tree.value(*value)))
    };
    settings.iter().map(words).collect()
}
