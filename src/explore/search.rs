//! Every state that can be reached, breadth first, and the moves that lead from one to the next.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::answer::Answer;
use super::budget::{Budget, Caps, Cut};
use super::domain::config_path;
use super::items;
use super::moves::{Actor, Edge, Move, Moves};
use super::state::{Look, Looks, Memo, Situation, States, number};
use crate::chart::Chart;
use crate::engine::context;
use crate::engine::decision::Ended;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The number of examples of each edge that are kept.
const EXAMPLES: usize = 12;

/// A move from one state to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrow {
    /// The state it leads to.
    pub(crate) to: usize,
    /// What happens on the way.
    pub(crate) edge: usize,
}

impl Arrow {
    /// Returns the step that it is from a state.
    pub(crate) fn step(self, from: usize) -> Transition {
        let edge = self.edge;
        Transition { from, edge }
    }
}

/// A step: the state before it, and its edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Transition {
    pub(crate) from: usize,
    pub(crate) edge: usize,
}

/// The edges of a move, and all that it looks at.
#[derive(Debug, Clone)]
struct Leaving {
    edges: Rc<[u32]>,
    looks: Rc<Looks>,
}

/// The state space, as far as it has been searched.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) moves: Moves,
    pub(crate) states: States,
    /// How each state was first reached; `None` for the first one.
    pub(crate) parents: Vec<Option<Transition>>,
    /// The results of moves.
    pub(crate) edges: IndexSet<Edge, FxBuildHasher>,
    /// For each edge, the first states that differ in what its move looks at and that it leads out of.
    examples: Vec<Vec<usize>>,
    /// Where it was cut off first; `None`: every state was looked at.
    pub(super) cut: Option<Cut>,
    /// The arrows of each state that was looked at.
    arrows: Vec<Vec<Arrow>>,
    /// For each edge, the number of those that differ from it only in what they need.
    alike: Vec<u32>,
    all_alike: FxHashMap<Edge, u32>,
    /// The edges of each move, and what it looks at.
    known: Vec<Memo<Leaving>>,
}

impl Search {
    /// Looks at every state that can be reached, as far as `caps` allow. If a field outgrows what is tried, all is looked at
    /// again, and the field holds an unknown value from there on.
    pub(crate) fn of(chart: &Arc<Chart>, caps: &Caps) -> Self {
        let budget = Budget::of_search(caps);
        let mut grown = BTreeSet::new();
        loop {
            let search = Self::with(chart, caps, &budget, &grown);
            match search.outgrown() {
                Some(field) if grown.insert(field.clone()) => {}
                _ => return search,
            }
        }
    }

    /// Returns the field that has outgrown what is tried, where it may hold an unknown value instead.
    fn outgrown(&self) -> Option<&String> {
        match &self.cut {
            Some(Cut::Grown(field)) if !self.moves.tree.needed.contains(field) => Some(field),
            _ => None,
        }
    }

    /// Looks at every state, where these fields hold an unknown value once they outgrow what is tried.
    fn with(chart: &Arc<Chart>, caps: &Caps, budget: &Budget, grown: &BTreeSet<String>) -> Self {
        let moves = Moves::of(chart, grown);
        let mut search = Self {
            known: moves.all.iter().map(|_| Memo::default()).collect(),
            moves,
            states: States::default(),
            parents: Vec::new(),
            edges: IndexSet::default(),
            examples: Vec::new(),
            cut: None,
            arrows: Vec::new(),
            alike: Vec::new(),
            all_alike: FxHashMap::default(),
        };
        search.begin(chart);
        search.moves.tree.budget = budget.clone();
        let mut at = 0;
        while at < search.states.len() && search.outgrown().is_none() {
            if at >= caps.states {
                search.cut = Some(Cut::States);
                break;
            }
            search.arrows.push(Vec::new());
            for mover in 0..search.moves.all.len() {
                let edges = search.edges_of(mover, at);
                for edge in edges.iter().map(|edge| *edge as usize) {
                    search.follow(Transition { from: at, edge });
                }
            }
            if let Some(cut) = search.moves.tree.budget.cut() {
                // What was seen of this state is not all there is to see.
                search.cut = Some(cut);
                search.arrows.pop();
                break;
            }
            at += 1;
            caps.looked_at.store(at, Ordering::Relaxed);
        }
        search
    }

    /// Returns each transition in which something at one of these places fires, as far as states were looked at.
    pub(crate) fn transitions_of(&mut self, places: &[String]) -> Vec<Transition> {
        let known = &self.moves.tree.places;
        let places = places.iter().filter_map(|place| known.get_index_of(place));
        let places: Vec<u32> = places.map(number).collect();
        let mut found = Vec::new();
        for from in 0..self.looked_at() {
            for mover in 0..self.moves.all.len() {
                let edges = self.edges_of(mover, from);
                let edges = edges.iter().map(|edge| *edge as usize);
                let fires = |edge: &usize| {
                    let shown = &self.edges[*edge];
                    let mut fired = shown.done.fired.iter();
                    shown.done.fault.is_none() && fired.any(|place| places.contains(place))
                };
                found.extend(edges.filter(fires).map(|edge| Transition { from, edge }));
            }
        }
        found
    }

