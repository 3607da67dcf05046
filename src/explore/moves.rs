//! What can happen in a state: the moves of the host, the agent and the user, and the results of each.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::decision_tree::{Choices, Leaf, Segment, Tree, Turn, What, Witness, over};
use super::domain::Choice;
use super::imagined_world::{Kind, Question, is_of_the_host};
use super::plain::plain;
use super::state::{Look, Looks, Memo, Situation, StateRef, number};
use crate::chart::Chart;
use crate::engine::decide::rules_of;
use crate::engine::decision::{Ended, Invocation, Outcome};
use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use crate::reviewer::finding::Found;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The field of a Stop event that says that the agent continues because of a block.
const ACTIVE: &str = "stop_hook_active";

/// Who makes a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Actor {
    /// The host: the agent stops, or something else happens in the session.
    Host,
    Agent,
    User,
}

/// Something that can happen.
#[derive(Debug, Clone)]
pub(crate) struct Move {
    pub(crate) actor: Actor,
    /// What is decided about; `None`: the agent writes the answer to the last review.
    pub(crate) trigger: Option<Trigger>,
}

/// The result of a move.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Edge {
    pub(crate) mover: usize,
    /// What the parameters must be: fields and sets of values.
    pub(crate) needs: Vec<(usize, u32)>,
    /// Parameters and their new values.
    pub(crate) sets: Vec<(usize, u32)>,
    /// Other fields and their new values.
    pub(crate) assigned: Vec<(usize, u32)>,
    /// The question whether a review is answered, where this move answers it.
    pub(crate) answered: Option<(u32, bool)>,
    /// The rules that fire, by their places.
    pub(crate) fired: Vec<u32>,
    /// The advance targets that are taken: (cycle, index).
    pub(crate) advanced: Vec<(usize, usize)>,
    /// The agent is not let go.
    pub(crate) block: bool,
    /// `stop_hook_active`, where it was looked at.
    pub(crate) active: Option<bool>,
    /// The run that ended in the course of the decision.
    pub(crate) review: Option<u32>,
    /// The cycles that start over.
    pub(crate) arms: Vec<usize>,
    /// Why there is no decision.
    pub(crate) fault: Option<u32>,
}

impl Edge {
    /// A move that changes nothing.
    fn of(mover: usize) -> Self {
        Self {
            mover,
            needs: Vec::new(),
            sets: Vec::new(),
            assigned: Vec::new(),
            answered: None,
            fired: Vec::new(),
            advanced: Vec::new(),
            block: false,
            active: None,
            review: None,
            arms: Vec::new(),
            fault: None,
        }
    }
}

/// How a move ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ending {
    /// With a decision, by its tail.
    Decided(u32),
    /// The file that answers a review, by the question about it, is written or deleted.
    Answered(u32, bool),
}

/// A decision between two of its parts: the state as they have made it, and what was chosen.
#[derive(Debug, Clone)]
struct Standing {
    situation: Situation,
    choices: Choices,
}

/// The result of a decision from one of its parts on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Tail {
    end: End,
    assigned: Vec<(usize, u32)>,
    /// What was chosen, where that is part of the outcome; the rest is found again when a witness needs it.
    choices: Choices,
    fired: Vec<u32>,
    advanced: Vec<(usize, usize)>,
    arms: Vec<usize>,
    review: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum End {
    Done { block: bool },
    Fault(u32),
}

impl Tail {
    fn of(end: End) -> Self {
        Self {
            end,
            assigned: Vec::new(),
            choices: Vec::new(),
            fired: Vec::new(),
            advanced: Vec::new(),
            arms: Vec::new(),
            review: None,
        }
    }

    /// This, and after it `rest`.
    fn then(&self, rest: &Self) -> Self {
        let kept = self
            .assigned
            .iter()
            .filter(|(field, _)| rest.assigned.iter().all(|(later, _)| later != field));
        Self {
            end: rest.end,
            assigned: kept.chain(&rest.assigned).copied().collect(),
            choices: over(&self.choices, &rest.choices),
            fired: [self.fired.as_slice(), &rest.fired].concat(),
            advanced: [self.advanced.as_slice(), &rest.advanced].concat(),
            arms: [self.arms.as_slice(), &rest.arms].concat(),
            review: rest.review.or(self.review),
        }
    }
}

