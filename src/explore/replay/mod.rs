//! Whether a counterexample of the model checker can really happen: each step is taken by `decide` in a world of files.
//!
//! What was chosen for a step is laid on a disk in memory, and the sets of files, tables and checks are read back from
//! there. A step is real where that leads to what the search says. A choice that no disk can hold is in no counterexample.

mod checks;
mod claims;
mod lay_out;
mod setting;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::answer::Answer;
use super::decision_tree::Witness;
use super::domain::{Choice, Domain};
use super::imagined_world::Question;
use super::moves::{Edge, Moves};
use super::possible_world::{Disk, PossibleWorld};
use super::report::{Taken, Walk};
use super::search::Search;
use crate::chart::Chart;
use crate::chart::field::default_of;
use crate::chart::model::Field;
use crate::engine::context::Context;
use crate::engine::decide::decide_with;
use crate::engine::decision::{Answer as Reply, Decision, Ended, Outcome, Step};
use crate::engine::evaluator::{Evaluator, InPlace};
use crate::engine::event::Event;
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::engine::world::World;
use crate::reviewer::finding::Found;
use checks::finding;

/// How an instance really stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) context: Context,
    pub(super) started: bool,
    /// The fields of the user that have the value of the context, because no command can have set them otherwise since.
    pub(super) held: BTreeSet<String>,
}

impl Standing {
    /// Returns whether nothing differs but what the user can still set, and what counts on.
    pub(super) fn is_like(&self, other: &Self, domain: &Domain) -> bool {
        let kept = |standing: &Self| {
            let fields = standing.context.iter();
            let is_free =
                |name: &str| domain.parameters.contains_key(name) && !standing.held.contains(name);
            let kept = fields.filter(|(name, _)| !is_free(name));
            kept.map(|(name, value)| (name.clone(), domain.capped(name, value).into_owned()))
                .collect::<Context>()
        };
        self.started == other.started && self.held == other.held && kept(self) == kept(other)
    }
}

/// How an instance really stands in a state, and the step that led to it, where one did.
type Arrival = (Standing, Option<(usize, usize)>);

/// Steps that have been replayed.
#[derive(Debug)]
pub(super) struct Replay {
    chart: Arc<Chart>,
    /// By state; `None` where no counterexample leads there.
    reached: HashMap<usize, Option<Arrival>>,
    /// What lets a list of checks find this many things, where that is possible.
    checks: HashMap<(String, usize), Option<Witness>>,
    /// By state, the arrows that lead to it; made once it is asked for.
    sources: Vec<Vec<(usize, usize)>>,
    left: usize,
    moves: Moves,
    /// By edge, in how many states witnesses of it were looked for, and these witnesses.
    witnesses: HashMap<usize, (usize, Vec<Witness>)>,
    /// What the user has set, as far as a claim says it: fields and values.
    pub(super) set: Vec<(usize, u32)>,
    /// By edge, a witness that is real.
    real: HashMap<usize, Witness>,
    /// How the last step that was real was taken; `None` where nothing was decided in it.
    taken: Option<Taken>,
    /// The fields that commands set under a guard.
    guarded: BTreeSet<String>,
    /// Of these, those that begin with one value only.
    fixed: BTreeSet<String>,
}

/// The most states in which witnesses of one edge are looked for.
const TRIES: usize = 4;

/// The number of walks to one place that are found.
const WALKS: usize = 3;

/// The most decisions that are made to find real witnesses.
const DECISIONS: usize = 20_000;

