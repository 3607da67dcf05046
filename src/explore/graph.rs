//! Paths through the state space: the shortest one, the longest one, and endless loops.

use std::collections::{HashMap, VecDeque};

use super::search::{Search, Transition};

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

/// Steps by where they lead.
#[derive(Debug)]
pub(crate) struct Backward {
    /// For each state the steps that lead there.
    sources: Vec<Vec<Transition>>,
}

impl Backward {
    /// Finds for each of this number of states the steps that lead there.
    pub(crate) fn of(states: usize, steps: impl Iterator<Item = Transition>) -> Self {
        let mut sources = vec![Vec::new(); states];
        steps.for_each(|step| sources[step.to].push(step));
        Self { sources }
    }

    /// Returns the steps that lead to a state.
    pub(crate) fn sources(&self, state: usize) -> impl Iterator<Item = Transition> {
        self.sources[state].iter().copied()
    }

    /// Returns the states from which one of `goals` can be reached by steps that are `kept`.
    pub(super) fn leads_to(
        &self,
        goals: &[bool],
        mut kept: impl FnMut(Transition) -> bool,
    ) -> Vec<bool> {
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

/// A step of these paths.
struct Weighed {
    step: Transition,
    weight: usize,
}

/// How many endless loops are compared to show a short one.
const LOOPS: usize = 32;

/// Paths made of some steps only, each of which weighs something or nothing.
pub(crate) struct Longest<'s> {
    search: &'s Search,
    /// By the state that they lead from.
    steps: Vec<Vec<Weighed>>,
    /// The component of each state: states that reach one another.
    component: Vec<usize>,
    /// The weight of the heaviest path out of each component.
    best: Vec<usize>,
    /// Steps with a weight inside a component: they go round without end.
    pub(crate) endless: Vec<Transition>,
}

impl<'s> Longest<'s> {
    /// Leaves out the steps that have no `weight`, or lead nowhere else and weigh nothing, and finds the strongly connected
    /// components by Tarjan's algorithm, which yields those that others lead to first.
    pub(crate) fn of(search: &'s Search, weight: impl Fn(&Transition) -> Option<usize>) -> Self {
        const NONE: usize = usize::MAX;
        let count = search.states.len();
        let weighed = |state: usize| {
            let kept = search.steps_from(state).iter().filter_map(|step| {
                let (step, weight) = (*step, weight(step)?);
                (step.to != state || weight > 0).then_some(Weighed { step, weight })
            });
            kept.collect()
        };
        let mut found = Self {
            search,
            steps: (0..count).map(weighed).collect(),
            component: vec![NONE; count],
            best: Vec::new(),
            endless: Vec::new(),
        };
        let mut order = vec![NONE; count];
        let mut low = vec![NONE; count];
        let mut stack: Vec<usize> = Vec::new();
        // States, and the next of their steps to follow.
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
                let mut steps = found.steps[state][*at..].iter();
                let next_state = steps.find_map(|Weighed { step, .. }| {
                    let to = step.to;
                    if found.component[to] == NONE && order[to] != NONE {
                        low[state] = low[state].min(order[to]);
                    }
                    (order[to] == NONE).then_some(to)
                });
                if let Some(to) = next_state {
                    *at = found.steps[state].len() - steps.len();
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
            for Weighed { step, weight } in &self.steps[state] {
                let target = self.component[step.to];
                if target != number {
                    best = best.max(weight + self.best[target]);
                } else if *weight > 0 {
                    self.endless.push(*step);
                }
            }
        }
        self.best.push(best);
    }

    /// Returns the most that a path from `state` can weigh, where none is endless.
    pub(crate) fn from(&self, state: usize) -> usize {
        self.best[self.component[state]]
    }

    /// Returns the most that a path can weigh that begins with this step, which weighs one: nothing where there is no step.
    pub(crate) fn with_first(&self, first: Option<Transition>) -> usize {
        first.map_or(0, |first| 1 + self.from(first.to))
    }

    /// Returns a heaviest path from `state`, to the last step that weighs something, or to that which weighs the `most`th
    /// time.
    pub(crate) fn path_from(&self, state: usize, most: usize) -> Path {
        let mut path = Path::new();
        let mut at = state;
        for _ in 0..most {
            let left = self.from(at);
            let is_last =
                |step: &Transition, weight| weight > 0 && weight + self.from(step.to) == left;
            let Some(steps) = self.shortest(at, |_, weight| weight == 0, is_last) else {
                break;
            };
            at = steps.last().map_or(at, |step| step.to);
            path.extend(steps);
        }
        path
    }

    /// Returns the shortest path of steps that are `kept` and a last one for which `is_last` holds.
    fn shortest(
        &self,
        start: usize,
        kept: impl Fn(&Transition, usize) -> bool,
        is_last: impl Fn(&Transition, usize) -> bool,
    ) -> Option<Path> {
        let mut parents: HashMap<usize, Transition> = HashMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(from) = open.pop_front() {
            for Weighed { step, weight } in &self.steps[from] {
                if is_last(step, *weight) {
                    let mut path = back_from(from, |at| parents.get(&at).copied());
                    path.push(*step);
                    return Some(path);
                }
                if kept(step, *weight) && step.to != start && !parents.contains_key(&step.to) {
                    parents.insert(step.to, *step);
                    open.push_back(step.to);
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
            let Transition { from, to, .. } = step;
            let mut path = vec![step];
            if to != from {
                let component = self.component[from];
                let is_inside = |step: &Transition, _| self.component[step.to] == component;
                let closes = |step: &Transition, _| step.to == from;
                path.extend(self.shortest(to, is_inside, closes)?);
            }
            Some((path_to(self.search, from).len() + path.len(), path))
        });
        let shortest = loops.min_by_key(|(length, _)| *length);
        shortest.map(|(_, path)| path)
    }
}
