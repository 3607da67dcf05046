//! Whether some states can be reached from every state, whatever the user has set.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use super::settings::{Probe, Settings, TooMany, find_breach, values_of};
use crate::explore::graph::Backward;
use crate::explore::moves::{Edge, Setting};
use crate::explore::search::Search;

/// The most combinations of what commands set.
const MODES: usize = 64;

/// A state, and by its number what commands have set.
type Node = (usize, usize);

/// A state from which no goal can be reached, and what is set there: fields and values.
pub(super) type Lost = (usize, Vec<Setting>);

/// An arrow between two nodes that are not known to lead to a goal: by their places in a list.
struct Link {
    from: usize,
    /// `None`: it leads to a node that is known to lead to a goal.
    to: Option<usize>,
    edge: usize,
}

/// Returns the first state from which no goal can be reached, with what must be set from there on, unless a command of
/// the chart sets it otherwise; `None` if there is none.
pub(super) fn lost(
    search: &Search,
    back: &Backward,
    goals: &[bool],
) -> Result<Option<Lost>, TooMany> {
    let is_free = |edge: usize| {
        let edge = &search.edges[edge];
        edge.needs.is_empty() && edge.sets.is_empty()
    };
    // From these, a goal is reached whatever is set; the others remain to be looked at.
    let always = back.leads_to(goals, is_free);
    let modes = modes(search)?;
    let states = (0..search.looked_at()).filter(|state| !always[*state]);
    let open = states.flat_map(|state| (0..modes.len()).map(move |mode| (state, mode)));
    let open: Vec<Node> = open.collect();
    let reach = Reach { search, modes };
    find_breach(search, |settings| reach.probe(&open, settings))
}

/// The states from which goals are to be reached.
struct Reach<'s> {
    search: &'s Search,
    /// The combinations of what commands set.
    modes: Vec<Vec<Setting>>,
}

impl Reach<'_> {
    /// Looks for a state that is lost under some combinations of settings.
    fn probe(&self, open: &[Node], settings: &Settings) -> Probe<Lost> {
        let search = self.search;
        let places: FxHashMap<Node, usize> = open.iter().copied().zip(0..).collect();
        let mut links = Vec::new();
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); open.len() + 1];
        for (from, (state, mode)) in open.iter().enumerate() {
            let there = self.with_mode(settings, *mode);
            for arrow in search.arrows(*state) {
                let edge = &search.edges[arrow.edge()];
                if !there.may(search, edge) {
                    continue;
                }
                let Some(after) = self.mode_after(*mode, edge) else {
                    continue;
                };
                let to = places.get(&(arrow.to(), after)).copied();
                into[to.unwrap_or(open.len())].push(links.len());
                links.push(Link {
                    from,
                    to,
                    edge: arrow.edge(),
                });
            }
        }
        let opening = |link: &Link| {
            let (_, mode) = open[link.from];
            let there = self.with_mode(settings, mode);
            there.open(search, &search.edges[link.edge])
        };
        let reached = |is_kept: &dyn Fn(&Link) -> bool| {
            let mut reached = vec![false; open.len()];
            let mut queue = VecDeque::from([open.len()]);
            while let Some(at) = queue.pop_front() {
                for link in into[at].iter().map(|link| &links[*link]) {
                    if !reached[link.from] && is_kept(link) {
                        reached[link.from] = true;
                        queue.push_back(link.from);
                    }
                }
            }
            reached
        };
        let perhaps = reached(&|_| true);
        if let Some(lost) = perhaps.iter().position(|reached| !reached) {
            let (state, mode) = open[lost];
            let mut set = settings.example(search);
            set.extend(&self.modes[mode]);
            return Probe::Breach((state, set));
        }
        let surely = reached(&|link| opening(link).is_none());
        let is_sure = |to: Option<usize>| to.is_none_or(|to| surely[to]);
        let frontier = links.iter().filter(|link| !surely[link.from]);
        let edges = frontier.clone().map(|link| link.edge).collect();
        let mut leading = frontier.filter(|link| is_sure(link.to));
        match leading.find_map(&opening) {
            Some(field) => Probe::Depends { field, edges },
            None => Probe::Holds,
        }
    }

    /// Returns these settings with what commands have set.
    fn with_mode(&self, settings: &Settings, mode: usize) -> Settings {
        let mode = self.modes[mode].iter();
        mode.fold(settings.clone(), |settings, (field, value)| {
            settings.with(*field, vec![*value])
        })
    }

    /// Returns what is set after an edge.
    fn mode_after(&self, mode: usize, edge: &Edge) -> Option<usize> {
        if edge.sets.is_empty() {
            return Some(mode);
        }
        let after = self.modes[mode].iter().map(|(field, before)| {
            let mut sets = edge.sets.iter();
            let set = sets.find(|(set, _)| set == field);
            (*field, set.map_or(*before, |(_, value)| *value))
        });
        let after: Vec<Setting> = after.collect();
        self.modes.iter().position(|known| *known == after)
    }
}

/// Returns the combinations of what commands set and decisions look at.
fn modes(search: &Search) -> Result<Vec<Vec<Setting>>, TooMany> {
    let sets = search.edges.iter().flat_map(|edge| &edge.sets);
    let fields: BTreeSet<usize> = sets.map(|(field, _)| *field).collect();
    let mut modes: Vec<Vec<Setting>> = vec![Vec::new()];
    for field in fields.into_iter().filter(|field| search.is_needed(*field)) {
        let values = values_of(search, field);
        if modes.len() * values.len() > MODES {
            return Err(TooMany);
        }
        let with = |mode: &Vec<Setting>| {
            let with = |value: &u32| [mode.as_slice(), &[(field, *value)]].concat();
            values.iter().map(with).collect::<Vec<_>>()
        };
        modes = modes.iter().flat_map(with).collect();
    }
    Ok(modes)
}
