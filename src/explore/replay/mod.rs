//! Whether a counterexample of the model checker can really happen: each step is taken by `decide` in a world of files.
//!
//! What was chosen for a step is laid on a disk in memory, and the sets of files, tables and checks are read back from
//! there. A step is real where that leads to what the search says. A choice that no disk can hold is in no counterexample.

mod claims;
mod counterexample;
mod guesses;
mod lay_out;
mod setting;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::{Map, Value as Json};

use super::answer::Answer;
use super::decision_tree::Witness;
use super::domain::Domain;
use super::graph::{Backward, Path, back_from};
use super::moves::{Edge, Moves, Setting};
use super::search::{Search, Transition};
use crate::chart::Chart;
use crate::chart::field::default_of;
use crate::chart::model::Field;
use crate::engine::context::Context;
use crate::engine::decide::decide_with;
use crate::engine::decision::{Answer as Reply, Decision, Ended, Outcome, Step};
use crate::engine::evaluator::{Evaluator, InPlace};
use crate::engine::event::Event;
use crate::engine::names::Names;
use crate::engine::possible_world::{Disk, PossibleWorld};
use crate::engine::world::World;
use crate::reviewer::finding::Found;

/// How an instance really stands.
#[derive(Debug, Clone)]
pub(super) struct Position {
    pub(super) context: Context,
    pub(super) started: bool,
    /// The settings that the user has made, as far as the last step looks at them.
    pub(super) config: Map<String, Json>,
    /// The fields of the user that have the value of the context, because no command can have set them otherwise since.
    pub(super) held: BTreeSet<String>,
}

impl Position {
    /// Returns whether nothing differs but what the user can still set, and what counts on.
    pub(super) fn is_like(&self, other: &Self, domain: &Domain) -> bool {
        let kept = |position: &Self| {
            let fields = position.context.iter();
            let is_free =
                |name: &str| domain.parameter(name).is_some() && !position.held.contains(name);
            let kept = fields.filter(|(name, _)| !is_free(name));
            kept.map(|(name, value)| (name.clone(), domain.capped(name, value).into_owned()))
                .collect::<Context>()
        };
        self.started == other.started && self.held == other.held && kept(self) == kept(other)
    }
}

/// What a step begins with: an event, a disk, and what the review finds that it starts.
pub(super) struct Scene {
    pub(super) event: Event,
    pub(super) disk: Disk,
    pub(super) found: Found,
}

/// How a step was taken.
#[derive(Debug)]
struct Taken {
    /// The rules that fired, by their places.
    fired: Vec<String>,
    /// The state before it, with what the user has set.
    before: Context,
    config: Map<String, Json>,
}

/// Steps that have been replayed.
#[derive(Debug)]
pub(super) struct Replay<'s> {
    pub(super) search: &'s Search,
    chart: Arc<Chart>,
    /// How an instance really stands, by state; `None` where no counterexample leads there.
    reached: HashMap<usize, Option<Position>>,
    /// The step that really led to a state, where one did.
    arrivals: HashMap<usize, Transition>,
    /// What lets a list of checks find this many things, where that is possible.
    checks: HashMap<(String, usize), Option<Witness>>,
    back: &'s Backward,
    left: usize,
    moves: Moves,
    /// By edge, in how many states witnesses of it were looked for, and these witnesses.
    witnesses: HashMap<usize, (usize, IndexSet<Witness>)>,
    /// Of steps that begin where something is not known, whether they depend on nothing of that.
    sure: HashMap<Transition, bool>,
    /// What the user has set, as far as a claim says it.
    pub(super) set: Vec<Setting>,
    /// How the last step that was real was taken; `None` where nothing was decided in it.
    taken: Option<Taken>,
    /// What was chosen for it.
    chosen: Witness,
    /// The fields that commands set under a guard.
    guarded: BTreeSet<String>,
}

/// The most states in which witnesses of one edge are looked for.
const TRIES: usize = 4;

/// The most decisions that are made to find real witnesses.
const DECISIONS: usize = 20_000;

impl<'s> Replay<'s> {
    /// Returns a replay in which nothing is replayed yet.
    pub(super) fn of(search: &'s mut Search, back: &'s Backward) -> Self {
        Self {
            guarded: Self::guarded(search),
            checks: HashMap::new(),
            chart: Arc::clone(&search.moves.tree.chart),
            reached: HashMap::new(),
            arrivals: HashMap::new(),
            back,
            left: DECISIONS,
            moves: search.moves.hand_over(),
            search,
            witnesses: HashMap::new(),
            sure: HashMap::new(),
            set: Vec::new(),
            taken: None,
            chosen: Witness::new(),
        }
    }

