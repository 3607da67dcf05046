//! Every state that the conditions of a chart allow, breadth first, and the steps between them.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::decide::{Decider, Way};
use super::evaluate::{Answers, Course, Done, LAST_FIELD, Outcome, Path, STARTED};
use super::limits::Limits;
use super::term::{FALSE, TRUE, Term};
use crate::chart::Chart;
use crate::engine::context;
use crate::engine::event::Trigger;
use crate::host::events::is_event;

/// The most states in which an instance can begin.
const BEGINNINGS: usize = 10_000;

/// What an instance is like between two events.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) fields: Rc<Vec<Term>>,
    /// It is written.
    pub(super) started: bool,
}

/// Who makes an event happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Actor {
    Host,
    Agent,
    User,
}

/// A step: the state before it and behind it, the event by its number, and the way that it goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) event: usize,
    pub(super) way: usize,
}

/// What is known by the values of some fields: for each set of fields that was looked at, by their values.
struct Memo<T>(Vec<(u128, FxHashMap<Vec<Term>, T>)>);

/// The states of a chart, as far as they were looked at.
pub(super) struct Search {
    pub(super) chart: Arc<Chart>,
    pub(super) decider: Decider,
    pub(super) events: Vec<(Trigger, Actor)>,
    pub(super) states: IndexSet<State, FxBuildHasher>,
    /// How many of the states are those in which an instance begins.
    pub(super) beginnings: usize,
    /// How many of the states were looked at.
    pub(super) looked_at: usize,
    pub(super) ways: Vec<Way>,
    pub(super) steps: Vec<Step>,
    /// The ways on which an event fails, each with a step to it.
    pub(super) failures: Vec<Step>,
    memo: Vec<Memo<Rc<[usize]>>>,
    limits: Limits,
    begun: Instant,
    /// What was not looked at.
    pub(super) cut: Option<String>,
}

impl<T: Clone> Memo<T> {
    fn key(looked: u128, state: &State) -> impl Iterator<Item = Term> {
        let fields = state.fields.iter().enumerate();
        let fields = fields.filter(move |(at, _)| looked >> (*at).min(LAST_FIELD) & 1 == 1);
        let started = if state.started { TRUE } else { FALSE };
        let started = (looked >> STARTED & 1 == 1).then_some(started);
        fields.map(|(_, value)| *value).chain(started)
    }

    fn get(&self, state: &State) -> Option<T> {
        let mut key = Vec::with_capacity(state.fields.len() + 1);
        self.0.iter().find_map(|(looked, known)| {
            key.clear();
            key.extend(Self::key(*looked, state));
            known.get(&key).cloned()
        })
    }

    fn insert(&mut self, looked: u128, state: &State, value: T) {
        let at = self.0.iter().position(|(known, _)| *known == looked);
        let at = at.unwrap_or_else(|| {
            self.0.push((looked, FxHashMap::default()));
            self.0.len() - 1
        });
        self.0[at].1.insert(Self::key(looked, state).collect(), value);
    }
}

impl Search {
    pub(super) fn of(chart: &Arc<Chart>, limits: &Limits) -> Self {
        let hooks = chart.on.keys().filter(|name| !matches!(name.as_str(), "enter" | "run"));
        let hooks = hooks.map(|name| {
            let actor = if is_event(name) { Actor::Host } else { Actor::Agent };
            (Trigger::Hook(name.clone()), actor)
        });
        let enter = |phase| (Trigger::Enter { phase, force: false }, Actor::Agent);
        let enters = chart.phases.keys().cloned().map(enter);
        let run = |name| (Trigger::Command(name), Actor::User);
        let commands = chart.commands.keys().cloned().map(run);
        let events: Vec<_> = hooks.chain(enters).chain(commands).collect();
        let mut search = Self {
            chart: Arc::clone(chart),
            decider: Decider::of(chart),
            memo: events.iter().map(|_| Memo(Vec::new())).collect(),
            events,
            states: IndexSet::default(),
            beginnings: 0,
            looked_at: 0,
            ways: Vec::new(),
            steps: Vec::new(),
            failures: Vec::new(),
            limits: limits.clone(),
            begun: Instant::now(),
            cut: None,
        };
        search.begin();
        search.run();
        search
    }

    /// Finds the states in which an instance begins: what a setting gives a field can be anything small.
    fn begin(&mut self) {
        let chart = Arc::clone(&self.chart);
        let program = &mut self.decider.program;
        let mut all: Vec<Vec<Term>> = vec![Vec::new()];
        for ((_, field), value) in chart.context.iter().zip(context::initial(&chart).into_values())
        {
            let setting = field.setting().and_then(|name| chart.config.get(name));
            let values = match setting {
                None => vec![program.terms.known(value)],
                Some(setting) => program.values(setting),
            };
            let with = |begun: &Vec<Term>| {
                let with = |value: &Term| [begun.as_slice(), &[*value]].concat();
                values.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
            if all.len() > BEGINNINGS {
                all.truncate(BEGINNINGS);
                self.cut = Some("not every combination of settings was tried".to_owned());
            }
        }
        self.beginnings = all.len();
        self.states.extend(
            all.into_iter().map(|fields| State { fields: Rc::new(fields), started: false }),
        );
    }

    /// Returns why the work ends here, if it does.
    pub(super) fn is_up(&self) -> Option<&'static str> {
        self.limits.is_up(self.begun)
    }

