//! The lists that an input is tried with: of all kinds of item, those that differ in what the chart asks of them.

use std::collections::BTreeSet;

use super::dependence::Compared;
use crate::hash::IndexMap;
use serde_json::{Map, Value as Json, json};

/// More values than these are not tried.
pub const MOST: usize = 700;

/// The longest list that is tried.
pub const LONGEST: usize = 100;

/// The values that are tried for something.
#[derive(Debug)]
pub struct Tried<V> {
    pub values: Vec<V>,
    /// They are all that matter.
    pub is_all: bool,
}

impl<V> Tried<V> {
    /// Returns values that are all that matter.
    pub fn all(values: Vec<V>) -> Self {
        Self { values, is_all: true }
    }
}

/// Returns all lists of these kinds of item that differ in what matters; some, where these are too many: none, and one
/// of each kind. What of a list matters is what it is compared with, and the `counts` of items that make a difference.
pub fn lists(kinds: &Tried<Map<String, Json>>, wanted: &Compared, counts: &[usize]) -> Tried<Json> {
    let all = all_lists(&kinds.values, wanted, counts);
    let is_all = kinds.is_all && all.is_some();
    let values = all.unwrap_or_else(|| {
        let one = kinds.values.iter().take(MOST).map(|item| json!([item]));
        std::iter::once(json!([])).chain(one).collect()
    });
    Tried { values, is_all }
}

/// Returns all lists that differ in what matters; `None` where these are too many.
fn all_lists(
    kinds: &[Map<String, Json>],
    wanted: &Compared,
    counts: &[usize],
) -> Option<Vec<Json>> {
    let most = counts.iter().copied().max().unwrap_or(0);
    if most > LONGEST || kinds.len() > MOST {
        return None;
    }
    let Some(first) = kinds.first() else {
        return Some(vec![json!([])]);
    };
    if kinds.len() == 1 || !wanted.items {
        let sizes: BTreeSet<usize> = counts.iter().copied().chain([0, 1]).collect();
        let lists = sizes.into_iter().map(|size| json!(vec![first; size]));
        return Some(lists.collect());
    }
    // How often each kind may be there, so that every number of every part of them comes about.
    let often = most.max(1);
    let exponent = u32::try_from(kinds.len()).ok()?;
    let count = often.checked_add(1)?.checked_pow(exponent)?;
    if count > MOST || wanted.first && wanted.last {
        return None;
    }
    let mut all: Vec<Vec<usize>> = Vec::new();
    for number in 0..count {
        let mut rest = number;
        let mut list = Vec::new();
        for kind in 0..kinds.len() {
            list.extend(std::iter::repeat_n(kind, rest % (often + 1)));
            rest /= often + 1;
        }
        if wanted.first || wanted.last {
            orders(&mut Vec::new(), &list, &mut all);
        } else {
            all.push(list);
        }
        if all.len() > MOST {
            return None;
        }
    }
    all.sort_by_key(Vec::len);
    let items =
        |list: &Vec<usize>| json!(list.iter().map(|kind| &kinds[*kind]).collect::<Vec<_>>());
    Some(all.iter().map(items).collect())
}

/// Returns all orders of `rest` behind `start`, each once.
fn orders(start: &mut Vec<usize>, rest: &[usize], all: &mut Vec<Vec<usize>>) {
    if rest.is_empty() {
        all.push(start.clone());
        return;
    }
    for (index, kind) in rest.iter().enumerate() {
        if rest[..index].contains(kind) || all.len() > MOST {
            continue;
        }
        let mut others = rest.to_vec();
        others.remove(index);
        start.push(*kind);
        orders(start, &others, all);
        start.pop();
    }
}

/// Returns every combination; where that is too much, each value once beside the first ones of the others.
pub fn product(columns: &IndexMap<String, Vec<Json>>) -> Tried<Map<String, Json>> {
    let with = |row: &Map<String, Json>, name: &String, value: &Json| {
        let mut row = row.clone();
        row.insert(name.clone(), value.clone());
        row
    };
    let counts = columns.values().map(Vec::len);
    let is_all = counts.fold(1, usize::saturating_mul) <= MOST;
    let values = if is_all {
        columns.iter().fold(vec![Map::new()], |rows, (name, values)| {
            let more = |row| values.iter().map(move |value| with(row, name, value));
            rows.iter().flat_map(more).collect()
        })
    } else {
        let first =
            |(name, values): (&String, &Vec<Json>)| Some((name.clone(), values.first()?.clone()));
        let first: Map<String, Json> = columns.iter().filter_map(first).collect();
        let others = columns.iter().flat_map(|(name, values)| {
            let others = values.iter().skip(1);
            others.map(|value| with(&first, name, value))
        });
        std::iter::once(first.clone()).chain(others).collect()
    };
    Tried { values, is_all }
}