/// Tails by their numbers, so that each is made once.
#[derive(Debug)]
struct Tails {
    all: IndexSet<Tail, FxBuildHasher>,
    joined: FxHashMap<(u32, u32), u32>,
}

/// The tail of a decision that has done nothing, which is also the result of a part that does nothing.
const NOTHING: u32 = 0;

impl Default for Tails {
    fn default() -> Self {
        Self {
            all: [Tail::of(End::Done { block: false })].into_iter().collect(),
            joined: FxHashMap::default(),
        }
    }
}

impl Tails {
    fn get(&self, tail: u32) -> &Tail {
        &self.all[tail as usize]
    }

    fn number(&mut self, tail: Tail) -> u32 {
        number(self.all.insert_full(tail).0)
    }

    /// One after the other.
    fn join(&mut self, first: u32, rest: u32) -> u32 {
        if first == NOTHING {
            return rest;
        }
        if let Some(known) = self.joined.get(&(first, rest)) {
            return *known;
        }
        let joined = self.get(first).then(self.get(rest));
        let joined = self.number(joined);
        self.joined.insert((first, rest), joined);
        joined
    }
}

/// One way through a part of a decision.
struct Way {
    tail: u32,
    /// All that was chosen on it.
    choices: Choices,
    /// The part that follows; `None` where the decision ends.
    next: Option<Segment>,
}

/// The most witnesses of one outcome that are looked for, and the most paths that are tried for that.
const STORIES: usize = 3;
const TRIALS: usize = 400;

/// Whether something holds, and what was chosen for that.
pub(crate) type Outcomes = (Result<bool, Fault>, Witness);

/// The rules and targets that came to something.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// Places of rules that fired.
    pub(crate) fired: HashSet<u32>,
    /// Rules whose guard was evaluated: (list, index).
    pub(crate) tried: HashSet<(usize, usize)>,
    /// Advance targets that were taken: (cycle, index).
    pub(crate) advanced: HashSet<(usize, usize)>,
}

/// All moves of a chart.
#[derive(Debug)]
pub(crate) struct Moves {
    pub(crate) tree: Tree,
    pub(crate) all: Vec<Move>,
    pub(crate) coverage: Coverage,
    /// The results of decisions from one part on.
    rests: FxHashMap<Segment, Memo<Rc<[u32]>>>,
    tails: Tails,
}

impl Moves {
    /// The host's moves, then the agent's, then the user's, each in the order of the chart.
    pub(crate) fn of(chart: &Arc<Chart>) -> Self {
        let events = chart
            .on
            .keys()
            .filter(|name| !matches!(name.as_str(), "enter" | "run"))
            .map(|name| Trigger::Hook(name.clone()));
        let (hooks, asked): (Vec<Trigger>, Vec<Trigger>) = events.partition(is_of_the_host);
        let enters = chart.phases.keys().map(|phase| Trigger::Enter {
            phase: phase.clone(),
            force: false,
        });
        let commands = chart
            .commands
            .keys()
            .map(|name| Trigger::Command(name.clone()));
        let by = |actor: Actor| {
            move |trigger: Trigger| Move {
                actor,
                trigger: Some(trigger),
            }
        };
        let answer = |actor: Actor| {
            (!chart.cycles.is_empty()).then_some(Move {
                actor,
                trigger: None,
            })
        };
        let all = hooks
            .into_iter()
            .map(by(Actor::Host))
            .chain(answer(Actor::Agent))
            .chain(asked.into_iter().map(by(Actor::Agent)))
            .chain(enters.map(by(Actor::Agent)))
            .chain(commands.map(by(Actor::User)))
            .chain(answer(Actor::User));
        Self {
            tree: Tree::of(chart),
            all: all.collect(),
            coverage: Coverage::default(),
            rests: FxHashMap::default(),
            tails: Tails::default(),
        }
    }

