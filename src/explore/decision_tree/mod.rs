//! The result of each part of a decision, evaluated once for each combination of answers that it asks for.
//!
//! The parts are those that `decide` itself is made of: a head, a rule. The questions that a part asks, in
//! their order, make a tree with the results at its leaves. So what a rule does not look at
//! multiplies nothing.

mod evaluate;
mod review_files;
mod walk;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::answer::Answer;
use super::budget::{Budget, Cut};
use super::domain::{Domain, config_path, field_of};
use super::imagined_world::Question;
use super::state::{Chosen, Memo, Situation, number};
use crate::chart::uses::read_by_the_engine;
use crate::chart::{Chart, Cycle};
use crate::engine::decision::Ended;
use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use crate::files::pattern::Pattern;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Things by their numbers, and numbers by things.
type Numbered<T> = IndexSet<T, FxBuildHasher>;

/// Questions, each with the set of answers that are left to it.
pub(crate) type Choices = Vec<Chosen>;

/// Questions, each with one answer.
pub(crate) type Witness = Vec<Chosen>;

/// All results of a part.
pub(crate) type Branches = Rc<[Branch]>;

/// A part of a decision, with the runs that it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Segment {
    pub(crate) what: What,
    /// The run whose outcome is visible.
    pub(crate) review: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// By the move.
    Head(usize),
    /// By the list and the place in it.
    Rule { list: usize, index: usize },
    /// An expression that is evaluated by itself, by the question for it; a hook has a session of its own.
    Outcome { question: u32, is_hook: bool },
    /// How many things a check finds: by the list and the place in it.
    Check { list: usize, index: usize },
}

/// A part of a decision that is to be taken: the state as the parts before it have made it, and what was chosen.
#[derive(Debug)]
pub(crate) struct Progress<'t> {
    pub(crate) segment: Segment,
    pub(crate) trigger: &'t Trigger,
    pub(crate) state: Situation,
    pub(crate) choices: Choices,
}

impl<'t> Progress<'t> {
    /// Returns the beginning of a decision in a state: a part that sees no run.
    pub(crate) fn of(what: What, trigger: &'t Trigger, state: &Situation) -> Self {
        Self {
            segment: Segment { what, review: None },
            trigger,
            state: state.clone(),
            choices: Choices::new(),
        }
    }
}

/// The result of one part.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum Leaf {
    /// The ways in which the decision can go on.
    Part(Vec<Exit>),
    /// Of an expression or a check: its value, or why it has none.
    Value(u32),
}

/// What a part has done, and how the decision goes on.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Exit {
    pub(crate) tail: Tail,
    pub(crate) turn: Turn,
}

impl Exit {
    /// Returns the end of a decision that fails once it has done this.
    fn failed(tail: Tail, fault: u32) -> Self {
        let tail = Tail { block: false, fault: Some(fault), ..tail };
        let turn = Turn::Ended;
        Self { tail, turn }
    }
}

/// What a decision does, from one of its parts on; the values by number.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Tail {
    /// The agent is not let go.
    pub(crate) block: bool,
    /// Why there is no decision.
    pub(crate) fault: Option<u32>,
    pub(crate) assigned: Vec<(usize, u32)>,
    /// What was chosen, where that is part of the outcome; the rest is found again when a witness needs it.
    pub(crate) choices: Choices,
    /// Places of rules.
    pub(crate) fired: Vec<u32>,
    pub(crate) advanced: Vec<Target>,
    /// The cycles that start over.
    pub(crate) arms: Vec<usize>,
    /// The run whose outcome it has made visible.
    pub(crate) review: Option<u32>,
}

/// An advance target of a cycle that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub(crate) cycle: usize,
    pub(crate) index: usize,
}

/// How a decision goes on after a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Turn {
    On,
    Ended,
    /// It has no result.
    Gone,
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    Unknown,
    Ask { question: u32, options: Rc<[u32]> },
    Leaf(u32),
}

/// A path through the tree of a part.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Branch {
    /// Its result, by number.
    pub(crate) leaf: u32,
    /// In order.
    forks: Vec<Fork>,
}

/// A question on a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Fork {
    question: u32,
    /// The set of answers with which the way is taken.
    taken: u32,
    /// All that could be chosen there: none where that is one answer, which is then part of each way.
    all: u32,
}

impl Branch {
    /// Returns what is left to choose on this way, of the questions that it turns on.
    pub(crate) fn choices(&self) -> Choices {
        let forks = self.forks.iter();
        forks.map(|fork| (fork.question, fork.taken)).collect()
    }
}

