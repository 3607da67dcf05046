//! Whether some states can be reached from every state, whatever the user has set.

use rustc_hash::FxHashMap;

use super::settings::{Probe, Settings, TooMany, find_breach};
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
    known_modes: &[Settings],
    open: &[Node],
    settings: &Settings,
) -> Probe<Lost> {
    let places: FxHashMap<Node, usize> = open.iter().copied().zip(0..).collect();
    let modes = known_modes.iter().map(|mode| settings.and(mode));
    let modes: Vec<Settings> = modes.collect();
    // All nodes that are known to lead to a goal are one, the last.
    let known = open.len();
    let mut goals = vec![false; known];
    goals.push(true);
    let mut steps = Vec::new();
    for (from, (state, mode)) in open.iter().enumerate() {
        for step in search.steps_from(*state) {
            let edge = &search.edges[step.edge];
            if modes[*mode].may(search, edge)
                && let Some(after) = mode_after(known_modes, *mode, edge)
            {
                let to = places.get(&(step.to, after)).copied();
                let to = to.unwrap_or(known);
                steps.push(Transition { from, to, ..*step });
            }
        }
    }
    let back = Backward::of(goals.len(), steps.iter().copied());
    let perhaps = back.leads_to(&goals, |_| true);
    if let Some(lost) = perhaps.iter().position(|reached| !reached) {
        let (state, mode) = open[lost];
        return Probe::Breach((state, modes[mode].example(search)));
    }
    let opening = |step: Transition| {
        let (_, mode) = open[step.from];
        modes[mode].open(search, &search.edges[step.edge])
    };
    let surely = back.leads_to(&goals, |step| opening(step).is_none());
    steps.retain(|step| !surely[step.from]);
    let leading = steps.iter().filter(|step| surely[step.to]);
    let leading = leading.filter_map(|step| Some((*step, opening(*step)?)));
    match leading.min() {
        Some((_, field)) => {
            Probe::Depends { field, edges: steps.iter().map(|step| step.edge).collect() }
        }
        None => Probe::Holds,
    }
}

/// Returns what is set after an edge.
fn mode_after(modes: &[Settings], mode: usize, edge: &Edge) -> Option<usize> {
    if edge.sets.is_empty() {
        return Some(mode);
    }
    let set = |mode: Settings, (field, value): &Setting| mode.with(*field, vec![*value]);
    let sets = edge.sets.iter();
    let sets = sets.filter(|(field, _)| modes[mode].only(*field).is_some());
    let after = sets.fold(modes[mode].clone(), set);
    modes.iter().position(|known| *known == after)
}

/// Returns the combinations of what commands set and decisions look at.
fn modes(search: &Search) -> Result<Vec<Settings>, TooMany> {
    let mut modes = vec![Settings::default()];
    let fields = search.fields_set().into_iter();
    for field in fields.filter(|field| search.is_needed(*field)) {
        let parts = modes.iter().flat_map(|mode| mode.by(search, field));
        modes = parts.collect();
        if modes.len() > MODES {
            return Err(TooMany);
        }
    }
    Ok(modes)
}