    /// All that can come of a move in a state, and what it looks at there.
    pub(crate) fn endings_of(
        &mut self,
        mover: usize,
        state: StateRef<'_>,
        looks: &mut Looks,
    ) -> Vec<Ending> {
        match self.all[mover].trigger.clone() {
            Some(trigger) => {
                let (start, standing) = Self::start(mover, state);
                let tails = self.part(start, &trigger, &standing, looks);
                tails.iter().map(|tail| Ending::Decided(*tail)).collect()
            }
            None => self.answer(mover, state, looks).into_iter().collect(),
        }
    }

    /// Returns some witnesses of a move that leads to an edge: those without assumptions, if there are any.
    pub(crate) fn witnesses(&mut self, state: StateRef<'_>, edge: &Edge) -> Vec<Witness> {
        let mut found: Vec<Choices> = Vec::new();
        let mut left = TRIALS;
        for ending in self.endings_of(edge.mover, state, &mut Looks::default()) {
            if self.edge(edge.mover, state, ending) != *edge {
                continue;
            }
            match (ending, self.all[edge.mover].trigger.clone()) {
                (Ending::Decided(tail), Some(trigger)) => {
                    let (start, standing) = Self::start(edge.mover, state);
                    self.trace(start, &trigger, &standing, tail, &mut left, &mut found);
                }
                _ => found.push(Choices::default()),
            }
        }
        // What is known before the move is not chosen.
        let known = state.answered().map(|(question, _)| question);
        for choices in &mut found {
            choices.retain(|(question, _)| Some(*question) != known);
        }
        let tree = &self.tree;
        found.sort_by_key(|choices| tree.is_assumed(choices));
        found.truncate(STORIES);
        found
            .iter()
            .flat_map(|choices| tree.witnesses(choices))
            .collect()
    }

    /// Returns the same moves for finding witnesses, with all known results; `self` forgets those.
    pub(crate) fn hand_over(&mut self) -> Self {
        Self {
            tree: self.tree.hand_over(),
            all: self.all.clone(),
            coverage: Coverage::default(),
            rests: std::mem::take(&mut self.rests),
            tails: std::mem::take(&mut self.tails),
        }
    }

    /// Finds the choices from a part on whose result is a tail.
    fn trace(
        &mut self,
        here: Segment,
        trigger: &Trigger,
        standing: &Standing,
        wanted: u32,
        left: &mut usize,
        found: &mut Vec<Choices>,
    ) {
        let mut ways = self.ways(here, trigger, standing, &mut Looks::default());
        ways.sort_by_key(|way| self.tree.is_assumed(&way.choices));
        for Way {
            tail,
            choices,
            next,
        } in ways
        {
            let is_enough = |choices: &&Choices| !self.tree.is_assumed(choices);
            if *left == 0 || found.iter().filter(is_enough).count() >= STORIES {
                return;
            }
            let Some(next) = next else {
                if tail == wanted {
                    *left = left.saturating_sub(1);
                    let mut all = over(&standing.choices, &choices);
                    // What was chosen at first is part of the situation by now.
                    if let Some((question, is_there)) = standing.situation.as_ref().answered() {
                        let value = self.tree.answer_id(&is_there.into());
                        all.push((question, self.tree.set(vec![value])));
                    }
                    found.push(all);
                }
                continue;
            };
            let after = self.after(standing, tail, &choices);
            let (rest, _) = self.rest(next, trigger, &after);
            for rest in rest.iter() {
                if self.tails.join(tail, *rest) == wanted {
                    self.trace(next, trigger, &after, *rest, left, found);
                }
            }
        }
    }

