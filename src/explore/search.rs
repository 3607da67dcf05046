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

/// A step: the state before it, what happens, and the state that this leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Transition {
    pub(crate) from: usize,
    pub(crate) edge: usize,
    pub(crate) to: usize,
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
    /// The steps out of each state that was looked at, but for those that change nothing.
    steps: Vec<Vec<Transition>>,
    /// For each edge, the number of those that differ from it only in what they need.
    alike: Vec<u32>,
    all_alike: IndexSet<Edge, FxBuildHasher>,
    /// How each move ends, by what it looks at.
    known: Vec<Memo<Rc<Ends>>>,
}

/// How a move ends in a state.
#[derive(Debug)]
struct Ends {
    /// The edges that it can take, without those that exist only for settings for which another one exists, too.
    edges: Vec<u32>,
    /// All edges, each with the tail of its decision.
    all: Vec<(u32, Option<u32>)>,
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
            steps: Vec::new(),
            alike: Vec::new(),
            all_alike: IndexSet::default(),
        };
        search.begin(chart);
        search.moves.tree.budget = budget.clone();
        let mut at = 0;
        while at < search.states.len() && search.outgrown().is_none() {
            if at >= caps.states {
                search.cut = Some(Cut::States);
                break;
            }
            search.steps.push(Vec::new());
            for mover in 0..search.moves.all.len() {
                let ends = search.ends_of(mover, at);
                for edge in ends.edges.iter().map(|edge| *edge as usize) {
                    search.follow(at, edge);
                }
            }
            if let Some(cut) = search.moves.tree.budget.cut() {
                // What was seen of this state is not all there is to see.
                search.cut = Some(cut);
                search.steps.pop();
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
                let ends = self.ends_of(mover, from);
                for edge in ends.edges.iter().map(|edge| *edge as usize) {
                    let done = &self.edges[edge].done;
                    let mut fired = done.fired.iter();
                    if done.fault.is_none() && fired.any(|place| places.contains(place)) {
                        found.push(self.step(from, edge));
                    }
                }
            }
        }
        found
    }

    /// Returns, in words, where the search or what followed it was cut off.
    pub(crate) fn cut_in_words(&self) -> Option<String> {
        let cut = self.cut.clone().or_else(|| self.moves.tree.budget.cut());
        cut.map(|cut| cut.in_words(self.looked_at()))
    }

    /// Returns the step on an edge out of a state: back to it, where that changes nothing.
    fn step(&self, from: usize, edge: usize) -> Transition {
        let mut steps = self.steps_from(from).iter();
        let known = steps.find(|step| step.edge == edge);
        let to = known.map_or(from, |step| step.to);
        Transition { from, edge, to }
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

    /// Returns how a move ends in a state.
    fn ends_of(&mut self, mover: usize, at: usize) -> Rc<Ends> {
        if let Some(known) = self.known[mover].get(&self.states[at], &[]) {
            return Rc::clone(&known.value);
        }
        let state = self.states[at].clone();
        let mut looks = Looks::default();
        let endings = self.moves.endings_of(mover, &state, &mut looks).into_iter();
        let all = endings.map(|ending| (self.number(ending.edge), ending.tail));
        let all: Vec<(u32, Option<u32>)> = all.collect();
        let edges = self.widest(&all.iter().map(|(edge, _)| *edge).collect());
        for edge in &edges {
            let examples = &mut self.examples[*edge as usize];
            examples.extend((examples.len() < EXAMPLES).then_some(at));
        }
        let ends = Rc::new(Ends { edges, all });
        self.known[mover].put(&state, &[], &looks, Rc::clone(&ends));
        ends
    }

    /// Returns the tails of the decisions that lead to an edge in a state. Where the edge needs less than one of them, these
    /// parameters have their defaults.
    pub(crate) fn tails(&self, step: Transition) -> impl Iterator<Item = Option<u32>> {
        let edge = &self.edges[step.edge];
        let known = self.known[edge.mover].get(&self.states[step.from], &[]);
        let all = known.into_iter().flat_map(|known| &known.value.all);
        let is_alike = move |own: usize| {
            self.alike[own] == self.alike[step.edge] && self.is_by_default(&self.edges[own], edge)
        };
        all.filter_map(move |(own, tail)| is_alike(*own as usize).then_some(*tail))
    }

    /// Returns whether an edge needs what `wider` needs, and of other parameters nothing but their defaults.
    fn is_by_default(&self, edge: &Edge, wider: &Edge) -> bool {
        let tree = &self.moves.tree;
        edge.needs.iter().all(|need| {
            let (field, set) = *need;
            let default = tree.likely(field, tree.members(set));
            let is_default = || tree.default_of(field) == Some(tree.value(default));
            wider.needs.contains(need)
                || wider.needs.iter().all(|(asked, _)| *asked != field) && is_default()
        })
    }

    /// Returns whether a decision in a state looks at this.
    pub(crate) fn looks_at(&self, state: usize, look: Look) -> bool {
        let known = self.known.iter();
        let mut known = known.filter_map(|known| known.get(&self.states[state], &[]));
        known.any(|known| known.looks.contains(&look))
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
            let any = self.edges[index].without_needs();
            self.alike.push(number(self.all_alike.insert_full(any).0));
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
            examples.map(move |from| (*from, edge))
        });
        let mut steps: Vec<(usize, usize)> = steps.collect();
        steps.sort_unstable();
        let first = steps.iter().take(EXAMPLES);
        first.map(|(from, edge)| self.step(*from, *edge)).collect()
    }

    /// Adds the state that an edge leads to, and the step there, where it changes anything.
    fn follow(&mut self, from: usize, edge: usize) {
        let Edge { done, sets, .. } = &self.edges[edge];
        if done.fault.is_some() {
            return;
        }
        let mut assigned = done.assigned.iter().chain(sets).peekable();
        let writes = assigned.peek().is_some();
        if let Some(cut) = self.moves.tree.bar(assigned) {
            self.cut.get_or_insert(cut);
            return;
        }
        let mut to = from;
        let answered = self.edges[edge].answered;
        if writes || answered.is_some() {
            let tree = &mut self.moves.tree;
            let before = &self.states[from];
            let mut after = before.clone();
            for (field, value) in &done.assigned {
                after.assign(*field, *value);
            }
            if writes {
                after.start();
            }
            let answered = answered.or(before.answered());
            let answered = answered.filter(|(asked, _)| tree.is_current(*asked, after.fields()));
            // While no cycle runs, no rule asks for it.
            let answered = answered.filter(|_| tree.running(&after).is_some());
            after.set_answered(answered);
            to = self.states.insert_full(after).0;
        }
        let step = Transition { from, edge, to };
        if to == self.parents.len() {
            self.parents.push(Some(step));
        }
        if to != from || done.block || done.review.is_some() || !sets.is_empty() {
            self.steps[from].push(step);
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

    /// Returns the steps out of a state that change anything; none where it was not looked at.
    pub(crate) fn steps_from(&self, state: usize) -> &[Transition] {
        self.steps.get(state).map_or(&[], Vec::as_slice)
    }

    /// Returns all steps that change anything.
    pub(crate) fn steps(&self) -> impl Iterator<Item = Transition> {
        self.steps.iter().flatten().copied()
    }

    /// Returns how many states have been looked at.
    pub(crate) fn looked_at(&self) -> usize {
        self.steps.len()
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

    /// Returns the places of the rules that fire on an edge.
    pub(crate) fn fired(&self, edge: &Edge) -> impl DoubleEndedIterator<Item = &String> {
        let places = edge.done.fired.iter();
        places.map(|place| &self.moves.tree.places[*place as usize])
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
