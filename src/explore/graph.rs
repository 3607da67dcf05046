//! Ways through the space of states: the shortest one, the longest one, and what goes round.

use std::collections::{HashMap, VecDeque};

use super::search::{Arrow, Search};

/// A way: the state before each step, and the step's edge.
pub(crate) type Way = Vec<(usize, usize)>;

/// The shortest way from the first state to `state`.
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

/// The way from `start` to `end` by the steps over which each state was first reached.
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

/// The states from which one of `goals` can be reached by arrows that are `kept`.
pub(super) fn leads_to(
    search: &Search,
    goals: &[bool],
    kept: impl Fn(usize, &Arrow) -> bool,
) -> Vec<bool> {
    let next = ways_to(search, goals, kept);
    goals
        .iter()
        .zip(next)
        .map(|(goal, next)| *goal || next.is_some())
        .collect()
}

/// For each state from which one of `goals` can be reached by arrows that are `kept`, the first edge of a shortest way.
pub(super) fn ways_to(
    search: &Search,
    goals: &[bool],
    kept: impl Fn(usize, &Arrow) -> bool,
) -> Vec<Option<usize>> {
    let mut counts = vec![0_usize; search.states.len() + 1];
    let all = || {
        (0..search.states.len())
            .flat_map(|from| search.arrows(from).iter().map(move |arrow| (from, arrow)))
    };
    for (from, arrow) in all() {
        if kept(from, arrow) {
            counts[arrow.to() + 1] += 1;
        }
    }
    for index in 1..counts.len() {
        counts[index] += counts[index - 1];
    }
    let mut filled = counts.clone();
    let mut sources = vec![(0_usize, 0_usize); counts[counts.len() - 1]];
    for (from, arrow) in all() {
        if kept(from, arrow) {
            sources[filled[arrow.to()]] = (from, arrow.edge());
            filled[arrow.to()] += 1;
        }
    }
    let mut next = vec![None; goals.len()];
    let mut open: VecDeque<usize> = (0..goals.len()).filter(|state| goals[*state]).collect();
    while let Some(state) = open.pop_front() {
        for (from, edge) in &sources[counts[state]..counts[state + 1]] {
            if next[*from].is_none() && !goals[*from] {
                next[*from] = Some(*edge);
                open.push_back(*from);
            }
        }
    }
    next
}

/// Ways made of some arrows only, each of which weighs something or nothing.
pub(crate) struct Longest<'s, K> {
    search: &'s Search,
    /// The weight of an arrow, `None` where it is left out.
    weight: K,
    /// The component of each state: states that reach one another.
    component: Vec<usize>,
    /// The heaviest way out of each component.
    best: Vec<usize>,
    /// Arrows with a weight inside a component: they go round without end.
    pub(crate) endless: Vec<(usize, Arrow)>,
}

impl<'s, K: Fn(usize, &Arrow) -> Option<usize>> Longest<'s, K> {
    /// Finds the components by Tarjan's algorithm, which yields those that others lead to first.
    pub(crate) fn of(search: &'s Search, weight: K) -> Self {
        const NONE: usize = usize::MAX;
        let count = search.states.len();
        let mut found = Self {
            search,
            weight,
            component: vec![NONE; count],
            best: Vec::new(),
            endless: Vec::new(),
        };
        let mut order = vec![NONE; count];
        let mut low = vec![NONE; count];
        let mut stack: Vec<usize> = Vec::new();
        let mut next = 0;
        for root in 0..count {
            if order[root] != NONE {
                continue;
            }
            // (state, how many of its arrows have been followed)
            let mut calls: Vec<(usize, usize)> = vec![(root, 0)];
            while let Some((state, followed)) = calls.last_mut() {
                let state = *state;
                if *followed == 0 && order[state] == NONE {
                    order[state] = next;
                    low[state] = next;
                    next += 1;
                    stack.push(state);
                }
                let mut arrows = search.arrows(state)[*followed..].iter();
                let next_state = arrows.find_map(|arrow| {
                    let to = arrow.to();
                    (found.weight)(state, arrow)?;
                    if found.component[to] == NONE && order[to] != NONE {
                        low[state] = low[state].min(order[to]);
                    }
                    (order[to] == NONE).then_some(to)
                });
                if let Some(to) = next_state {
                    *followed = search.arrows(state).len() - arrows.len();
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

    fn close(&mut self, stack: &mut Vec<usize>, root: usize) {
        let number = self.best.len();
        let from = stack.iter().rposition(|state| *state == root).unwrap_or(0);
        let members = stack.split_off(from);
        for state in &members {
            self.component[*state] = number;
        }
        let mut best = 0;
        for state in &members {
            for arrow in self.search.arrows(*state) {
                let Some(weight) = (self.weight)(*state, arrow) else {
                    continue;
                };
                let target = self.component[arrow.to()];
                if target != number {
                    best = best.max(weight + self.best[target]);
                } else if weight > 0 {
                    self.endless.push((*state, *arrow));
                }
            }
        }
        self.best.push(best);
    }

    /// The most that a way from `state` can weigh, where none is endless.
    pub(crate) fn from(&self, state: usize) -> usize {
        self.best[self.component[state]]
    }

    /// A heaviest way from `state`, to the last step that weighs something.
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

    /// The shortest way that ends with an arrow for which `last` holds, and where it ends. Arrows before it
    /// weigh nothing.
    fn shortest(&self, start: usize, last: impl Fn(&Arrow, usize) -> bool) -> Option<(Way, usize)> {
        let mut parents: HashMap<usize, (usize, usize)> = HashMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(state) = open.pop_front() {
            for arrow in self.search.arrows(state) {
                let Some(weight) = (self.weight)(state, arrow) else {
                    continue;
                };
                if last(arrow, weight) {
                    let mut way = back_along(&parents, state, start);
                    way.push((state, arrow.edge()));
                    return Some((way, arrow.to()));
                }
                if weight == 0 && arrow.to() != start && !parents.contains_key(&arrow.to()) {
                    parents.insert(arrow.to(), (state, arrow.edge()));
                    open.push_back(arrow.to());
                }
            }
        }
        None
    }

    /// The shortest way into an endless round and once around, and the number of the step that comes again.
    pub(crate) fn endless_way(&self) -> Option<(Way, usize)> {
        let mut best: Option<(Way, usize)> = None;
        for (state, arrow) in &self.endless {
            let stem = way_to(self.search, *state);
            if best
                .as_ref()
                .is_some_and(|(way, _)| stem.len() + 1 >= way.len())
            {
                continue;
            }
            let Some(back) = self.back(arrow.to(), *state) else {
                continue;
            };
            let again = stem.len() + 1;
            let way: Way = stem
                .into_iter()
                .chain([(*state, arrow.edge())])
                .chain(back)
                .collect();
            if best
                .as_ref()
                .is_none_or(|(known, _)| way.len() < known.len())
            {
                best = Some((way, again));
            }
        }
        best
    }

    /// The shortest way from one state of a component to another, inside it.
    fn back(&self, start: usize, goal: usize) -> Option<Way> {
        let mut parents: HashMap<usize, (usize, usize)> = HashMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(state) = open.pop_front() {
            if state == goal {
                return Some(back_along(&parents, goal, start));
            }
            for arrow in self.search.arrows(state) {
                let to = arrow.to();
                let inside = (self.weight)(state, arrow).is_some()
                    && self.component[to] == self.component[goal];
                if inside && to != start && !parents.contains_key(&to) {
                    parents.insert(to, (state, arrow.edge()));
                    open.push_back(to);
                }
            }
        }
        None
    }
}