    /// Returns how an instance stands in a state; `None` where something of it is not known.
    fn position(&self, state: usize) -> Option<Position> {
        self.is_known(state).then(|| self.some_position(state))
    }

    /// Returns whether everything is known of a state.
    fn is_known(&self, state: usize) -> bool {
        let mut fields = self.search.states[state].fields().iter();
        let tree = &self.search.moves.tree;
        fields.all(|held| matches!(tree.answer_of(*held), Answer::Value(_)))
    }

    /// Returns the same, with some value for what is not known: good for steps that do not depend on it.
    fn some_position(&self, state: usize) -> Position {
        let tree = &self.search.moves.tree;
        let state = &self.search.states[state];
        let fields = self.chart.context.iter().zip(state.fields());
        let value = |field: &Field, held: &Answer| match held {
            Answer::Value(value) => value.clone(),
            _ => default_of(&self.chart, field),
        };
        let begins_as_set = |name: &&String| self.chart.context[*name].setting().is_some();
        let held = self.guarded.iter().filter(|name| !begins_as_set(name));
        Position {
            held: held.cloned().collect(),
            context: fields
                .map(|((name, field), held)| (name.clone(), value(field, tree.answer_of(*held))))
                .collect(),
            started: state.is_started(),
            config: Map::new(),
        }
    }

    /// Returns how an instance really stands in a state; `None` where no counterexample leads there.
    pub(super) fn reach(&mut self, state: usize) -> Option<Position> {
        let parents = &self.search.parents;
        let way = std::iter::successors(Some(state), |at| parents[*at].map(|step| step.from));
        let way = way.take_while(|at| !self.reached.contains_key(at));
        let way: Vec<usize> = way.collect();
        // A state is reached by way of others, each of which was found before it.
        for at in way.into_iter().rev() {
            let found = match parents[at] {
                Some(parent) => self.arrive(at, parent),
                None => self.position(at),
            };
            self.reached.insert(at, found);
        }
        self.reached.get(&state)?.clone()
    }

    /// Returns how a state is really reached: by this step, else by another.
    fn arrive(&mut self, at: usize, first: Transition) -> Option<Position> {
        let others = self.back.sources(at);
        let others = others.filter(|step| step.from != at && *step != first);
        // Only by way of what is known already: a state is not reached by way of itself.
        let mut steps = std::iter::once(first).chain(others.take(24));
        steps.find_map(|step| {
            let before = self.reached.get(&step.from)?.clone()?;
            let position = self.step(&before, step)?;
            self.arrivals.insert(at, step);
            Some(position)
        })
    }

    /// Returns the real path to a state that has been reached.
    pub(super) fn path_to(&self, state: usize) -> Path {
        back_from(state, |at| self.arrivals.get(&at).copied())
    }

    /// Returns how an instance stands after a path from how it stands before; `None` where that is not real.
    pub(super) fn follow(&mut self, before: &Position, path: &[Transition]) -> Option<Position> {
        path.iter().try_fold(before.clone(), |position, step| self.step(&position, *step))
    }

    /// Takes one step for real from where the search says that it begins.
    pub(super) fn step_from_state(&mut self, step: Transition) -> bool {
        let before = self.some_position(step.from);
        self.take(&before, step, false).is_some()
    }

    /// Returns whether a step depends on nothing that is not known where it begins, wherever else it is real.
    pub(super) fn is_sure(&mut self, step: Transition) -> bool {
        if self.is_known(step.from) {
            return true;
        }
        let edge = &self.search.edges[step.edge];
        *self.sure.entry(step).or_insert_with(|| {
            let (state, tails) = (&self.search.states[step.from], self.search.tails(step));
            let own = self.moves.witnesses(edge.mover, state, tails);
            let tree = &self.moves.tree;
            !own.iter().all(|own| tree.is_assumed_of_conditions(own))
        })
    }

    /// Takes one step for real.
    pub(super) fn step(&mut self, before: &Position, step: Transition) -> Option<Position> {
        self.take(before, step, true)
    }