impl Replay {
    /// Returns a replay in which nothing is replayed yet.
    pub(super) fn of(search: &mut Search) -> Self {
        let chart = Arc::clone(&search.moves.tree.chart);
        let tree = &search.moves.tree;
        let asked = tree
            .questions
            .iter()
            .filter_map(|question| match &**question {
                Question::Choice(choice @ Choice::Findings(name)) => Some((choice, name)),
                _ => None,
            });
        let [guarded, fixed] = Self::guarded(search);
        let mut wanted: Vec<(String, usize, bool)> = Vec::new();
        for (choice, name) in asked {
            // How many there are does not depend on what fields hold, or any of it.
            let values = tree.ground.domain.values(choice, &mut |_| Json::Null);
            let counts = values
                .iter()
                .filter_map(|found| Some(found.as_array()?.len()));
            let most = counts.clone().max();
            // The most stand for all that are more.
            wanted.extend(counts.map(|count| (name.clone(), count, Some(count) == most)));
        }
        let checks = wanted.into_iter().map(|(name, count, or_more)| {
            let found = finding(search, &name, (count, or_more));
            ((name, count), found)
        });
        Self {
            guarded,
            fixed,
            checks: checks.collect(),
            chart,
            reached: HashMap::new(),
            sources: Vec::new(),
            left: DECISIONS,
            moves: search.moves.hand_over(),
            witnesses: HashMap::new(),
            set: Vec::new(),
            real: HashMap::new(),
            taken: None,
        }
    }

    /// Returns how an instance stands in a state; `None` where something of it is not known.
    fn standing(&self, search: &Search, state: usize) -> Option<Standing> {
        let tree = &search.moves.tree;
        let state = search.states.get(state);
        let fields = self.chart.context.keys().zip(state.fields());
        let context = fields.map(|(name, held)| match tree.answer_of(*held) {
            Answer::Value(value) => Some((name.clone(), value.clone())),
            _ => None,
        });
        Some(Standing {
            context: context.collect::<Option<Context>>()?,
            started: state.is_started(),
            held: self.fixed.clone(),
        })
    }

    /// Returns the same, with some value for what is not known: good for steps that do not depend on it.
    fn some_standing(&self, search: &Search, state: usize) -> Standing {
        let tree = &search.moves.tree;
        let state = search.states.get(state);
        let fields = self.chart.context.iter().zip(state.fields());
        let value = |field: &Field, held: &Answer| match held {
            Answer::Value(value) => value.clone(),
            _ => default_of(&self.chart, field),
        };
        Standing {
            context: fields
                .map(|((name, field), held)| (name.clone(), value(field, tree.answer_of(*held))))
                .collect(),
            started: state.is_started(),
            held: self.fixed.clone(),
        }
    }

    /// Returns how an instance really stands in a state; `None` where no counterexample leads there.
    pub(super) fn reach(&mut self, search: &Search, state: usize) -> Option<Standing> {
        // Outermost last: a state is reached by way of others, each of which was found before it.
        let mut open = vec![state];
        while let Some(at) = open.last().copied() {
            if self.reached.contains_key(&at) {
                open.pop();
                continue;
            }
            let Some(parent) = search.parents[at] else {
                let start = self.standing(search, at).map(|standing| (standing, None));
                self.reached.insert(at, start);
                continue;
            };
            if !self.reached.contains_key(&parent.from) {
                open.push(parent.from);
                continue;
            }
            let found = self.arrive(search, at, (parent.from, parent.edge));
            self.reached.insert(at, found);
        }
        self.reached
            .get(&state)?
            .as_ref()
            .map(|(standing, _)| standing.clone())
    }

    fn arrive(&mut self, search: &Search, at: usize, first: (usize, usize)) -> Option<Arrival> {
        if let Some(found) = self.from(search, first) {
            return Some(found);
        }
        if self.sources.is_empty() {
            self.sources = vec![Vec::new(); search.states.len()];
            for state in 0..search.looked_at() {
                for arrow in search.arrows(state) {
                    if arrow.to() != state {
                        self.sources[arrow.to()].push((state, arrow.edge()));
                    }
                }
            }
        }
        let known: Vec<(usize, usize)> = self.sources[at].clone();
        let known = known.into_iter().filter(|step| *step != first).take(24);
        for step in known.collect::<Vec<_>>() {
            // Only by way of what is known already: a state is not reached by way of itself.
            if matches!(self.reached.get(&step.0), Some(Some(_)))
                && let Some(found) = self.from(search, step)
            {
                return Some(found);
            }
        }
        None
    }

    fn from(&mut self, search: &Search, step: (usize, usize)) -> Option<Arrival> {
        let (before, _) = self.reached.get(&step.0)?.clone()?;
        let after = self.step(search, &before, step)?;
        Some((after, Some(step)))
    }