    fn run(&mut self) {
        while self.looked_at < self.states.len() {
            let most = self.limits.states;
            if self.looked_at >= most {
                self.cut =
                    Some(format!("only the first {most} states were looked at (--max-states)"));
                break;
            }
            if let Some(why) = self.is_up() {
                self.cut = Some(format!("{why} after {} states", self.looked_at));
                break;
            }
            let from = self.looked_at;
            let state = self.states[from].clone();
            for event in 0..self.events.len() {
                for way in self.ways_of(event, &state).iter() {
                    self.follow(from, &state, event, *way);
                }
            }
            self.looked_at += 1;
        }
        if let Some(event) = &self.decider.cut {
            let why = format!("not every way was followed that `{event}` can go");
            self.cut.get_or_insert(why);
        }
    }

    /// Adds the step that an event makes on one of its ways, if it changes anything.
    fn follow(&mut self, from: usize, state: &State, event: usize, way: usize) {
        let done = &self.ways[way].0;
        let step = Step { from, to: from, event, way };
        if done.failure.is_some() {
            if self.failures.iter().all(|known| known.way != way) {
                self.failures.push(step);
            }
            return;
        }
        let mut after = state.clone();
        if done.assigned.iter().any(|(field, value)| after.fields[*field] != *value) {
            let fields = Rc::make_mut(&mut after.fields);
            done.assigned.iter().for_each(|(field, value)| fields[*field] = *value);
        }
        after.started |= !done.assigned.is_empty();
        let matters = after != *state || done.blocks || done.review.is_some();
        if matters {
            let (to, _) = self.states.insert_full(after);
            self.steps.push(Step { to, ..step });
        }
    }

    /// Returns the ways that an event can go in a state.
    pub(super) fn ways_of(&mut self, event: usize, state: &State) -> Rc<[usize]> {
        if let Some(known) = self.memo[event].get(state) {
            return known;
        }
        let trigger = self.events[event].0.clone();
        let course = Course::new(&state.fields, state.started);
        let (ways, looked) = self.decider.ways(&trigger, course);
        let first = self.ways.len();
        self.ways.extend(ways);
        let ways: Rc<[usize]> = (first..self.ways.len()).collect();
        self.memo[event].insert(looked, state, Rc::clone(&ways));
        ways
    }

    pub(super) fn done(&self, step: &Step) -> &Done {
        &self.ways[step.way].0
    }

    pub(super) fn actor(&self, step: &Step) -> Actor {
        self.events[step.event].1
    }

    /// Returns the places at which rules fire in a step.
    pub(super) fn fired(&self, step: &Step) -> impl DoubleEndedIterator<Item = &str> {
        let places = &self.decider.places;
        let fired = self.done(step).fired.iter();
        fired.filter_map(|place| places.get_index(*place)).map(String::as_str)
    }

    /// Returns the value of a field in a state.
    pub(super) fn value(&self, state: usize, field: Option<usize>) -> &serde_json::Value {
        let term = field.map(|field| self.states[state].fields[field]);
        let value = term.and_then(|term| self.decider.program.terms.value(term));
        value.unwrap_or(&serde_json::Value::Null)
    }

    pub(super) fn phase(&self, state: usize) -> &str {
        let field = self.chart.context.get_index_of(&self.chart.state);
        self.value(state, field).as_str().unwrap_or_default()
    }

    /// Returns for each state in turn what is found on a path there, perhaps after a review: the first thing.
    pub(super) fn in_states<T: Clone>(
        &mut self,
        after: Option<Outcome>,
        mut find: impl FnMut(&mut Path<'_>) -> Option<T>,
    ) -> impl Iterator<Item = Option<T>> {
        let mut memo = Memo(Vec::new());
        (0..self.looked_at).map(move |at| {
            let state = self.states[at].clone();
            let known = memo.get(&state);
            known.unwrap_or_else(|| {
                let (found, looked) = self.on_paths(&state, &after, &mut find);
                memo.insert(looked, &state, found.clone());
                found
            })
        })
    }

    /// Returns what is found on a path in a state, and the fields on which that depends.
    fn on_paths<T>(
        &mut self,
        state: &State,
        after: &Option<Outcome>,
        mut find: impl FnMut(&mut Path<'_>) -> Option<T>,
    ) -> (Option<T>, u128) {
        let review = after.clone().map(|outcome| (0, outcome, 1));
        let done = Rc::new(Done { review, ..Done::default() });
        let course = Course { done, ..Course::new(&state.fields, state.started) };
        let (mut answers, mut looked) = (Answers::default(), 0);
        loop {
            let mut path = Path::new(&mut self.decider.program, course.clone(), &mut answers);
            let found = find(&mut path);
            looked |= path.looked;
            if found.is_some() || !answers.next() {
                return (found, looked);
            }
        }
    }

    /// Returns whether this can be so in some state, perhaps after a review.
    pub(super) fn can_be(&mut self, mut is_so: impl FnMut(&mut Path<'_>) -> Option<bool>) -> bool {
        let outcomes = self.decider.program.outcomes().into_iter().map(Some);
        let has_none = self.chart.reviewers.is_empty();
        let reviews = outcomes.filter(|_| !has_none);
        std::iter::once(None).chain(reviews).any(|after| {
            self.in_states(after, |path| is_so(path).filter(|is_so| *is_so)).any(|it| it.is_some())
        })
    }
}
