//! Ways through the space of states: the shortest one, the longest one, and what goes round.

use std::collections::{HashMap, VecDeque};

use super::search::{Arrow, Search};
use super::state::number;

/// A way: the state before each step, and the step's edge.
pub(crate) type Way = Vec<(usize, usize)>;

/// Returns the shortest way from the first state to `state`.
pub(crate) fn way_to(search: &Search, state: usize) -> Way {
    let mut way = Vec::new();
    let mut at = state;
    while let Some(parent) = search.parents[at] {
        way.push((parent.from, parent.edge));
        at = parent.from;
    }
    way.reverse();
    way
}

/// Returns the way from `start` to `end` by the steps over which each state was first reached.
fn back_along(parents: &HashMap<usize, (usize, usize)>, end: usize, start: usize) -> Way {
    let mut way = Way::new();
    let mut at = end;
    while at != start {
        let step = parents[&at];
        way.push(step);
        at = step.0;
    }
    way.reverse();
    way
}

/// The arrows by where they lead.
pub(crate) struct Backward {
    /// For each arrow, the state that it comes from, and its edge.
    sources: Vec<(u32, u32)>,
    /// Those that lead to state `s` are `sources[starts[s]..starts[s + 1]]`.
    starts: Vec<usize>,
}

impl Backward {
    pub(crate) fn of(search: &Search) -> Self {
        let all = || {
            let states = 0..search.states.len();
            states.flat_map(|from| search.arrows(from).iter().map(move |arrow| (from, arrow)))
        };
        let mut starts = vec![0_usize; search.states.len() + 1];
        for (_, arrow) in all() {
            starts[arrow.to() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut filled = starts.clone();
        let mut sources = vec![(0, 0); search.transitions()];
        for (from, arrow) in all() {
            sources[filled[arrow.to()]] = (number(from), number(arrow.edge()));
            filled[arrow.to()] += 1;
        }
        Self { sources, starts }
    }

    /// Returns the states from which one of `goals` can be reached by edges that are `kept`.
    pub(super) fn leads_to(&self, goals: &[bool], kept: impl Fn(usize) -> bool) -> Vec<bool> {
        let next = self.ways_to(goals, kept).into_iter();
        let reached = goals.iter().zip(next);
        reached
            .map(|(goal, next)| *goal || next.is_some())
            .collect()
    }

    /// Returns, for each state from which one of `goals` can be reached by edges that are `kept`, the first edge of a
    /// shortest way.
    pub(super) fn ways_to(
        &self,
        goals: &[bool],
        kept: impl Fn(usize) -> bool,
    ) -> Vec<Option<usize>> {
        let mut next = vec![None; goals.len()];
        let mut open: VecDeque<usize> = (0..goals.len()).filter(|state| goals[*state]).collect();
        while let Some(state) = open.pop_front() {
            for (from, edge) in &self.sources[self.starts[state]..self.starts[state + 1]] {
                let (from, edge) = (*from as usize, *edge as usize);
                if next[from].is_none() && !goals[from] && kept(edge) {
                    next[from] = Some(edge);
                    open.push_back(from);
                }
            }
        }
        next
    }
}

/// How many endless rounds are compared to show a short one.
const ROUNDS: usize = 32;

/// Ways made of some arrows only, each of which weighs something or nothing.
pub(crate) struct Longest<'s> {
    search: &'s Search,
    /// These arrows, and what they weigh.
    arrows: Vec<(Arrow, usize)>,
    /// Those of state `s` are `arrows[ends[s]..ends[s + 1]]`.
    ends: Vec<usize>,
    /// The component of each state: states that reach one another.
    component: Vec<usize>,
    /// The heaviest way out of each component.
    best: Vec<usize>,
    /// Arrows with a weight inside a component: they go round without end.
    pub(crate) endless: Vec<(usize, Arrow)>,
}

impl<'s> Longest<'s> {
    /// Leaves out the arrows that have no `weight`, or lead nowhere and weigh nothing, and finds the components by Tarjan's algorithm, which yields those
    /// that others lead to first.
    pub(crate) fn of(search: &'s Search, weight: impl Fn(usize, &Arrow) -> Option<usize>) -> Self {
        const NONE: usize = usize::MAX;
        let count = search.states.len();
        let mut found = Self {
            search,
            arrows: Vec::new(),
            ends: vec![0],
            component: vec![NONE; count],
            best: Vec::new(),
            endless: Vec::new(),
        };
        for state in 0..count {
            let arrows = search.arrows(state).iter();
            let kept = arrows.filter_map(|arrow| Some((*arrow, weight(state, arrow)?)));
            let kept = kept.filter(|(arrow, weight)| arrow.to() != state || *weight > 0);
            found.arrows.extend(kept);
            found.ends.push(found.arrows.len());
        }
        let mut order = vec![NONE; count];
        let mut low = vec![NONE; count];
        let mut stack: Vec<usize> = Vec::new();
        // States, and the next of their arrows to follow.
        let mut calls: Vec<(usize, usize)> = Vec::new();
        let mut next = 0;
        for root in 0..count {
            if order[root] == NONE {
                calls.push((root, found.ends[root]));
            }
            while let Some((state, at)) = calls.last_mut() {
                if search.moves.tree.budget.is_exhausted() {
                    return Self::nothing(search);
                }
                let state = *state;
                if order[state] == NONE {
                    order[state] = next;
                    low[state] = next;
                    next += 1;
                    stack.push(state);
                }
                let mut arrows = found.arrows[*at..found.ends[state + 1]].iter();
                let next_state = arrows.find_map(|(arrow, _)| {
                    let to = arrow.to();
                    if found.component[to] == NONE && order[to] != NONE {
                        low[state] = low[state].min(order[to]);
                    }
                    (order[to] == NONE).then_some(to)
                });
                if let Some(to) = next_state {
                    *at = found.ends[state + 1] - arrows.len();
                    calls.push((to, found.ends[to]));
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

    /// Returns what is known once no time is left: nothing. Whoever proves something by that asks the budget.
    fn nothing(search: &'s Search) -> Self {
        let count = search.states.len();
        Self {
            search,
            arrows: Vec::new(),
            ends: vec![0; count + 1],
            component: vec![0; count],
            best: vec![0],
            endless: Vec::new(),
        }
    }

    /// Returns the arrows of a state, and what they weigh.
    fn arrows(&self, state: usize) -> &[(Arrow, usize)] {
        &self.arrows[self.ends[state]..self.ends[state + 1]]
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
            for (arrow, weight) in &self.arrows[self.ends[state]..self.ends[state + 1]] {
                let target = self.component[arrow.to()];
                if target != number {
                    best = best.max(weight + self.best[target]);
                } else if *weight > 0 {
                    self.endless.push((state, *arrow));
                }
            }
        }
        self.best.push(best);
    }

    /// Returns the most that a way from `state` can weigh, where none is endless.
    pub(crate) fn from(&self, state: usize) -> usize {
        self.best[self.component[state]]
    }

    /// Returns a heaviest way from `state`, to the last step that weighs something.
    pub(crate) fn way_from(&self, state: usize) -> Way {
        let mut way = Way::new();
        let mut at = state;
        while self.from(at) > 0 {
            let left = self.from(at);
            let steps = self.shortest(at, |arrow, weight| {
                weight > 0 && weight + self.from(arrow.to()) == left
            });
            let Some((steps, to)) = steps else { break };
            way.extend(steps);
            at = to;
        }
        way
    }

    /// Returns the shortest way that ends with an arrow for which `last` holds, and where it ends. Arrows before it
    /// weigh nothing.
    fn shortest(&self, start: usize, last: impl Fn(&Arrow, usize) -> bool) -> Option<(Way, usize)> {
        let mut parents: HashMap<usize, (usize, usize)> = HashMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(state) = open.pop_front() {
            for (arrow, weight) in self.arrows(state) {
                if last(arrow, *weight) {
                    let mut way = back_along(&parents, state, start);
                    way.push((state, arrow.edge()));
                    return Some((way, arrow.to()));
                }
                if *weight == 0 && arrow.to() != start && !parents.contains_key(&arrow.to()) {
                    parents.insert(arrow.to(), (state, arrow.edge()));
                    open.push_back(arrow.to());
                }
            }
        }
        None
    }

    /// Returns a short way into an endless round and once around, and the number of the step that comes again. Only the
    /// rounds that are reached first are compared: there can be as many as arrows.
    pub(crate) fn endless_way(&self) -> Option<(Way, usize)> {
        let mut rounds: Vec<&(usize, Arrow)> = self.endless.iter().collect();
        // States are numbered in the order in which they were found, breadth first.
        rounds.sort_by_key(|(state, _)| *state);
        let mut best: Option<(Way, usize)> = None;
        for (state, arrow) in rounds.into_iter().take(ROUNDS) {
            let stem = way_to(self.search, *state);
            let length = best.as_ref().map_or(usize::MAX, |(way, _)| way.len());
            if stem.len() + 1 >= length {
                break;
            }
            let Some(back) = self.back(arrow.to(), *state) else {
                continue;
            };
            let again = stem.len() + 1;
            let ways = [stem, vec![(*state, arrow.edge())], back];
            let way: Way = ways.concat();
            if way.len() < length {
                best = Some((way, again));
            }
        }
        best
    }

    /// Returns the shortest way from one state of a component to another, inside it.
    fn back(&self, start: usize, goal: usize) -> Option<Way> {
        let mut parents: HashMap<usize, (usize, usize)> = HashMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(state) = open.pop_front() {
            if state == goal {
                return Some(back_along(&parents, goal, start));
            }
            for (arrow, _) in self.arrows(state) {
                let to = arrow.to();
                let inside = self.component[to] == self.component[goal];
                if inside && to != start && !parents.contains_key(&to) {
                    parents.insert(to, (state, arrow.edge()));
                    open.push_back(to);
                }
            }
        }
        None
    }
}