    /// Whether a condition holds in a state or a check finds something there, under each combination of choices that it
    /// looks at; and what it looked at.
    pub(crate) fn holds(&mut self, what: What, state: StateRef<'_>) -> (Vec<Outcomes>, Looks) {
        let mut looks = Looks::default();
        let segment = Segment { what, review: None };
        let trigger = Trigger::Command(String::new());
        let ends = self.tree.walk(segment, &trigger, state, &[], &mut looks);
        let tree = &self.tree;
        let results = ends.iter().flat_map(|end| {
            let result = match *tree.leaves[end.leaf as usize] {
                Leaf::Value(value) => {
                    Ok(tree.is_true(value) || tree.value(value).as_u64() > Some(0))
                }
                Leaf::Fault(fault) => Err(tree.faults[fault as usize].clone()),
                Leaf::Part(_) => Ok(false),
            };
            let witnesses = tree.witnesses(&end.choices());
            witnesses
                .into_iter()
                .map(move |witness| (result.clone(), witness))
        });
        (results.collect(), looks)
    }

    /// The condition by its number.
    pub(crate) fn condition(&mut self, condition: &str) -> What {
        self.tree
            .expression(Kind::Condition, condition.to_owned(), false)
    }

    /// The agent writes the file that answers the last review of the running cycle, or the user deletes it.
    fn answer(&mut self, mover: usize, state: StateRef<'_>, looks: &mut Looks) -> Option<Ending> {
        let chart = Arc::clone(&self.tree.chart);
        let is_written = self.all[mover].actor == Actor::Agent;
        looks.add(Look::ANSWERED);
        if let Some(next) = chart.next.as_ref().and_then(|next| self.tree.field(next)) {
            looks.add(Look::field(next));
        }
        let cycle = self.tree.running(state)?;
        for field in self.tree.fields_of_names(cycle).iter() {
            looks.add(Look::field(*field));
        }
        match self.tree.last_answer(cycle, state.fields()) {
            Some(question) if is_written != (state.answered() == Some((question, true))) => {
                Some(Ending::Answered(question, is_written))
            }
            _ => None,
        }
    }

    // ── a decision, part by part, as `decide` takes it ──

    /// The first part of a decision, and how it stands there.
    fn start(mover: usize, state: StateRef<'_>) -> (Segment, Standing) {
        let standing = Standing {
            situation: state.to_situation(),
            choices: Vec::new(),
        };
        let head = Segment {
            what: What::Head(mover),
            review: None,
        };
        (head, standing)
    }

    /// The part behind another; `None` behind the last one.
    fn next(&mut self, here: Segment, trigger: &Trigger) -> Option<Segment> {
        let (name, rules) = rules_of(&self.tree.chart, trigger);
        let count = rules.len();
        let (list, index) = match here.what {
            What::Rule { list, index } => (list, index + 1),
            _ => match self.tree.lists.get_index_of(name) {
                Some(list) => (list, 0),
                None => (self.tree.lists.insert_full(name.to_owned()).0, 0),
            },
        };
        let what = What::Rule { list, index };
        (index < count).then_some(Segment { what, ..here })
    }

    /// The result of a decision from a part on, and what it looks at.
    fn rest(
        &mut self,
        here: Segment,
        trigger: &Trigger,
        standing: &Standing,
    ) -> (Rc<[u32]>, Rc<[Look]>) {
        let mut here = here;
        while self.tree.never_does_anything(here) {
            match self.next(here, trigger) {
                Some(next) => here = next,
                None => return (Rc::new([NOTHING]), Rc::new([])),
            }
        }
        let state = standing.situation.as_ref();
        let known = self.rests.get(&here);
        if let Some((tails, looks)) = known.and_then(|rest| rest.get(state, &standing.choices)) {
            return (Rc::clone(tails), Rc::clone(looks));
        }
        let mut looks = Looks::default();
        let tails = self.part(here, trigger, standing, &mut looks);
        let rest = self.rests.entry(here).or_default();
        let looks = rest.put(state, &standing.choices, &looks, Rc::clone(&tails));
        (tails, looks)
    }

