//! Paths through the state space: the shortest one, the longest one, and endless loops.

use std::collections::{HashMap, VecDeque};

use super::search::{Arrow, Search, Transition};

/// A path, step by step.
pub(crate) type Path = Vec<Transition>;

/// Returns the shortest path from the first state to `state`.
pub(crate) fn path_to(search: &Search, state: usize) -> Path {
    back_from(state, |at| search.parents[at])
}

/// Returns the path to `end` by the steps over which each state was first reached.
pub(crate) fn back_from(end: usize, parent: impl Fn(usize) -> Option<Transition>) -> Path {
    let mut path: Path = std::iter::successors(parent(end), |step| parent(step.from)).collect();
    path.reverse();
    path
}

/// The arrows by where they lead.
#[derive(Debug)]
pub(crate) struct Backward {
    /// For each state the steps that lead there.
    sources: Vec<Vec<Transition>>,
}

impl Backward {
    /// Finds for each state the arrows that lead there.
    pub(crate) fn of(search: &Search) -> Self {
        let mut back = Self::none(search.states.len());
        for from in 0..search.looked_at() {
            for arrow in search.arrows(from) {
                back.add(arrow.step(from), arrow.to);
            }
        }
        back
    }

    /// Returns this number of states, and no arrows.
    pub(crate) fn none(states: usize) -> Self {
        Self {
            sources: vec![Vec::new(); states],
        }
    }

    /// Adds a step that leads to a state.
    pub(crate) fn add(&mut self, step: Transition, to: usize) {
        self.sources[to].push(step);
    }

    /// Returns the steps that lead to a state.
    pub(crate) fn sources(&self, state: usize) -> impl Iterator<Item = Transition> {
        self.sources[state].iter().copied()
    }

    /// Returns the states from which one of `goals` can be reached by steps that are `kept`.
    pub(super) fn leads_to(&self, goals: &[bool], kept: impl Fn(Transition) -> bool) -> Vec<bool> {
        let mut leads = goals.to_vec();
        let mut open: VecDeque<usize> = (0..goals.len()).filter(|state| goals[*state]).collect();
        while let Some(state) = open.pop_front() {
            for step in self.sources(state) {
                if !leads[step.from] && kept(step) {
                    leads[step.from] = true;
                    open.push_back(step.from);
                }
            }
        }
        leads
    }
}

/// An arrow of these paths.
struct Weighed {
    arrow: Arrow,
    weight: usize,
}

/// How many endless loops are compared to show a short one.
const LOOPS: usize = 32;

/// Paths made of some arrows only, each of which weighs something or nothing.
pub(crate) struct Longest<'s> {
    search: &'s Search,
    /// By the state that they lead from.
    arrows: Vec<Vec<Weighed>>,
    /// The component of each state: states that reach one another.
    component: Vec<usize>,
    /// The weight of the heaviest path out of each component.
    best: Vec<usize>,
    /// Steps with a weight inside a component: they go round without end.
    pub(crate) endless: Vec<Transition>,
}

impl<'s> Longest<'s> {
    /// Leaves out the arrows that have no `weight`, or have no target and weigh nothing, and finds the strongly connected
    /// components by Tarjan's algorithm, which yields those that others lead to first.
    pub(crate) fn of(search: &'s Search, weight: impl Fn(usize, &Arrow) -> Option<usize>) -> Self {
        const NONE: usize = usize::MAX;
        let count = search.states.len();
        let weighed = |state: usize| {
            let kept = search.arrows(state).iter().filter_map(|arrow| {
                let weight = weight(state, arrow)?;
                (arrow.to != state || weight > 0).then_some(Weighed {
                    arrow: *arrow,
                    weight,
                })
            });
            kept.collect()
        };
        let mut found = Self {
            search,
            arrows: (0..count).map(weighed).collect(),
            component: vec![NONE; count],
            best: Vec::new(),
            endless: Vec::new(),
        };
        let mut order = vec![NONE; count];
        let mut low = vec![NONE; count];
        let mut stack: Vec<usize> = Vec::new();
        // States, and the next of their arrows to follow.
        let mut calls: Vec<(usize, usize)> = Vec::new();
        let mut next = 0;
        for root in 0..count {
            if order[root] == NONE {
                calls.push((root, 0));
            }
            while let Some((state, at)) = calls.last_mut() {
                if search.moves.tree.budget.is_exhausted() {
                    // Nothing is known. Whoever proves something by that asks the budget.
                    found.component = vec![0; count];
                    found.best = vec![0];
                    found.endless.clear();
                    return found;
                }
                let state = *state;
                if order[state] == NONE {
                    order[state] = next;
                    low[state] = next;
                    next += 1;
                    stack.push(state);
                }
                let mut arrows = found.arrows[state][*at..].iter();
                let next_state = arrows.find_map(|Weighed { arrow, .. }| {
                    let to = arrow.to;
                    if found.component[to] == NONE && order[to] != NONE {
                        low[state] = low[state].min(order[to]);
                    }
                    (order[to] == NONE).then_some(to)
                });
                if let Some(to) = next_state {
                    *at = found.arrows[state].len() - arrows.len();
                    calls.push((to, 0));
                    continue;
                }
                calls.pop();
                if let Some((parent, _)) = calls.last() {
                    low[*parent] = low[*parent].min(low[state]);
                }
                if low[state] == order[state] {
                    found.close(&mut stack, state);
                }
            }
        }
        found
    }