/// Returns what was chosen first, and after it.
pub(super) fn over(first: &[Chosen], then: &[Chosen]) -> Choices {
    let mut all = Vec::with_capacity(first.len() + then.len());
    all.extend_from_slice(first);
    for (question, set) in then {
        match all.iter_mut().find(|(asked, _)| asked == question) {
            Some(known) => known.1 = *set,
            None => all.push((*question, *set)),
        }
    }
    all
}

/// All parts of a chart's decisions, as far as they were asked for.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) domain: Arc<Domain>,
    pub(crate) chart: Arc<Chart>,
    pub(crate) values: Numbered<Arc<Answer>>,
    pub(crate) questions: Numbered<Arc<Question>>,
    /// Where rules stand.
    pub(crate) places: Numbered<String>,
    /// The parts that assume something, each for itself.
    parts: Numbered<What>,
    /// Sets of values, each in order.
    sets: Numbered<Box<[u32]>>,
    pub(crate) leaves: Numbered<Rc<Leaf>>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) runs: Numbered<Ended>,
    /// What is left of the time; once nothing is, not all results of a part are found.
    pub(super) budget: Budget,
    /// The field that says what is due.
    pub(crate) due: Option<usize>,
    /// For each cycle, the fields that the names of its files are made of, its count first.
    pub(crate) fields_of_names: Vec<Rc<[usize]>>,
    pub(super) nodes: Vec<Node>,
    /// Where an answer leads from a node.
    next: FxHashMap<(u32, u32), u32>,
    /// The first node of each part.
    roots: FxHashMap<Segment, u32>,
    /// The results of parts, by what they look at.
    ends: FxHashMap<Segment, Memo<Branches>>,
    /// The fields that the engine reads.
    pub(super) needed: BTreeSet<String>,
    /// Whether a review is answered, as questions: by its cycle, its number and what the names of its files are made of.
    known_names: FxHashMap<(usize, i64, Vec<u32>), Option<u32>>,
}

impl Tree {
    /// Returns a tree in which nothing is evaluated yet.
    pub(crate) fn of(chart: &Arc<Chart>, grown: &BTreeSet<String>) -> Self {
        let domain = Domain::of(chart, grown);
        // What a user sets at any time is asked for by the first questions.
        let parameters = domain.parameters.keys();
        let questions = parameters.map(|field| Arc::new(Question::Field(*field)));
        let questions = questions.collect();
        let cycles = chart.cycles.values();
        let fields_of_names = cycles.map(|cycle| fields_of_names(chart, cycle)).collect();
        let known = [false, true].map(|it| Arc::new(it.into()));
        let needed = read_by_the_engine(chart).into_iter();
        let due = chart.next.as_ref().and_then(|next| field_of(chart, next));
        Self {
            due,
            fields_of_names,
            domain: Arc::new(domain),
            chart: Arc::clone(chart),
            // What a state says of itself must have a number before it is asked for.
            values: known.into_iter().collect(),
            questions,
            places: Numbered::default(),
            parts: Numbered::default(),
            sets: Numbered::default(),
            leaves: Numbered::default(),
            faults: Vec::new(),
            runs: Numbered::default(),
            budget: Budget::default(),
            nodes: Vec::new(),
            next: FxHashMap::default(),
            roots: FxHashMap::default(),
            ends: FxHashMap::default(),
            needed: needed.map(str::to_owned).collect(),
            known_names: FxHashMap::default(),
        }
    }

    /// Returns the same tree, with all that is known of the parts; `self` forgets that.
    pub(super) fn hand_over(&mut self) -> Self {
        Self {
            nodes: std::mem::take(&mut self.nodes),
            next: std::mem::take(&mut self.next),
            roots: std::mem::take(&mut self.roots),
            ends: std::mem::take(&mut self.ends),
            ..self.clone()
        }
    }

    /// Returns the number of a set of values.
    pub(crate) fn set(&mut self, mut values: Vec<u32>) -> u32 {
        values.sort_unstable();
        values.dedup();
        number(self.sets.insert_full(values.into()).0)
    }

    /// Returns the values of a set.
    pub(crate) fn members(&self, set: u32) -> &[u32] {
        &self.sets[set as usize]
    }

    /// Returns the only value of a set.
    pub(crate) fn only(&self, set: u32) -> Option<u32> {
        match self.members(set) {
            [value] => Some(*value),
            _ => None,
        }
    }