    /// The result of one part, and of those that follow it if none has answered.
    fn part(
        &mut self,
        here: Segment,
        trigger: &Trigger,
        standing: &Standing,
        looks: &mut Looks,
    ) -> Rc<[u32]> {
        let ways = self.ways(here, trigger, standing, looks);
        let mut all: IndexSet<u32, FxBuildHasher> = IndexSet::default();
        for Way {
            tail,
            choices,
            next,
        } in &ways
        {
            let Some(next) = next else {
                all.insert(*tail);
                continue;
            };
            let after = self.after(standing, *tail, choices);
            let (rest, seen) = self.rest(*next, trigger, &after);
            // What this part has itself assigned or chosen was not there before it.
            let mut made: Vec<Look> = (choices.iter())
                .map(|(question, _)| Look::question(*question))
                .collect();
            for (field, _) in &self.tails.get(*tail).assigned {
                made.push(Look::field(*field));
                made.extend(self.tree.parameter(*field).map(Look::question));
            }
            looks.add_behind(&seen, &made);
            if ways.len() == 1 && *tail == NOTHING {
                return rest;
            }
            for rest in rest.iter() {
                all.insert(self.tails.join(*tail, *rest));
            }
        }
        all.into_iter().collect()
    }

    /// The ways through one part.
    fn ways(
        &mut self,
        here: Segment,
        trigger: &Trigger,
        standing: &Standing,
        looks: &mut Looks,
    ) -> Vec<Way> {
        if let What::Rule { list, index } = here.what {
            self.coverage.tried.insert((list, index));
        }
        let state = standing.situation.as_ref();
        let ends = self
            .tree
            .walk(here, trigger, state, &standing.choices, looks);
        let next = self.next(here, trigger);
        let mut ways = Vec::new();
        for end in ends.iter() {
            let choices = end.choices();
            let leaf = Rc::clone(&self.tree.leaves[end.leaf as usize]);
            let part = match leaf.as_ref() {
                Leaf::Part(part) => part,
                Leaf::Value(_) => continue,
                Leaf::Fault(fault) => {
                    // The command reports the option and changes nothing.
                    if let Fault::Argument { .. } = self.tree.faults[*fault as usize] {
                        continue;
                    }
                    let end = End::Fault(*fault);
                    let tail = Tail {
                        choices: self.kept(&choices),
                        ..Tail::of(end)
                    };
                    let tail = self.tails.number(tail);
                    ways.push(Way {
                        tail,
                        choices,
                        next: None,
                    });
                    continue;
                }
            };
            self.coverage.fired.extend(&part.fired);
            self.coverage.advanced.extend(part.advance);
            let first = Tail {
                end: End::Done {
                    block: matches!(part.turn, Turn::Answered { block: true }),
                },
                assigned: part.assigned.clone(),
                choices: self.kept(&choices),
                fired: part.fired.clone(),
                advanced: part.advance.into_iter().collect(),
                arms: part.arms.into_iter().collect(),
                review: part.review,
            };
            if let Some(fault) = part.swallowed {
                let end = End::Fault(fault);
                let tail = self.tails.number(first.then(&Tail::of(end)));
                ways.push(Way {
                    tail,
                    choices: choices.clone(),
                    next: None,
                });
            }
            let mut go_on = |moves: &mut Self, first: Tail, is_over: bool, choices: Choices| {
                let review = first.review.or(here.review);
                let next = next.filter(|_| !is_over);
                ways.push(Way {
                    tail: moves.tails.number(first),
                    choices,
                    next: next.map(|next| Segment { review, ..next }),
                });
            };
            match part.turn {
                Turn::Gone => {}
                Turn::Answered { .. } => go_on(self, first, true, choices),
                Turn::On => go_on(self, first, false, choices),
                // The second call of `decide` takes the parts so far as the first one did: it is the same world.
                // So it is taken up behind the rule that invokes, once for each way in which the run can end.
                Turn::Invoke(invocation) => {
                    let place = self.place_of(here);
                    for run in self.endings(invocation) {
                        let mut first = first.clone();
                        first.fired.extend(place);
                        first.review = Some(run);
                        go_on(self, first, false, choices.clone());
                    }
                }
            }
        }
        ways
    }