    /// Returns, in words, where the search or what followed it was cut off.
    pub(crate) fn cut_in_words(&self) -> Option<String> {
        let cut = self.cut.clone().or_else(|| self.moves.tree.budget.cut());
        cut.map(|cut| cut.in_words(self.looked_at()))
    }

    /// Returns the state that a transition leads to: the same one where it changes nothing, and has no arrow.
    pub(crate) fn target(&self, step: Transition) -> usize {
        let mut arrows = self.arrows(step.from).iter();
        let arrow = arrows.find(|arrow| arrow.edge == step.edge);
        arrow.map_or(step.from, |arrow| arrow.to)
    }

    /// Returns the states in which an instance begins: nothing is written, and the settings are one thing or another.
    fn begin(&mut self, chart: &Arc<Chart>) {
        let domain = &self.moves.tree.domain;
        // What the user sets at any time is chosen where it is looked at.
        let fields = chart.context.iter();
        let fields = fields.filter(|(name, _)| domain.parameter(name).is_none());
        let columns = fields.filter_map(|(name, field)| {
            let values = domain.parameter(&config_path(field.setting()?))?.iter();
            Some((name.clone(), values.map(Answer::value).cloned().collect()))
        });
        let beginnings = items::product(&columns.collect());
        self.cut = (!beginnings.is_all).then_some(Cut::Beginnings);
        for chosen in beginnings.values {
            let mut beginning = context::initial(chart);
            beginning.extend(chosen);
            let tree = &mut self.moves.tree;
            let values = beginning.into_values().map(Answer::Value);
            let values = values.map(|value| tree.answer_id(&value));
            self.states.insert(Situation::unstarted(values));
            self.parents.push(None);
        }
    }

    /// Returns the results of a move in a state.
    fn edges_of(&mut self, mover: usize, at: usize) -> Rc<[u32]> {
        if let Some(known) = self.known[mover].get(&self.states[at], &[]) {
            return Rc::clone(&known.value.edges);
        }
        let state = self.states[at].clone();
        let mut looks = Looks::default();
        let mut edges: IndexSet<u32> = IndexSet::new();
        for ending in self.moves.endings_of(mover, &state, &mut looks) {
            let edge = self.number(ending.edge);
            edges.insert(edge);
            // The file that answers a review has a name of its own.
            let tree = &self.moves.tree;
            let run = self.run(&self.edges[edge as usize]);
            let cycles = &tree.chart.cycles;
            if let Some(cycle) = run.and_then(|run| cycles.get_index_of(&run.invocation.cycle)) {
                let fields = tree.fields_of_names[cycle].iter();
                looks.extend(fields.map(|field| Look::field(*field)));
            }
        }
        let edges: Rc<[u32]> = self.widest(&edges).into();
        for edge in edges.iter() {
            let examples = &mut self.examples[*edge as usize];
            examples.extend((examples.len() < EXAMPLES).then_some(at));
        }
        let own = looks.at_the_state();
        let leaving = Leaving {
            edges: Rc::clone(&edges),
            looks: Rc::new(looks),
        };
        self.known[mover].put(&state, &[], &own, leaving);
        edges
    }

    /// Returns whether a decision in a state looks at this.
    pub(crate) fn looks_at(&self, state: usize, look: Look) -> bool {
        let known = self.known.iter();
        let mut known = known.filter_map(|known| known.get(&self.states[state], &[]));
        known.any(|known| known.value.looks.contains(look))
    }

    /// Leaves out the edges that exist only for such settings for which another one exists, too.
    fn widest(&self, edges: &IndexSet<u32>) -> Vec<u32> {
        let mut alike: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for edge in edges {
            let group = alike.entry(self.alike[*edge as usize]);
            group.or_default().push(*edge);
        }
        let is_wider = |one: u32, other: u32| {
            let [one, other] = [one, other].map(|edge| &self.edges[edge as usize].needs);
            one.iter().all(|(field, set)| {
                let narrower = other.iter().find(|(asked, _)| asked == field);
                narrower.is_some_and(|(_, narrower)| {
                    let mut values = self.moves.tree.members(*narrower).iter();
                    values.all(|value| self.moves.tree.has(*set, *value))
                })
            })
        };
        let is_widest = |edge: &u32| {
            let mut others = alike[&self.alike[*edge as usize]].iter();
            !others.any(|other| other != edge && is_wider(*other, *edge))
        };
        edges.iter().copied().filter(is_widest).collect()
    }