    /// Returns why the states are not looked at to which these assignments lead.
    pub(crate) fn bar<'a>(
        &self,
        assigned: impl IntoIterator<Item = &'a (usize, u32)>,
    ) -> Option<Cut> {
        let domain = &self.domain;
        assigned.into_iter().find_map(|(field, value)| {
            let (name, _) = self.chart.context.get_index(*field)?;
            match self.answer_of(*value) {
                Answer::Unknown if self.needed.contains(name) => {
                    let mut sources = self.chart.assigns().filter_map(|it| it.get(name)?.text());
                    let source = sources.find(|it| !domain.untried_by(it.as_ref()).is_empty());
                    let source = source.map_or("?", AsRef::as_ref).to_owned();
                    Some(Cut::Unknown { field: name.clone(), source })
                }
                Answer::Value(value) if domain.is_beyond(value) => Some(Cut::Grown(name.clone())),
                _ => None,
            }
        })
    }

    /// Returns the number of a fault.
    fn fault(&mut self, fault: Fault) -> u32 {
        let known = self.faults.iter().position(|known| *known == fault);
        number(known.unwrap_or_else(|| {
            self.faults.push(fault);
            self.faults.len() - 1
        }))
    }

    /// Returns a question by its number.
    pub(crate) fn question(&self, question: u32) -> &Question {
        &self.questions[question as usize]
    }

    /// Returns an answer by its number.
    pub(crate) fn answer_of(&self, answer: u32) -> &Answer {
        &self.values[answer as usize]
    }

    /// Returns a value by its number; null where nothing is known of it.
    pub(crate) fn value(&self, value: u32) -> &Json {
        self.answer_of(value).value()
    }

    /// Returns the number of an answer.
    pub(crate) fn answer_id(&mut self, answer: &Answer) -> u32 {
        match self.values.get_index_of(answer) {
            Some(index) => number(index),
            None => number(self.values.insert_full(Arc::new(answer.clone())).0),
        }
    }

    /// Returns the question what a field holds, where the field is one that a user sets at any time.
    pub(crate) fn parameter(&self, field: usize) -> Option<u32> {
        let question = self.domain.parameters.get_index_of(&field)?;
        (field < self.chart.context.len()).then(|| number(question))
    }

    /// Returns whether the guard of a rule was evaluated.
    pub(crate) fn has_tried(&self, list: usize, index: usize) -> bool {
        let rule = What::Rule { list, index };
        self.roots.keys().any(|part| part.what == rule)
    }

    /// Returns the number of a context field, or of a setting: these follow, and are in no state.
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        field_of(&self.chart, name)
    }

    /// Returns the field or setting that a question is about.
    pub(crate) fn field_asked(&self, question: u32) -> Option<usize> {
        match self.question(question) {
            Question::Field(field) => Some(*field),
            _ => None,
        }
    }

    /// Returns the name of a field, or the whole name of a setting.
    pub(crate) fn name_of(&self, field: usize) -> String {
        let (context, config) = (&self.chart.context, &self.chart.config);
        let setting = || config.get_index(field - context.len());
        let setting = || setting().map(|(name, _)| config_path(name));
        let own = context.get_index(field).map(|(name, _)| name.clone());
        own.or_else(setting).unwrap_or_default()
    }

    /// Returns its default.
    pub(crate) fn default_of(&self, field: usize) -> Option<&Json> {
        let values = self.domain.parameters.get(&field)?;
        values.first().map(Answer::value)
    }

    /// Returns, of some values of what a user sets at any time, the default, else the first one.
    pub(crate) fn likely(&self, field: usize, values: &[u32]) -> u32 {
        let default = self.default_of(field);
        let mut found = values.iter();
        let found = found.find(|value| Some(self.value(**value)) == default);
        found.or(values.first()).copied().unwrap_or_default()
    }

    /// Returns true where a value is one of a set.
    pub(crate) fn has(&self, set: u32, value: u32) -> bool {
        self.members(set).binary_search(&value).is_ok()
    }
}

/// Returns the context fields that the names of a cycle's files are made of, its count first.
fn fields_of_names(chart: &Chart, cycle: &Cycle) -> Rc<[usize]> {
    let holes = |pattern| Pattern::holes(pattern).map(|(hole, _)| hole);
    // The engine fills in these two, even if a field has the same name.
    let own = [&cycle.answer, &cycle.review].into_iter().flat_map(holes);
    let own = own.filter(|hole| !["base", "n"].contains(hole));
    let count = std::iter::once(cycle.count.as_str());
    let names = count.chain(holes(&cycle.base)).chain(own);
    names.filter_map(|name| field_of(chart, name)).collect()
}
