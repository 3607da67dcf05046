//! Whether some states can be reached from every state, whatever the user has set.

use rustc_hash::FxHashMap;

use super::settings::{Probe, Settings, TooMany, find_breach, values_of};
use crate::explore::graph::Backward;
use crate::explore::moves::{Edge, Setting};
use crate::explore::search::{Search, Transition};

/// The most combinations of what commands set.
const MODES: usize = 64;

/// A state, and by its number what commands have set.
type Node = (usize, usize);

/// A state from which no goal can be reached, and what is set there: fields and values.
pub(super) type Lost = (usize, Vec<Setting>);

/// Returns the first state from which no goal can be reached, with what must be set from there on, unless a command of
/// the chart sets it otherwise; `None` if there is none.
pub(super) fn lost(
    search: &Search,
    back: &Backward,
    goals: &[bool],
) -> Result<Option<Lost>, TooMany> {
    let is_free = |step: Transition| {
        let edge = &search.edges[step.edge];
        edge.needs.is_empty() && edge.sets.is_empty()
    };
    // From these, a goal is reached whatever is set; the others remain to be looked at.
    let always = back.leads_to(goals, is_free);
    let modes = modes(search)?;
    let states = (0..search.looked_at()).filter(|state| !always[*state]);
    let open = states.flat_map(|state| (0..modes.len()).map(move |mode| (state, mode)));
    let open: Vec<Node> = open.collect();
    find_breach(search, |settings| probe(search, &modes, &open, settings))
}

/// Looks for a state that is lost under some combinations of settings.
fn probe(
    search: &Search,
    known_modes: &[Vec<Setting>],
    open: &[Node],
    settings: &Settings,
) -> Probe<Lost> {
    let places: FxHashMap<Node, usize> = open.iter().copied().zip(0..).collect();
    let set = |settings: Settings, (field, value): &Setting| settings.with(*field, vec![*value]);
    let modes = known_modes.iter();
    let modes: Vec<Settings> = modes
        .map(|mode| mode.iter().fold(settings.clone(), set))
        .collect();
    // All nodes that are known to lead to a goal are one, the last.
    let known = open.len();
    let mut goals = vec![false; known];
    goals.push(true);
    let mut back = Backward::none(goals.len());
    for (from, (state, mode)) in open.iter().enumerate() {
        for arrow in search.arrows(*state) {
            let edge = &search.edges[arrow.edge];
            if modes[*mode].may(search, edge)
                && let Some(after) = mode_after(known_modes, *mode, edge)
            {
                let to = places.get(&(arrow.to, after)).copied();
                back.add(arrow.step(from), to.unwrap_or(known));
            }
        }
    }
    let perhaps = back.leads_to(&goals, |_| true);
    if let Some(lost) = perhaps.iter().position(|reached| !reached) {
        let (state, mode) = open[lost];
        let mut set = settings.example(search);
        set.extend(&known_modes[mode]);
        return Probe::Breach((state, set));
    }
    let opening = |step: Transition| {
        let (_, mode) = open[step.from];
        modes[mode].open(search, &search.edges[step.edge])
    };
    let surely = back.leads_to(&goals, |step| opening(step).is_none());
    let frontier = |to: usize| back.sources(to).filter(|step| !surely[step.from]);
    let edges = (0..=known).flat_map(frontier).map(|step| step.edge);
    let leading = (0..=known).filter(|to| surely[*to]).flat_map(frontier);
    let leading = leading.filter_map(|step| Some((step, opening(step)?)));
    match leading.min() {
        Some((_, field)) => Probe::Depends {
            field,
            edges: edges.collect(),
        },
        None => Probe::Holds,
    }
}

/// Returns what is set after an edge.
fn mode_after(modes: &[Vec<Setting>], mode: usize, edge: &Edge) -> Option<usize> {
    if edge.sets.is_empty() {
        return Some(mode);
    }
    let after = modes[mode].iter().map(|(field, before)| {
        let mut sets = edge.sets.iter();
        let set = sets.find(|(set, _)| set == field);
        (*field, set.map_or(*before, |(_, value)| *value))
    });
    let after: Vec<Setting> = after.collect();
    modes.iter().position(|known| *known == after)
}

/// Returns the combinations of what commands set and decisions look at.
fn modes(search: &Search) -> Result<Vec<Vec<Setting>>, TooMany> {
    let mut modes: Vec<Vec<Setting>> = vec![Vec::new()];
    let fields = search.fields_set().into_iter();
    for field in fields.filter(|field| search.is_needed(*field)) {
        let values = values_of(search, field);
        let with = |mode: &Vec<Setting>| {
            let with = |value: &u32| [mode.as_slice(), &[(field, *value)]].concat();
            values.iter().map(with).collect::<Vec<_>>()
        };
        modes = modes.iter().flat_map(with).collect();
        if modes.len() > MODES {
            return Err(TooMany);
        }
    }
    Ok(modes)
}