    /// Of what was chosen, what is part of the outcome.
    fn kept(&self, choices: &[(u32, u32)]) -> Choices {
        let matters = |(question, _): &&(u32, u32)| match self.tree.question(*question) {
            Question::Field(_) | Question::Answered { .. } => true,
            Question::Choice(Choice::Event(name)) => name == ACTIVE,
            _ => false,
        };
        choices.iter().filter(matters).copied().collect()
    }

    /// How a decision stands once a part has been taken.
    fn after(&mut self, standing: &Standing, tail: u32, choices: &[(u32, u32)]) -> Standing {
        let mut after = Standing {
            situation: standing.situation.clone(),
            choices: over(&standing.choices, choices),
        };
        for (question, set) in choices {
            if let Some(value) = self.tree.only(*set)
                && self.is_about_an_answer(*question, standing.situation.as_ref().fields())
            {
                // From here on it is known.
                let known = (*question, self.tree.is_true(value));
                after.situation.set_answered(Some(known));
                after.choices.retain(|(asked, _)| asked != question);
            }
        }
        for (field, value) in &self.tails.get(tail).assigned {
            match self.tree.parameter(*field) {
                Some(question) => {
                    after.choices.retain(|(asked, _)| *asked != question);
                    after.choices.push((question, self.tree.set(vec![*value])));
                }
                None => after.situation.assign(*field, *value),
            }
        }
        after
    }

    /// True for the question whether the last review of some cycle is answered.
    fn is_about_an_answer(&mut self, question: u32, fields: &[u32]) -> bool {
        if !matches!(self.tree.question(question), Question::Answered { .. }) {
            return false;
        }
        (0..self.tree.chart.cycles.len())
            .any(|cycle| self.tree.last_answer(cycle, fields) == Some(question))
    }

    /// Where the rule of a segment stands, which then counts as one that fires.
    fn place_of(&mut self, segment: Segment) -> Option<u32> {
        let What::Rule { list, index } = segment.what else {
            return None;
        };
        let place = format!("on.{}[{index}]", self.tree.lists[list]);
        let place = number(self.tree.places.insert_full(place).0);
        self.coverage.fired.insert(place);
        Some(place)
    }

    /// The ways in which a run can end: each verdict, none, failed. Or a gate fails, as often as a rule may ask for.
    fn endings(&mut self, invocation: u32) -> Vec<u32> {
        let invocation = self.tree.invocations[invocation as usize].clone();
        let invoke = self.tree.chart.invoke.get(&invocation.name);
        let verdicts = invoke
            .map(|invoke| invoke.verdicts.clone())
            .unwrap_or_default();
        let ran = verdicts.into_iter().map(Some).chain([None]);
        // What it found is asked where a rule looks at it.
        let ran = ran.map(|verdict| Outcome::Ran {
            verdict,
            found: Found::default(),
        });
        let own = ran.chain([Outcome::Failed("it failed".to_owned())]);
        let own = own.map(|outcome| Ended::new(invocation.clone(), outcome));
        // After a gate that fails, no rule sees which review was not started.
        let unseen = Invocation {
            cycle: invocation.cycle.clone(),
            ..Invocation::default()
        };
        let gates = self.tree.ground.domain.gate().map(Outcome::Gate);
        let gates = gates.map(|outcome| Ended::new(unseen.clone(), outcome));
        let ended: Vec<Ended> = own.chain(gates).collect();
        let runs = ended.into_iter();
        runs.map(|ended| number(self.tree.runs.insert_full(ended).0))
            .collect()
    }

    /// The tail of an ending that is the same edge in every state.
    pub(crate) fn plain_tail(&self, ending: &Ending) -> Option<u32> {
        let Ending::Decided(number) = *ending else {
            return None;
        };
        let tail = self.tails.get(number);
        let is_about_an_answer = |(question, _): &(u32, u32)| {
            matches!(self.tree.question(*question), Question::Answered { .. })
        };
        let is_plain = tail.review.is_none() && !tail.choices.iter().any(is_about_an_answer);
        is_plain.then_some(number)
    }