    /// Takes one step for real, with what was assumed on the way, too, or without.
    fn take(&mut self, before: &Position, at: Transition, with_assumed: bool) -> Option<Position> {
        let tree = &self.search.moves.tree;
        let edge = &self.search.edges[at.edge];
        self.taken = None;
        if self.search.moves.all[edge.mover].trigger.is_none() {
            return Some(before.clone());
        }
        let before = self.set_for(before, edge)?;
        let mut tried = 0;
        for is_new in [false, true] {
            let witnesses = self.witnesses(at, is_new);
            for witness in witnesses.iter().skip(tried) {
                tried += 1;
                if !with_assumed && tree.is_assumed_of_conditions(witness) {
                    continue;
                }
                self.left = self.left.checked_sub(1)?;
                if tree.budget.is_exhausted() {
                    return None;
                }
                let after = self.decide(&before, at, witness);
                if after.is_some() {
                    return after;
                }
            }
        }
        None
    }

    /// Returns the known witnesses of an edge; with `with_new`, also new ones in the state before it.
    fn witnesses(&mut self, step: Transition, with_new: bool) -> Vec<Witness> {
        let (tries, known) = self.witnesses.entry(step.edge).or_default();
        if with_new && *tries < TRIES {
            *tries += 1;
            let (state, tails) = (&self.search.states[step.from], self.search.tails(step));
            let mover = self.search.edges[step.edge].mover;
            known.extend(self.moves.witnesses(mover, state, tails));
        }
        known.iter().cloned().collect()
    }

    /// Returns the names of a decision where an instance stands like this, which share what the search has compiled.
    fn names(&self, position: &Position, disk: Disk, event: &Event) -> Arc<Names> {
        let world: Arc<dyn World> = Arc::new(PossibleWorld {
            chart: Arc::clone(&self.chart),
            context: position.context.clone(),
            started: position.started,
            disk,
        });
        let expressions = Arc::clone(&self.search.moves.tree.domain.expressions);
        let evaluator: Arc<dyn Evaluator> = Arc::new(InPlace);
        Names::with(expressions, &self.chart, (&world, &evaluator), event)
    }

    /// Returns how an instance stands after what the hook decides on a scene where this was chosen, where that is what the
    /// search says.
    fn decide(&mut self, before: &Position, at: Transition, chosen: &Witness) -> Option<Position> {
        let search = self.search;
        let edge = &search.edges[at.edge];
        let trigger = search.moves.all[edge.mover].trigger.as_ref()?;
        let known = search.states[at.from].answered();
        let all: Witness = known.iter().chain(chosen).copied().collect();
        let Scene { event, disk, found } = self.scene(trigger, before, &all)?;
        let names = || self.names(before, disk.clone(), &event);
        let mut step = decide_with(names(), &event.trigger, None);
        if let Ok(Step::Invoke(invocation)) = &step {
            let ended = match &search.run(edge)?.outcome {
                Outcome::Ran { verdict, .. } => {
                    Outcome::Ran { verdict: verdict.clone(), found: found.clone() }
                }
                other => other.clone(),
            };
            let ended = Ended::new((**invocation).clone(), ended);
            step = decide_with(names(), &event.trigger, Some(ended));
        }
        let mut after = before.clone();
        if let Some(fault) = edge.done.fault {
            let fault = &search.moves.tree.faults[fault as usize];
            let found = match step {
                Err(found) => found,
                // With a fault in a text for a reviewer, it is a review that fails.
                Ok(Step::Done(decision)) => decision.swallowed?,
                Ok(Step::Invoke(_)) => return None,
            };
            (found.place() == fault.place()).then_some(())?;
        } else {
            let Ok(Step::Done(decision)) = step else {
                return None;
            };
            self.is_as_predicted(&decision, edge).then_some(())?;
            after.started |= !decision.patch.is_empty();
            after.context.extend(decision.patch);
        }
        self.chosen.clone_from(chosen);
        self.taken = Some(Taken {
            fired: search.fired(edge).cloned().collect(),
            before: before.context.clone(),
            config: disk.config,
        });
        Some(after)
    }

    /// Returns whether a decision is the transition that the search says it is.
    fn is_as_predicted(&self, decision: &Decision, edge: &Edge) -> bool {
        let tree = &self.search.moves.tree;
        let assigned = edge.done.assigned.iter().chain(&edge.sets);
        let mut assigned = assigned
            .filter_map(|(field, value)| Some((self.chart.context.get_index(*field)?.0, *value)));
        let fired = self.search.fired(edge);
        fired.eq(decision.fired.iter().map(|fired| &fired.place))
            && matches!(decision.answer, Reply::Block(_)) == edge.done.block
            && assigned.all(|(name, value)| {
                let domain = &tree.domain;
                let patched = decision.patch.get(name);
                *tree.answer_of(value) == Answer::Unknown
                    || patched.is_some_and(|it| *domain.capped(name, it) == *tree.value(value))
            })
    }
}