    /// Makes a component of the states above `root` on the stack.
    fn close(&mut self, stack: &mut Vec<usize>, root: usize) {
        let number = self.best.len();
        let from = stack.iter().rposition(|state| *state == root).unwrap_or(0);
        for state in &stack[from..] {
            self.component[*state] = number;
        }
        let mut best = 0;
        for state in stack.drain(from..) {
            for Weighed { arrow, weight } in &self.arrows[state] {
                let target = self.component[arrow.to];
                if target != number {
                    best = best.max(weight + self.best[target]);
                } else if *weight > 0 {
                    self.endless.push(arrow.step(state));
                }
            }
        }
        self.best.push(best);
    }

    /// Returns the most that a path from `state` can weigh, where none is endless.
    pub(crate) fn from(&self, state: usize) -> usize {
        self.best[self.component[state]]
    }

    /// Returns a heaviest path from `state`, to the last step that weighs something, or to that which weighs the `most`th
    /// time.
    pub(crate) fn path_from(&self, state: usize, most: usize) -> Path {
        let mut path = Path::new();
        let mut at = state;
        for _ in 0..most {
            let left = self.from(at);
            let is_last =
                |arrow: &Arrow, weight| weight > 0 && weight + self.from(arrow.to) == left;
            let Some(steps) = self.shortest(at, |_, weight| weight == 0, is_last) else {
                break;
            };
            at = steps.last().map_or(at, |step| self.search.target(*step));
            path.extend(steps);
        }
        path
    }

    /// Returns the shortest path of arrows that are `kept` and a last one for which `is_last` holds.
    fn shortest(
        &self,
        start: usize,
        kept: impl Fn(&Arrow, usize) -> bool,
        is_last: impl Fn(&Arrow, usize) -> bool,
    ) -> Option<Path> {
        let mut parents: HashMap<usize, Transition> = HashMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(from) = open.pop_front() {
            for Weighed { arrow, weight } in &self.arrows[from] {
                let step = arrow.step(from);
                if is_last(arrow, *weight) {
                    let mut path = back_from(from, |at| parents.get(&at).copied());
                    path.push(step);
                    return Some(path);
                }
                if kept(arrow, *weight) && arrow.to != start && !parents.contains_key(&arrow.to) {
                    parents.insert(arrow.to, step);
                    open.push_back(arrow.to);
                }
            }
        }
        None
    }

    /// Returns an endless loop that a short path leads into. Only the loops that are reached first are compared: each
    /// step can lead into one.
    pub(crate) fn endless_loop(&self) -> Option<Path> {
        let mut first = self.endless.clone();
        // States are numbered in the order in which they were found, breadth first.
        first.sort_by_key(|step| step.from);
        let loops = first.into_iter().take(LOOPS).filter_map(|step| {
            let (from, to) = (step.from, self.search.target(step));
            let mut path = vec![step];
            if to != from {
                let component = self.component[from];
                let is_inside = |arrow: &Arrow, _| self.component[arrow.to] == component;
                let closes = |arrow: &Arrow, _| arrow.to == from;
                path.extend(self.shortest(to, is_inside, closes)?);
            }
            Some((path_to(self.search, from).len() + path.len(), path))
        });
        let shortest = loops.min_by_key(|(length, _)| *length);
        shortest.map(|(_, path)| path)
    }
}