    /// Returns the number of an edge.
    fn number(&mut self, edge: Edge) -> u32 {
        let (index, is_new) = self.edges.insert_full(edge);
        if is_new {
            let edge = &self.edges[index];
            let next = number(self.all_alike.len());
            let alike = self.all_alike.entry(edge.without_needs());
            self.alike.push(*alike.or_insert(next));
            self.examples.push(Vec::new());
        }
        number(index)
    }

    /// Returns some steps on the edges that are like this, the first ones.
    pub(crate) fn examples(&self, is_like: impl Fn(&Edge) -> bool) -> Vec<Transition> {
        let edges = self.edges.iter().zip(&self.examples).enumerate();
        let edges = edges.filter(|(_, (edge, _))| is_like(edge));
        let steps = edges.flat_map(|(edge, (_, examples))| {
            let examples = examples.iter();
            examples.map(move |from| Transition { from: *from, edge })
        });
        let mut steps: Vec<Transition> = steps.collect();
        steps.sort_unstable();
        steps.truncate(EXAMPLES);
        steps
    }

    /// Adds the state that an edge leads to, and the arrow there, where it changes anything.
    fn follow(&mut self, step: Transition) {
        let (from, edge) = (step.from, &self.edges[step.edge]);
        if edge.done.fault.is_some() {
            return;
        }
        let mut assigned = edge.done.assigned.iter().chain(&edge.sets).peekable();
        let writes = assigned.peek().is_some();
        if let Some(cut) = self.moves.tree.bar(assigned) {
            self.cut.get_or_insert(cut);
            return;
        }
        let mut to = from;
        if writes || edge.answered.is_some() {
            let tree = &self.moves.tree;
            let before = &self.states[from];
            let mut after = before.clone();
            for (field, value) in &edge.done.assigned {
                after.assign(*field, *value);
            }
            if writes {
                after.start();
            }
            let answered = edge.answered.or(before.answered());
            let answered = answered.filter(|(asked, _)| tree.is_current(*asked, after.fields()));
            // While no cycle runs, no rule asks for it.
            let answered = answered.filter(|_| tree.running(&after).is_some());
            after.set_answered(answered);
            to = self.states.insert_full(after).0;
            if to == self.parents.len() {
                self.parents.push(Some(step));
            }
        }
        if to != from || edge.done.block || edge.done.review.is_some() || !edge.sets.is_empty() {
            let edge = step.edge;
            self.arrows[from].push(Arrow { to, edge });
        }
    }

    /// Returns examples in which the rule at a place fires; for the place of a guard, in which it refuses.
    pub(crate) fn steps_to(&self, place: &str) -> Vec<Transition> {
        let moves = &self.moves;
        let guarded = place.strip_suffix(Chart::GUARD);
        let is_guarded = |mover: &Move| guarded.is_some() && mover.place().as_deref() == guarded;
        let refused = moves.all.iter().position(is_guarded);
        let place = moves.tree.places.get_index_of(place).map(number);
        self.examples(|edge| {
            let fired = &edge.done.fired;
            let is_refused = fired.is_empty() && edge.done.fault.is_none();
            match guarded {
                Some(_) => is_refused && Some(edge.mover) == refused,
                None => fired.iter().any(|fired| Some(*fired) == place),
            }
        })
    }

    /// Returns the moves out of a state; none where it was not looked at.
    pub(crate) fn arrows(&self, state: usize) -> &[Arrow] {
        self.arrows.get(state).map_or(&[], Vec::as_slice)
    }

    /// Returns how many moves lead from one state to another.
    pub(crate) fn transitions(&self) -> usize {
        self.arrows.iter().map(Vec::len).sum()
    }

    /// Returns how many states have been looked at.
    pub(crate) fn looked_at(&self) -> usize {
        self.arrows.len()
    }

    /// Returns whether there are edges that exist only for some values of a parameter.
    pub(crate) fn is_needed(&self, field: usize) -> bool {
        let mut needs = self.edges.iter().flat_map(|edge| &edge.needs);
        needs.any(|(needed, _)| *needed == field)
    }

    /// Returns the parameters that commands set.
    pub(crate) fn fields_set(&self) -> BTreeSet<usize> {
        let sets = self.edges.iter().flat_map(|edge| &edge.sets);
        sets.map(|(field, _)| *field).collect()
    }

    /// Returns who makes the move of an edge.
    pub(crate) fn actor(&self, edge: &Edge) -> Actor {
        self.moves.all[edge.mover].actor
    }

    /// Returns the run that ends on an edge.
    pub(crate) fn run(&self, edge: &Edge) -> Option<&Ended> {
        Some(&self.moves.tree.runs[edge.done.review? as usize])
    }

    /// Returns the number of a context field.
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        self.moves.tree.field(name)
    }

    /// Returns what a field holds in a state.
    pub(crate) fn value(&self, state: usize, field: usize) -> &Json {
        self.moves.tree.value(self.states[state].fields()[field])
    }
}
