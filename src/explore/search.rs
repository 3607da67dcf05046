//! Every state that can be reached, breadth first, and the moves that lead from one to the next.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::tree::{Decisions, Edge, Fields, Situation, Story};
use crate::chart::Chart;
use crate::engine::context;

/// A move from one state to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrow {
    to: u32,
    edge: u32,
}

impl Arrow {
    fn new(to: usize, edge: usize) -> Self {
        // Far more than memory holds.
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        Self { to: number(to), edge: number(edge) }
    }

    /// The state it leads to.
    pub(crate) fn to(self) -> usize {
        self.to as usize
    }

    /// What happens on the way.
    pub(crate) fn edge(self) -> usize {
        self.edge as usize
    }
}

/// How a state was first reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parent {
    pub(crate) from: usize,
    pub(crate) edge: usize,
}

/// The space of states, as far as it has been searched.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) decisions: Decisions,
    pub(crate) states: IndexSet<Situation>,
    /// `None` for a state in which an instance can begin.
    pub(crate) parents: Vec<Option<Parent>>,
    /// What comes of moves, and one way in which it does.
    pub(crate) edges: Vec<(Edge, Story)>,
    /// For each fault, the first state and edge in which it was met.
    pub(crate) faults: HashMap<u32, (usize, usize)>,
    /// True where every state was looked at.
    pub(crate) complete: bool,
    arrows: Vec<Arrow>,
    /// The arrows of state `s` are `arrows[ends[s]..ends[s + 1]]`.
    ends: Vec<usize>,
    numbers: HashMap<Edge, usize>,
    /// Per move, what it has looked at anywhere, and its edges by what was there.
    pub(crate) known: Vec<(Fields, HashMap<Vec<u32>, Rc<[usize]>>)>,
}

impl Search {
    /// Looks at every state that can be reached, but at no more than `most`.
    pub(crate) fn of(chart: &Arc<Chart>, most: usize) -> Self {
        let decisions = Decisions::of(chart);
        let mut search = Self {
            known: decisions.moves.iter().map(|_| (Fields::default(), HashMap::new())).collect(),
            decisions,
            states: IndexSet::new(),
            parents: Vec::new(),
            edges: Vec::new(),
            faults: HashMap::new(),
            complete: false,
            arrows: Vec::new(),
            ends: vec![0],
            numbers: HashMap::new(),
        };
        search.begin(chart);
        let mut at = 0;
        while at < search.states.len() && at < most {
            for mover in 0..search.decisions.moves.len() {
                let edges = search.edges_of(mover, at);
                for edge in edges.iter() {
                    search.follow(at, *edge);
                }
            }
            search.ends.push(search.arrows.len());
            at += 1;
        }
        search.complete = at == search.states.len();
        search
    }

    /// The states in which an instance can begin: nothing is written, and each combination of parameters.
    fn begin(&mut self, chart: &Arc<Chart>) {
        let mut contexts = vec![context::initial(chart)];
        let ground = Arc::clone(&self.decisions.ground);
        for (name, values) in &ground.domain.parameters {
            let mut all = Vec::new();
            for value in values {
                all.extend(contexts.iter().map(|context| {
                    let mut context = context.clone();
                    context.insert(name.clone(), value.clone());
                    context
                }));
            }
            contexts = all;
        }
        for context in contexts {
            let fields = context.values().map(|value| self.decisions.value_id(value)).collect();
            self.states.insert(Situation { fields, started: false, answered: None });
            self.parents.push(None);
        }
    }

    fn edges_of(&mut self, mover: usize, at: usize) -> Rc<[usize]> {
        let situation = &self.states[at];
        let (looked_at, known) = &self.known[mover];
        if let Some(edges) = known.get(&looked_at.project(situation)) {
            return Rc::clone(edges);
        }
        let situation = situation.clone();
        let (found, now) = self.decisions.edges(mover, &situation);
        let edges: Rc<[usize]> = found.into_iter().map(|(edge, story)| self.number(edge, story)).collect::<IndexSet<usize>>().into_iter().collect();
        let (looked_at, known) = &mut self.known[mover];
        let all = looked_at.union(now);
        if all != *looked_at {
            // What is known was found without a look at something that matters after all.
            known.clear();
            *looked_at = all;
        }
        known.insert(all.project(&situation), Rc::clone(&edges));
        edges
    }

    fn number(&mut self, edge: Edge, story: Story) -> usize {
        if let Some(number) = self.numbers.get(&edge) {
            return *number;
        }
        let number = self.edges.len();
        self.numbers.insert(edge.clone(), number);
        self.edges.push((edge, story));
        number
    }

    fn follow(&mut self, from: usize, number: usize) {
        let (edge, _) = &self.edges[number];
        if let Some(fault) = edge.fault {
            self.faults.entry(fault).or_insert((from, number));
            return;
        }
        let before = &self.states[from];
        let mut fields = before.fields.clone();
        for (field, value) in &edge.assigned {
            fields[*field] = *value;
        }
        let answered = edge.answered.or(before.answered);
        let answered = answered.filter(|(pair, _)| self.decisions.pairs[*pair as usize].is_current(&fields));
        let after = Situation { fields, started: before.started || !edge.assigned.is_empty(), answered };
        let matters = edge.block || edge.review.is_some();
        let (to, is_new) = self.states.insert_full(after);
        if is_new {
            self.parents.push(Some(Parent { from, edge: number }));
        }
        if to != from || matters {
            self.arrows.push(Arrow::new(to, number));
        }
    }

    /// The moves out of a state; none where it was not looked at.
    pub(crate) fn arrows(&self, state: usize) -> &[Arrow] {
        match self.ends.get(state + 1) {
            Some(end) => &self.arrows[self.ends[state]..*end],
            None => &[],
        }
    }

    /// How many moves lead from one state to another.
    pub(crate) fn transitions(&self) -> usize {
        self.arrows.len()
    }

    /// How many states have been looked at.
    pub(crate) fn looked_at(&self) -> usize {
        self.ends.len() - 1
    }

    /// What a field holds in a state.
    pub(crate) fn value(&self, state: usize, field: usize) -> &Json {
        self.decisions.value(self.states[state].fields[field])
    }
}