    /// Returns the real way to a state that has been reached.
    pub(super) fn way_to(&self, state: usize) -> Vec<(usize, usize)> {
        let mut way = Vec::new();
        let mut at = state;
        while let Some(Some((_, Some(step)))) = self.reached.get(&at) {
            way.push(*step);
            at = step.0;
        }
        way.reverse();
        way
    }

    /// Returns how an instance stands after a way from how it stands before; `None` where that is not real.
    pub(super) fn follow(
        &mut self,
        search: &Search,
        before: &Standing,
        way: &[(usize, usize)],
    ) -> Option<Standing> {
        way.iter().try_fold(before.clone(), |standing, step| {
            self.step(search, &standing, *step)
        })
    }

    /// Returns the shortest real ways on which the rule at a place fires in the end, or a guard refuses.
    pub(super) fn walks_to(&mut self, search: &Search, place: &str) -> Vec<Walk> {
        self.left = DECISIONS;
        let steps = search.steps_to(place);
        let steps = steps.filter(|(_, edge)| search.edges[*edge].fault.is_none());
        let ways = steps.filter_map(|step| {
            self.reach(search, step.0)?;
            let mut way = self.way_to(step.0);
            way.push(step);
            Some(way)
        });
        let mut ways: Vec<_> = ways.collect();
        ways.sort_by_key(Vec::len);
        let walks = ways.iter().filter_map(|way| self.walk(search, way));
        walks.take(WALKS).collect()
    }

    /// Returns the steps of a way from a first state, as they really happen; `None` where that is not real.
    fn walk(&mut self, search: &Search, way: &[(usize, usize)]) -> Option<Walk> {
        let begins = self.standing(search, way.first()?.0)?;
        let mut standing = begins.clone();
        let mut steps = Vec::new();
        for step in way {
            standing = self.step(search, &standing, *step)?;
            steps.extend(self.taken.take());
        }
        Some(Walk {
            begins: begins.context,
            steps,
        })
    }

    /// Takes one step for real from where the search says that it begins.
    pub(super) fn step_from_state(&mut self, search: &Search, step: (usize, usize)) -> bool {
        let before = self.some_standing(search, step.0);
        self.take(search, &before, step, false).is_some()
    }

    /// Takes one step for real.
    pub(super) fn step(
        &mut self,
        search: &Search,
        before: &Standing,
        step: (usize, usize),
    ) -> Option<Standing> {
        self.take(search, before, step, true)
    }

    /// Takes one step for real, with what was assumed on the way, too, or without.
    fn take(
        &mut self,
        search: &Search,
        before: &Standing,
        (state, edge_number): (usize, usize),
        with_assumed: bool,
    ) -> Option<Standing> {
        let tree = &search.moves.tree;
        let edge = &search.edges[edge_number];
        let mover = &search.moves.all[edge.mover];
        self.taken = None;
        let Some(trigger) = &mover.trigger else {
            return Some(before.clone());
        };
        let (before, config) = self.set_for(search, before, edge)?;
        let known = search.states.get(state).answered();
        let known = known.map(|(question, is_there)| (question, json!(is_there)));
        let mut tried = 0;
        for is_new in [false, true] {
            let witnesses = self.witnesses(search, (state, edge_number), is_new);
            for witness in witnesses.iter().skip(tried) {
                tried += 1;
                if !with_assumed && tree.is_assumed_of_conditions(witness) {
                    continue;
                }
                self.left = self.left.checked_sub(1)?;
                if search.moves.tree.budget.is_exhausted() {
                    return None;
                }
                let chosen = witness
                    .iter()
                    .map(|(question, value)| (*question, tree.value(*value).clone()));
                let chosen: Vec<(u32, Json)> = known.clone().into_iter().chain(chosen).collect();
                let Some((event, mut disk, found)) =
                    self.lay_out(search, trigger, &before.context, &chosen)
                else {
                    continue;
                };
                disk.config.extend(config.clone());
                let decided = self.decide(search, &before, (&event, disk.clone(), found), edge);
                if let Some((after, outcome)) = decided {
                    self.real.insert(edge_number, witness.clone());
                    let fired = edge.fired.iter();
                    self.taken = Some(Taken {
                        fired: fired
                            .map(|place| tree.places[*place as usize].clone())
                            .collect(),
                        event,
                        disk,
                        before: before.context,
                        outcome,
                        after: after.context.clone(),
                    });
                    return Some(after);
                }
            }
        }
        None
    }