    /// The result of a move with this end.
    pub(crate) fn edge(&mut self, mover: usize, state: StateRef<'_>, ending: Ending) -> Edge {
        let tail = match ending {
            Ending::Decided(tail) => self.tails.get(tail).clone(),
            Ending::Answered(question, is_written) => {
                return Edge {
                    answered: Some((question, is_written)),
                    ..Edge::of(mover)
                };
            }
        };
        let mut answered = None;
        let mut active = None;
        let mut needs = Vec::new();
        for (question, set) in &tail.choices {
            let only = self.tree.only(*set).map(|value| self.tree.is_true(value));
            if let Some(field) = self.tree.field_asked(*question) {
                needs.push((field, *set));
            } else if self.is_about_an_answer(*question, state.fields()) {
                answered = only.map(|is_there| (*question, is_there));
            } else if matches!(self.tree.question(*question), Question::Choice(Choice::Event(name)) if name == ACTIVE)
            {
                active = only;
            }
        }
        // A review that has just been written has no answer yet.
        if let Some(review) = tail.review
            && let Ended {
                invocation,
                outcome: Outcome::Ran { .. },
                ..
            } = &self.tree.runs[review as usize]
            && let Some(cycle) = self.tree.chart.cycles.get_index_of(&invocation.cycle)
        {
            let n = invocation.n;
            answered = self
                .tree
                .answer(cycle, n, state.fields())
                .map(|question| (question, false));
        }
        let all = tail.assigned.iter().copied();
        let (mut sets, mut assigned): (Vec<_>, Vec<_>) =
            all.partition(|(field, _)| self.tree.parameter(*field).is_some());
        sets.sort_unstable();
        assigned.sort_unstable();
        needs.sort_unstable();
        Edge {
            mover,
            needs,
            sets,
            assigned,
            answered,
            fired: tail.fired,
            advanced: tail.advanced,
            block: tail.end == End::Done { block: true },
            active,
            review: tail.review,
            arms: tail.arms,
            fault: match tail.end {
                End::Fault(fault) => Some(fault),
                End::Done { .. } => None,
            },
        }
    }

    /// What was tried, one line for each input and each kind of move.
    pub(crate) fn domain_in_words(&self) -> Vec<String> {
        let chart = &self.tree.chart;
        let ground = &self.tree.ground;
        let list = |values: &[Json]| values.iter().map(plain).collect::<Vec<_>>().join(", ");
        let parameters = ground.domain.parameters.iter();
        let mut lines: Vec<String> = parameters
            .map(|(name, values)| format!("{name}: {}, set by the user at any time", list(values)))
            .collect();
        let asked = self
            .tree
            .questions
            .iter()
            .filter_map(|question| match &**question {
                Question::Choice(choice) => Some(choice.clone()),
                _ => None,
            });
        let choices: IndexSet<Choice> = asked.collect();
        lines.extend(choices.iter().map(|choice| ground.domain.in_words(choice)));
        for (name, invoke) in &chart.invoke {
            lines.push(format!(
                "{name}: {}, no verdict, failed",
                invoke.verdicts.join(", ")
            ));
        }
        let times: Vec<String> = (ground.domain.gate())
            .map(|gate| gate.times.to_string())
            .collect();
        if !times.is_empty() {
            let times = times.join(", ");
            lines.push(format!("gates: all pass, one fails ({times} in a row)"));
        }
        let hooks: Vec<&str> = self
            .all
            .iter()
            .filter_map(|one| match &one.trigger {
                Some(Trigger::Hook(name)) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        lines.push(format!("events: {}", hooks.join(", ")));
        let answers = if chart.cycles.is_empty() {
            ""
        } else {
            ", writes the answer to a review or does not"
        };
        lines.push(format!(
            "the agent: enters any phase whose guard holds{answers}, does nothing and stops again"
        ));
        if !chart.commands.is_empty() {
            let commands: Vec<&str> = chart.commands.keys().map(String::as_str).collect();
            lines.push(format!("the user: runs {}", commands.join(", ")));
        }
        lines.push("files and tables: chosen again at every event".to_owned());
        lines
    }
}