    /// Returns the known witnesses of an edge; with `is_new`, also new ones in a state.
    fn witnesses(
        &mut self,
        search: &Search,
        (state, number): (usize, usize),
        with_new: bool,
    ) -> Vec<Witness> {
        let (tries, known) = self.witnesses.entry(number).or_default();
        if with_new && *tries < TRIES {
            *tries += 1;
            let new = self
                .moves
                .witnesses(search.states.get(state), &search.edges[number]);
            for witness in new {
                if !known.contains(&witness) {
                    known.push(witness);
                }
            }
        }
        known.clone()
    }

    /// Returns the names of a decision, which share what the search has compiled.
    fn names(&self, search: &Search, world: &Arc<dyn World>, event: &Event) -> Arc<Names> {
        let expressions = Arc::clone(&search.moves.tree.ground.expressions);
        let evaluator: Arc<dyn Evaluator> = Arc::new(InPlace);
        Names::with(expressions, &self.chart, (world, &evaluator), event)
    }

    fn world(&self, standing: &Standing, disk: Disk) -> Arc<dyn World> {
        Arc::new(PossibleWorld {
            chart: Arc::clone(&self.chart),
            context: standing.context.clone(),
            started: standing.started,
            disk,
        })
    }

    fn decide(
        &self,
        search: &Search,
        before: &Standing,
        (event, disk, found): (&Event, Disk, Found),
        edge: &Edge,
    ) -> Option<(Standing, Option<Outcome>)> {
        let tree = &search.moves.tree;
        let world = self.world(before, disk);
        let names = || self.names(search, &world, event);
        let mut step = decide_with(names(), &event.trigger, None);
        let mut outcome = None;
        if let Ok(Step::Invoke(invocation)) = &step {
            let run = &tree.runs[edge.review? as usize];
            let ended = match &run.outcome {
                Outcome::Ran { verdict, .. } => Outcome::Ran {
                    verdict: verdict.clone(),
                    found,
                },
                other => other.clone(),
            };
            outcome = Some(ended.clone());
            let ended = Ended::new((**invocation).clone(), ended);
            step = decide_with(names(), &event.trigger, Some(ended));
        }
        if let Some(fault) = edge.fault {
            let fault = &tree.faults[fault as usize];
            let is_same = match step {
                Err(found) => place_of(&found) == place_of(fault),
                // A fault in a text for a reviewer is a review that fails.
                Ok(_) => {
                    outcome.is_none()
                        && place_of(fault).is_some_and(|place| place.starts_with("invoke."))
                }
            };
            return is_same.then(|| (before.clone(), outcome));
        }
        let Ok(Step::Done(decision)) = step else {
            return None;
        };
        self.is_as_told(search, &decision, edge).then(|| {
            let mut after = before.clone();
            after.started |= !decision.patch.is_empty();
            after.context.extend(decision.patch);
            (after, outcome)
        })
    }

    fn is_as_told(&self, search: &Search, decision: &Decision, edge: &Edge) -> bool {
        let tree = &search.moves.tree;
        let fired = edge.fired.iter().map(|place| &tree.places[*place as usize]);
        let assigned = edge.assigned.iter().chain(&edge.sets);
        let mut assigned = assigned
            .filter_map(|(field, value)| Some((self.chart.context.get_index(*field)?.0, *value)));
        fired.eq(decision.fired.iter().map(|fired| &fired.place))
            && matches!(decision.answer, Reply::Block(_)) == edge.block
            && assigned.all(|(name, value)| {
                let domain = &tree.ground.domain;
                let patched = decision.patch.get(name);
                *tree.answer_of(value) == Answer::Unknown
                    || patched.is_some_and(|it| *domain.capped(name, it) == *tree.value(value))
            })
    }
}

fn place_of(fault: &Fault) -> Option<&str> {
    match fault {
        Fault::Expression { place, .. }
        | Fault::Assignment { place, .. }
        | Fault::NoCycle { place } => Some(place),
        Fault::NowhereToAdvance { cycle } => Some(cycle),
        Fault::Argument { .. } | Fault::File(_) | Fault::World(_) => None,
    }
}
