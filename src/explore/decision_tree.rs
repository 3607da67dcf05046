//! The result of each part of a decision, evaluated once for each combination of answers that it asks for.
//!
//! The parts are those that `decide` itself is made of: a head, a rule. The questions that a part asks, in
//! their order, make a tree with the results at its leaves. So what a rule does not look at
//! multiplies nothing.

use std::rc::Rc;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value as Json;

use super::answer::Answer;
use super::budget::{Budget, Cut, LONGEST_TEXT};
use super::imagined_world::{Asked, Base, Ground, ImaginedWorld, Kind, Question, is_of_the_host};
use super::state::{Look, Looks, Memo, StateRef, number};
use crate::chart::{Chart, Cycle};
use crate::engine::context::to_json;
use crate::engine::decide::{self, Flow, Part};
use crate::engine::decision::{Answer as Reply, Ended, Fired, Invocation, Step};
use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::expr::ExprError;
use crate::expr::source::{Literal, Text};
use crate::files::pattern::{Pattern, is_slug};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Things by their numbers, and numbers by things.
type Numbered<T> = IndexSet<T, FxBuildHasher>;

/// Lists of values and their numbers, by their address in memory. They are kept, so no other list can get the same address.
type Lists = FxHashMap<*const Answer, (Arc<[Answer]>, Rc<[u32]>)>;

/// Lists up to this length are numbered each time.
const KEPT: usize = 4;

/// Questions, each with the set of answers that are left to it, by their numbers.
pub(crate) type Choices = Vec<(u32, u32)>;

/// Questions, each with one answer.
pub(crate) type Witness = Vec<(u32, u32)>;

/// All results of a part.
pub(crate) type Ends = Rc<[End]>;

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
    /// An expression that is evaluated by itself; a hook has a session of its own.
    Outcome { index: usize, is_hook: bool },
    /// How many things a check finds: by the list and the place in it.
    Check { list: usize, index: usize },
}

/// The result of one part.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum Leaf {
    Part(Settled),
    /// Of an expression or a check: its value.
    Value(u32),
    /// By its number.
    Fault(u32),
}

/// What a part has done, its values by number.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Settled {
    pub(crate) turn: Turn,
    pub(crate) assigned: Vec<(usize, u32)>,
    /// Places of rules.
    pub(crate) fired: Vec<u32>,
    /// The cycle that it ended, and by which advance target.
    pub(crate) advance: Option<(usize, usize)>,
    /// The cycle that starts over.
    pub(crate) arms: Option<usize>,
    /// The run whose outcome it has made visible.
    pub(crate) review: Option<u32>,
    /// What went wrong where the decision went on all the same.
    pub(crate) swallowed: Option<u32>,
}

/// How a decision goes on after a part.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Turn {
    #[default]
    On,
    Answered {
        block: bool,
    },
    Invoke(u32),
    /// It has no result.
    Gone,
}

#[derive(Debug, Clone)]
enum Node {
    Unknown,
    Ask {
        question: u32,
        options: Rc<[u32]>,
        next: Vec<(u32, u32)>,
    },
    Leaf(u32),
}

/// One way through the tree of a part.
#[derive(Debug, Clone)]
pub(crate) struct End {
    /// Its result, by number.
    pub(crate) leaf: u32,
    /// Questions, the set of answers with which it is taken, and all that could be chosen there.
    choices: Vec<(u32, u32, u32)>,
}

impl End {
    /// What is left to choose on this way, of the questions that it turns on.
    pub(crate) fn choices(&self) -> Choices {
        let choices = self.choices.iter();
        choices
            .map(|(question, set, _)| (*question, *set))
            .collect()
    }
}

/// Ways that differ in the answers to one question only, with these answers and all that there are.
type Groups = IndexMap<(u32, Vec<(u32, u32, u32)>), Option<(Vec<u32>, u32)>, FxBuildHasher>;

/// What a walk through the tree of a part begins with.
struct Walk<'w> {
    segment: Segment,
    place: Arc<str>,
    trigger: &'w Trigger,
    state: StateRef<'w>,
    before: &'w [(u32, u32)],
}

impl Walk<'_> {
    /// The answers that are left to a question.
    fn chosen(&self, made: &[(u32, u32)], question: u32) -> Option<u32> {
        let mut chosen = made.iter().rev().chain(self.before);
        chosen
            .find(|(asked, _)| *asked == question)
            .map(|(_, set)| *set)
    }

    /// All that was chosen, each question once.
    fn all(&self, made: &[(u32, u32)]) -> Choices {
        over(self.before, made)
    }
}

/// What was chosen first, and after it.
pub(super) fn over(first: &[(u32, u32)], then: &[(u32, u32)]) -> Choices {
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

/// The most witnesses that are made from one path.
const EXAMPLES: usize = 8;

/// All parts of a chart's decisions, as far as they were asked for.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) ground: Arc<Ground>,
    pub(crate) chart: Arc<Chart>,
    pub(crate) values: Numbered<Arc<Answer>>,
    lists_of_values: Lists,
    pub(crate) questions: Numbered<Arc<Question>>,
    /// Where rules stand.
    pub(crate) places: Numbered<String>,
    /// Names of lists of rules.
    pub(crate) lists: Numbered<String>,
    pub(crate) expressions: Numbered<(Kind, String)>,
    /// Sets of values, each in order.
    sets: Numbered<Box<[u32]>>,
    pub(crate) leaves: Numbered<Rc<Leaf>>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) invocations: Numbered<Invocation>,
    pub(crate) runs: Numbered<Ended>,
    /// What is left of the time; once nothing is, not all that can come of a part is found.
    pub(super) budget: Budget,
    /// For each context field that a user sets at any time, the question what it holds.
    parameters: Vec<Option<u32>>,
    /// The same for settings, too: the number of the field, and the question.
    settings: Vec<(usize, u32)>,
    /// The fields and settings that questions are about.
    asked: FxHashMap<u32, usize>,
    /// The field that says what is due.
    due: Option<usize>,
    /// For each cycle, the fields that the names of its files are made of, its count first.
    made_of: Vec<Rc<[usize]>>,
    nodes: Vec<Node>,
    /// The first node of each part, and the part in words.
    roots: FxHashMap<Segment, (u32, Arc<str>)>,
    /// The results of parts, by what they look at.
    ends: FxHashMap<Segment, Memo<Ends>>,
    /// The nodes at which a value is not known that the engine needs, and why.
    lost: FxHashMap<u32, String>,
    /// Why nothing can be said of some states, where that is so.
    pub(crate) is_lost: Option<String>,
    /// For each question whether a review is answered, the fields that its file names are made of.
    names: FxHashMap<u32, Vec<(usize, u32)>>,
    known_names: FxHashMap<(usize, i64, Vec<u32>), Option<u32>>,
}

impl Tree {
    pub(crate) fn of(chart: &Arc<Chart>) -> Self {
        let ground = Ground::of(chart);
        let mut questions = Numbered::default();
        let fields = chart.context.keys().map(|name| {
            let is_parameter = ground.domain.parameters.contains_key(name);
            let question = || Arc::new(Question::Field(name.clone()));
            is_parameter.then(|| number(questions.insert_full(question()).0))
        });
        let parameters = fields.collect();
        let settings = ground.domain.parameters.keys().filter_map(|name| {
            let question = Arc::new(Question::Field(name.clone()));
            let question = questions.insert_full(question).0;
            Some((field_of(chart, name)?, number(question)))
        });
        let settings: Vec<(usize, u32)> = settings.collect();
        let asked = settings.iter().map(|(field, question)| (*question, *field));
        let made_of = chart
            .cycles
            .values()
            .map(|cycle| fields_of_names(chart, cycle));
        let due = chart.next.as_ref().and_then(|next| field_of(chart, next));
        Self {
            due,
            made_of: made_of.collect(),
            lists_of_values: Lists::default(),
            asked: asked.collect(),
            settings,
            parameters,
            ground: Arc::new(ground),
            chart: Arc::clone(chart),
            // What a state says of itself must have a number before it is asked for.
            values: [false.into(), true.into()]
                .into_iter()
                .map(Arc::new)
                .collect(),
            questions,
            places: Numbered::default(),
            lists: Numbered::default(),
            expressions: Numbered::default(),
            sets: Numbered::default(),
            leaves: Numbered::default(),
            faults: Vec::new(),
            invocations: Numbered::default(),
            runs: Numbered::default(),
            budget: Budget::default(),
            nodes: Vec::new(),
            roots: FxHashMap::default(),
            ends: FxHashMap::default(),
            lost: FxHashMap::default(),
            is_lost: None,
            names: FxHashMap::default(),
            known_names: FxHashMap::default(),
        }
    }

    /// The same tree, with all that is known of the parts; `self` forgets that.
    pub(super) fn hand_over(&mut self) -> Self {
        let nodes = std::mem::take(&mut self.nodes);
        let roots = std::mem::take(&mut self.roots);
        let ends = std::mem::take(&mut self.ends);
        Self {
            nodes,
            roots,
            ends,
            ..self.clone()
        }
    }

    /// True where an expression is assumed to come to something else than it does.
    fn assumes(&self, question: u32, value: u32) -> bool {
        matches!(self.question(question), Question::Assumed { .. })
            && *self.answer_of(value) != Answer::AsItIs
    }

    /// True where something was assumed to come out otherwise than it does.
    pub(crate) fn is_assumed(&self, choices: &[(u32, u32)]) -> bool {
        choices.iter().any(|(question, set)| {
            let mut values = self.members(*set).iter();
            values.all(|value| self.assumes(*question, *value))
        })
    }

    /// Does the same for a witness.
    pub(crate) fn is_witness_assumed(&self, witness: &[(u32, u32)]) -> bool {
        witness
            .iter()
            .any(|(question, value)| self.assumes(*question, *value))
    }

    /// The same of conditions and texts: a field that is assigned what is not known depends on nothing by that.
    pub(crate) fn is_assumed_of_conditions(&self, witness: &[(u32, u32)]) -> bool {
        witness.iter().any(|(question, number)| {
            let of_field =
                matches!(self.question(*question), Question::Assumed { field, .. } if field.is_some());
            let fails = matches!(self.answer_of(*number), Answer::Fails(_));
            self.assumes(*question, *number) && (!of_field || fails)
        })
    }

    /// The number of a set of values.
    pub(crate) fn set(&mut self, mut values: Vec<u32>) -> u32 {
        values.sort_unstable();
        values.dedup();
        number(self.sets.insert_full(values.into()).0)
    }

    /// The values of a set.
    pub(crate) fn members(&self, set: u32) -> &[u32] {
        &self.sets[set as usize]
    }

    /// The only value of a set.
    pub(crate) fn only(&self, set: u32) -> Option<u32> {
        match self.members(set) {
            [value] => Some(*value),
            _ => None,
        }
    }

    /// Returns some witnesses that these choices allow, those with the fewest assumptions first.
    pub(crate) fn witnesses(&self, choices: &[(u32, u32)]) -> Vec<Witness> {
        let most = choices
            .iter()
            .map(|(_, set)| self.members(*set).len())
            .max();
        let witness = |index: usize| {
            let chosen = choices.iter().map(|(question, set)| {
                let values = self.members(*set);
                let mut own = values.iter();
                let as_it_is = own.find(|value| *self.answer_of(**value) == Answer::AsItIs);
                (
                    *question,
                    *as_it_is.unwrap_or(&values[index % values.len()]),
                )
            });
            chosen.collect()
        };
        (0..most.unwrap_or(1).min(EXAMPLES)).map(witness).collect()
    }

    /// Why the states are not looked at to which these assignments lead.
    pub(crate) fn bar(&self, assigned: &[(usize, u32)]) -> Option<Cut> {
        let far = self.ground.domain.far;
        assigned
            .iter()
            .find_map(|(field, value)| match self.value(*value) {
                Json::String(text) => (text.len() > LONGEST_TEXT).then_some(Cut::Text),
                Json::Number(number) => {
                    let (name, _) = self.chart.context.get_index(*field)?;
                    let is_far = number.as_i64()?.unsigned_abs() > far;
                    is_far.then(|| Cut::Count(name.clone(), far))
                }
                _ => None,
            })
    }

    /// The number of a fault.
    fn fault(&mut self, fault: Fault) -> u32 {
        let known = self.faults.iter().position(|known| *known == fault);
        number(known.unwrap_or_else(|| {
            self.faults.push(fault);
            self.faults.len() - 1
        }))
    }

    /// How much memory it takes up, by estimate.
    pub(super) fn bytes(&self) -> usize {
        let ends = self.ends.values().map(Memo::len).sum::<usize>();
        self.nodes.len() * 160 + self.values.len() * 200 + ends * 60
    }

    /// A question by its number.
    pub(crate) fn question(&self, question: u32) -> &Question {
        &self.questions[question as usize]
    }

    /// An answer by its number.
    pub(crate) fn answer_of(&self, answer: u32) -> &Answer {
        &self.values[answer as usize]
    }

    /// A value by its number; null where nothing is known of it.
    pub(crate) fn value(&self, value: u32) -> &Json {
        self.answer_of(value).value()
    }

    pub(crate) fn is_true(&self, value: u32) -> bool {
        *self.answer_of(value) == true.into()
    }

    /// The number of a value, where it was ever an answer.
    pub(crate) fn known_value(&self, value: &Json) -> Option<u32> {
        let index = self.values.get_index_of(&Answer::Value(value.clone()));
        index.map(number)
    }

    /// The number of an answer.
    pub(crate) fn answer_id(&mut self, answer: &Answer) -> u32 {
        match self.values.get_index_of(answer) {
            Some(index) => number(index),
            None => number(self.values.insert_full(Arc::new(answer.clone())).0),
        }
    }

    /// The numbers of some values.
    fn value_ids(&mut self, values: &Arc<[Answer]>) -> Rc<[u32]> {
        let place = values.as_ptr();
        if let Some((_, known)) = self.lists_of_values.get(&place) {
            return Rc::clone(known);
        }
        let numbers: Rc<[u32]> = values.iter().map(|value| self.answer_id(value)).collect();
        // Short ones are often made for one question only.
        if numbers.len() > KEPT {
            let known = (Arc::clone(values), Rc::clone(&numbers));
            self.lists_of_values.insert(place, known);
        }
        numbers
    }

    /// The question what a field holds, where the field is one that a user sets at any time.
    pub(crate) fn parameter(&self, field: usize) -> Option<u32> {
        self.parameters.get(field).copied().flatten()
    }

    /// Which of these fields was looked at, a bit for each; those beyond the last bit share it.
    pub(crate) fn parameters_in(&self, looks: &Looks) -> u128 {
        let settings = self.settings.iter();
        let looked_at = settings.filter(|(_, question)| looks.has(Look::question(*question)));
        looked_at.fold(0, |bits, (field, _)| bits | 1 << (*field).min(127))
    }

    /// The number of a context field, or of a setting: these follow, and are in no state.
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        field_of(&self.chart, name)
    }

    /// The field or setting that a question is about.
    pub(crate) fn field_asked(&self, question: u32) -> Option<usize> {
        self.asked.get(&question).copied()
    }

    /// The name of what a user sets at any time, and its default.
    pub(crate) fn default_of(&self, field: usize) -> Option<(&str, &Json)> {
        let parameters = &self.ground.domain.parameters;
        let (name, values) = parameters
            .iter()
            .find(|(name, _)| self.field(name) == Some(field))?;
        Some((name, values.first()?))
    }

    /// Of some values of what a user sets at any time, the default, else the first one.
    pub(crate) fn likely(&self, field: usize, set: u32) -> u32 {
        let mut values = self.members(set).iter().copied();
        let default = self.default_of(field).map(|(_, default)| default);
        let found = values
            .clone()
            .find(|value| Some(self.value(*value)) == default);
        found.or_else(|| values.next()).unwrap_or_default()
    }

    /// True where a value is one of a set.
    pub(crate) fn has(&self, set: u32, value: u32) -> bool {
        self.members(set).binary_search(&value).is_ok()
    }

    /// All that can come of a part in a state and with what was chosen before, each with what is left to choose for
    /// that; `looks` is what it turns on.
    pub(crate) fn walk(
        &mut self,
        segment: Segment,
        trigger: &Trigger,
        state: StateRef<'_>,
        before: &[(u32, u32)],
        looks: &mut Looks,
    ) -> Ends {
        if let Some(memo) = self.ends.get(&segment)
            && let Some((ends, own)) = memo.get(state, before)
        {
            looks.add_behind(own, &[]);
            return Rc::clone(ends);
        }
        let (root, place) = match self.roots.get(&segment) {
            Some(root) => root.clone(),
            None => {
                let root = (self.unknown(), format!("{segment:?}").into());
                self.roots.insert(segment, root.clone());
                root
            }
        };
        let walk = Walk {
            segment,
            place,
            trigger,
            state,
            before,
        };
        let mut own = Looks::default();
        let ends: Ends = self
            .descend(&walk, (root, 0), &mut Vec::new(), &mut own)
            .into();
        looks.add_behind(own.all(), &[]);
        if !self.budget.is_exhausted() {
            let memo = self.ends.entry(segment).or_default();
            memo.put(state, before, &own, Rc::clone(&ends));
        }
        ends
    }

    /// True for a part that looks at nothing and does nothing.
    pub(super) fn never_does_anything(&self, segment: Segment) -> bool {
        let ends = self.ends.get(&segment).and_then(Memo::constant);
        ends.is_some_and(|ends| match &ends[..] {
            [End { leaf, choices }] if choices.is_empty() => {
                *self.leaves[*leaf as usize] == Leaf::Part(Settled::default())
            }
            _ => false,
        })
    }

    /// The ways through the tree from a node at this depth on, behind what was chosen on the way there.
    fn descend(
        &mut self,
        walk: &Walk<'_>,
        (at, depth): (u32, usize),
        made: &mut Choices,
        looks: &mut Looks,
    ) -> Vec<End> {
        if self.budget.is_exhausted() {
            return Vec::new();
        }
        if matches!(self.nodes[at as usize], Node::Unknown) {
            self.evaluate(walk, (at, depth), made);
        }
        let (question, options) = match &self.nodes[at as usize] {
            Node::Unknown => return Vec::new(),
            Node::Leaf(leaf) => {
                let leaf = *leaf;
                if let Some(why) = self.lost.get(&at) {
                    self.is_lost.get_or_insert_with(|| why.clone());
                }
                return vec![End {
                    leaf,
                    choices: Vec::new(),
                }];
            }
            Node::Ask {
                question, options, ..
            } => (*question, options),
        };
        let number_of = |answer: bool| self.known_value(&Json::Bool(answer));
        let described = match self.question(question) {
            Question::Field(_) if options.is_empty() => self.field_asked(question).map(|field| {
                looks.add(Look::field(field));
                walk.state.fields()[field]
            }),
            Question::Started => {
                looks.add(Look::STARTED);
                number_of(walk.state.is_started())
            }
            Question::Answered { .. } => {
                looks.add(Look::ANSWERED);
                let known = walk.state.answered();
                let known = known.filter(|(asked, _)| *asked == question);
                known.and_then(|(_, is_there)| number_of(is_there))
            }
            Question::Outcome { kind, source } => {
                let expression = (*kind, source.clone());
                return self.beside(walk, (at, depth, question), expression, made, looks);
            }
            Question::Field(_) | Question::Choice(_) | Question::Assumed { .. } => {
                looks.add(Look::question(question));
                None
            }
        };
        if let Some(value) = described {
            let next = self.next(at, value);
            return self.descend(walk, (next, depth + 1), made, looks);
        }
        let values = match walk.chosen(made, question) {
            Some(set) => self.members(set).to_vec(),
            None => options.to_vec(),
        };
        // Nothing is chosen where a setting is tried at one value.
        let is_fixed = options.len() == 1 && matches!(self.question(question), Question::Field(_));
        let all = self.set(values.clone());
        let mut ends = Vec::new();
        for value in values {
            let one = self.set(vec![value]);
            let next = self.next(at, value);
            made.push((question, one));
            let below = self.descend(walk, (next, depth + 1), made, looks);
            made.pop();
            ends.extend(below.into_iter().map(|mut end| {
                if !is_fixed {
                    end.choices.push((question, one, all));
                    end.choices.sort_unstable();
                }
                end
            }));
        }
        self.merge(ends)
    }

    /// The paths through the tree from a node that asks for the value of an expression.
    fn beside(
        &mut self,
        walk: &Walk<'_>,
        (at, depth, asked): (u32, usize, u32),
        (kind, source): (Kind, String),
        made: &mut Choices,
        looks: &mut Looks,
    ) -> Vec<End> {
        let review = walk.segment.review;
        let review = review.filter(|_| self.ground.looks_at_review(&source));
        let segment = Segment {
            what: self.expression(kind, source, is_of_the_host(walk.trigger)),
            review,
        };
        let before = walk.all(made);
        let mut ends = Vec::new();
        let outcomes = self.walk(segment, walk.trigger, walk.state, &before, looks);
        for outcome in outcomes.iter() {
            let answer = match *self.leaves[outcome.leaf as usize] {
                Leaf::Value(value) => value,
                Leaf::Fault(fault) => self.answer_id(&Answer::Fails(Some(fault))),
                Leaf::Part(_) => continue,
            };
            let next = self.next(at, answer);
            let mark = made.len();
            made.extend(outcome.choices());
            let answer = self.set(vec![answer]);
            made.push((asked, answer));
            let below = self.descend(walk, (next, depth + 1), made, looks);
            made.truncate(mark);
            ends.extend(below.into_iter().map(|mut end| {
                for chosen in &outcome.choices {
                    match end
                        .choices
                        .iter_mut()
                        .find(|(asked, ..)| *asked == chosen.0)
                    {
                        Some(narrower) => narrower.2 = chosen.2,
                        None => end.choices.push(*chosen),
                    }
                }
                end.choices.sort_unstable();
                end
            }));
        }
        self.merge(ends)
    }

    /// Makes one way of those that differ in the answers to one question only.
    fn merge(&mut self, mut ends: Vec<End>) -> Vec<End> {
        loop {
            let count = ends.len();
            let mut leaves: Vec<u32> = ends.iter().map(|end| end.leaf).collect();
            leaves.sort_unstable();
            leaves.dedup();
            // Ways that lead to different leaves differ in more than an answer.
            if leaves.len() == count {
                return ends;
            }
            let asked = ends.iter().flat_map(|end| &end.choices);
            let asked: IndexSet<u32, FxBuildHasher> = asked.map(|(asked, ..)| *asked).collect();
            for question in asked {
                let mut groups: Groups = IndexMap::default();
                for End { leaf, mut choices } in ends {
                    let own = choices.iter().position(|(asked, ..)| *asked == question);
                    let own = own.map(|index| choices.remove(index));
                    let own = own.map(|(_, set, all)| (self.members(set).to_vec(), all));
                    match groups.entry((leaf, choices)) {
                        indexmap::map::Entry::Vacant(entry) => {
                            entry.insert(own);
                        }
                        indexmap::map::Entry::Occupied(mut entry) => {
                            let joined = entry.get_mut().take().zip(own);
                            *entry.get_mut() = joined.map(|((mut values, all), (more, _))| {
                                values.extend(more);
                                (values, all)
                            });
                        }
                    }
                }
                ends = Vec::with_capacity(groups.len());
                for ((leaf, mut choices), own) in groups {
                    if let Some((values, all)) = own {
                        let set = self.set(values);
                        if set != all {
                            choices.push((question, set, all));
                            choices.sort_unstable();
                        }
                    }
                    ends.push(End { leaf, choices });
                }
            }
            if ends.len() == count {
                return ends;
            }
        }
    }

    /// An expression that is evaluated by itself, as a part.
    pub(crate) fn expression(&mut self, kind: Kind, source: String, is_hook: bool) -> What {
        let index = self.expressions.insert_full((kind, source)).0;
        What::Outcome { index, is_hook }
    }

    fn unknown(&mut self) -> u32 {
        self.nodes.push(Node::Unknown);
        number(self.nodes.len() - 1)
    }

    /// The node that an answer leads to.
    fn next(&mut self, at: u32, answer: u32) -> u32 {
        if let Node::Ask { next, .. } = &self.nodes[at as usize]
            && let Some((_, node)) = next.iter().find(|(known, _)| *known == answer)
        {
            return *node;
        }
        let node = self.unknown();
        if let Node::Ask { next, .. } = &mut self.nodes[at as usize] {
            next.push((answer, node));
        }
        node
    }

    /// Evaluates a part, and grows its tree from a node at this depth on by the path that it took.
    fn evaluate(&mut self, walk: &Walk<'_>, (mut at, depth): (u32, usize), made: &[(u32, u32)]) {
        let (segment, state) = (walk.segment, walk.state);
        let shared = |value: u32| Arc::clone(&self.values[value as usize]);
        let fields = state.fields().iter().map(|value| shared(*value));
        let fields = fields.collect();
        let asked = |question: u32| Arc::clone(&self.questions[question as usize]);
        let known = state.answered();
        let known = known.map(|(question, is_there)| (asked(question), Arc::new(is_there.into())));
        // Of what is left, the way to this node takes the first.
        let chosen = walk.all(made).into_iter().filter_map(|(question, left)| {
            let value = self.members(left).first()?;
            Some((asked(question), shared(*value)))
        });
        let answers = known.into_iter().chain(chosen).collect();
        let base = Base {
            fields,
            started: state.is_started(),
        };
        let fork = ImaginedWorld::new(
            &self.ground,
            base,
            walk.trigger,
            answers,
            Some(Arc::clone(&walk.place)),
        );
        let leaf = self.leaf(segment, walk.trigger, &fork);
        let leaf = number(self.leaves.insert_full(Rc::new(leaf)).0);
        // The first questions are those on the way to the node.
        for asked in fork.account().into_iter().skip(depth) {
            let Asked {
                question,
                options,
                answer,
            } = asked;
            let (index, is_new) = match self.questions.get_index_of(&question) {
                Some(known) => (known, false),
                None => self.questions.insert_full(Arc::new(question)),
            };
            let question = number(index);
            if is_new && let Question::Field(name) = &*self.questions[index] {
                self.asked
                    .extend(field_of(&self.chart, name).map(|field| (question, field)));
            }
            let answer = self.answer_id(&answer);
            let options = self.value_ids(&options);
            self.nodes[at as usize] = Node::Ask {
                question,
                options,
                next: Vec::new(),
            };
            at = self.next(at, answer);
        }
        self.nodes[at as usize] = Node::Leaf(leaf);
        self.lost.extend(fork.lost().map(|why| (at, why)));
    }

    fn leaf(&mut self, segment: Segment, trigger: &Trigger, fork: &ImaginedWorld) -> Leaf {
        let names = fork.names(trigger);
        if let Some(review) = segment.review {
            names.set_review(Arc::new(self.runs[review as usize].clone()));
        }
        let part = match segment.what {
            What::Outcome { index, .. } => {
                let (kind, source) = self.expressions[index].clone();
                let apart = match kind {
                    Kind::Condition => fork.condition_of_parts(&source).map(Answer::from),
                    Kind::Value => fork.chosen_value(&source).map(|value| (*value).clone()),
                    Kind::Text => fork.prompt(&source).map(Answer::from),
                    Kind::Items => None,
                };
                return match apart.map_or_else(|| outcome(&names, kind, &source), Ok) {
                    Ok(value) => Leaf::Value(self.answer_id(&value)),
                    Err(error) => Leaf::Fault(self.fault(Fault::at("properties")(error))),
                };
            }
            What::Check { list, index } => {
                let mut found = Vec::new();
                let chart = Arc::clone(&self.chart);
                let Some((name, checks)) = chart.checks.get_index(list) else {
                    return Leaf::Value(self.answer_id(&Answer::Value(0.into())));
                };
                return match names
                    .find(&checks[index], &mut found)
                    .map_err(Fault::at(format!("checks.{name}[{index}]")))
                {
                    Ok(()) => Leaf::Value(self.answer_id(&Answer::Value(found.len().into()))),
                    Err(fault) => Leaf::Fault(self.fault(fault)),
                };
            }
            What::Head(_) => decide::head(names, trigger),
            What::Rule { list, index } => {
                let list = &self.lists[list];
                let rule = &self.chart.on[list][index];
                decide::rule(names, list, index, rule)
            }
        };
        match part {
            Ok(part) => Leaf::Part(self.settle(part)),
            Err(fault) => Leaf::Fault(self.fault(fault)),
        }
    }

    fn settle(&mut self, part: Part) -> Settled {
        let Part {
            flow,
            decision,
            swallowed,
            ..
        } = part;
        let chart = Arc::clone(&self.chart);
        let turn = match flow {
            Flow::On => Turn::On,
            Flow::Answered => Turn::Answered {
                block: matches!(decision.answer, Reply::Block(_)),
            },
            Flow::Leave(Step::Invoke(invocation)) => {
                let request = seen_by_rules(*invocation);
                Turn::Invoke(number(self.invocations.insert_full(request).0))
            }
            Flow::Leave(Step::Done(_)) => Turn::Gone,
        };
        let review = decision.ended.map(|mut ended| {
            ended.invocation = seen_by_rules(ended.invocation);
            number(self.runs.insert_full(ended).0)
        });
        let mut settled = Settled {
            turn,
            assigned: Vec::new(),
            fired: Vec::new(),
            advance: None,
            arms: None,
            review,
            swallowed: swallowed.map(|fault| self.fault(fault)),
        };
        for (name, value) in &decision.patch {
            if let Some(field) = self.field(name) {
                let value = Arc::clone(&self.ground)
                    .domain
                    .capped(name, value)
                    .into_owned();
                let held = Answer::held(value);
                settled.assigned.push((field, self.answer_id(&held)));
            }
        }
        for Fired { place, advance } in decision.fired {
            let phase = place
                .strip_prefix("phases.")
                .and_then(|name| chart.phases.get(name));
            if let Some(cycle) = phase.and_then(|entry| entry.phase.arms.as_ref()) {
                settled.arms = chart.cycles.get_index_of(cycle);
            }
            if let Some((cycle, index)) = advance
                && let Some((at, _, cycle)) = chart.cycles.get_full(&cycle)
            {
                settled.advance = Some((at, index));
                settled.arms = chart.cycles.get_index_of(&cycle.advance[index].target);
            }
            settled.fired.push(number(self.places.insert_full(place).0));
        }
        settled
    }

    // ── the files that answer a review ──

    /// The cycle that runs: the one that is due, or whose answer is.
    pub(crate) fn running(&self, state: StateRef<'_>) -> Option<usize> {
        let due = self.value(state.fields()[self.due?]).as_str()?;
        self.chart
            .cycles
            .values()
            .position(|cycle| cycle.id == due || cycle.post == due)
    }

    /// True while the files that a question is about are those that the fields name.
    pub(crate) fn is_current(&self, question: u32, fields: &[u32]) -> bool {
        let names = self.names.get(&question);
        names.is_some_and(|names| names.iter().all(|(field, value)| fields[*field] == *value))
    }

    /// The context fields that the names of a cycle's files are made of, its count first.
    pub(crate) fn fields_of_names(&self, cycle: usize) -> &Rc<[usize]> {
        &self.made_of[cycle]
    }

    /// The question whether the last review of a cycle, as its count says, is answered.
    pub(crate) fn last_answer(&mut self, cycle: usize, fields: &[u32]) -> Option<u32> {
        let count = self.field(&self.chart.cycles[cycle].count)?;
        let n = self.value(fields[count]).as_i64().filter(|n| *n > 0)?;
        self.answer(cycle, n, fields)
    }

    /// The question whether review `n` of a cycle is answered.
    pub(crate) fn answer(&mut self, cycle: usize, n: i64, fields: &[u32]) -> Option<u32> {
        let made_of = Rc::clone(self.fields_of_names(cycle));
        let count = self.answer_id(&Answer::Value(n.into()));
        let values = made_of
            .iter()
            .enumerate()
            .map(|(index, field)| if index == 0 { count } else { fields[*field] });
        let key = (cycle, n, values.collect::<Vec<u32>>());
        if let Some(known) = self.known_names.get(&key) {
            return *known;
        }
        let chart = Arc::clone(&self.chart);
        let cycle = &chart.cycles[cycle];
        let slug = |hole: &str| -> Result<String, ()> {
            match self.value(fields[self.field(hole).ok_or(())?]) {
                Json::Number(number) => Ok(number.to_string()),
                Json::String(text) if is_slug(text) => Ok(text.clone()),
                _ => Err(()),
            }
        };
        let name = |pattern: &Pattern| {
            pattern.render(|hole| match hole {
                "base" => cycle.base.render(slug),
                "n" => Ok(n.to_string()),
                other => slug(other),
            })
        };
        let names = name(&cycle.answer).and_then(|answer| Ok((answer, name(&cycle.review)?)));
        let question = names.ok().map(|(answer, review)| {
            let question = Arc::new(Question::Answered { answer, review });
            let question = number(self.questions.insert_full(question).0);
            self.names.insert(
                question,
                made_of.iter().copied().zip(key.2.iter().copied()).collect(),
            );
            question
        });
        self.known_names.insert(key, question);
        question
    }
}

/// See [`Tree::fields_of_names`].
fn fields_of_names(chart: &Chart, cycle: &Cycle) -> Rc<[usize]> {
    let holes = |pattern| Pattern::holes(pattern).map(|(hole, _)| hole);
    // The engine fills in these two, even if a field has the same name.
    let own = [&cycle.answer, &cycle.review].into_iter().flat_map(holes);
    let own = own.filter(|hole| !["base", "n"].contains(hole));
    let names = std::iter::once(cycle.count.as_str())
        .chain(holes(&cycle.base))
        .chain(own);
    names.filter_map(|name| field_of(chart, name)).collect()
}

fn field_of(chart: &Chart, name: &str) -> Option<usize> {
    let setting = || {
        let index = chart.config.get_index_of(name.strip_prefix("config.")?)?;
        Some(chart.context.len() + index)
    };
    chart.context.get_index_of(name).or_else(setting)
}

/// Returns of a request what rules see of it once it has run. What only the process gets, such as its arguments and its
/// time limit, leads to no other state.
fn seen_by_rules(invocation: Invocation) -> Invocation {
    let Invocation {
        name,
        cycle,
        n,
        file,
        ..
    } = invocation;
    Invocation {
        name,
        cycle,
        n,
        file,
        ..Invocation::default()
    }
}

/// The value of an expression by itself.
fn outcome(names: &Arc<Names>, kind: Kind, source: &str) -> Result<Answer, ExprError> {
    let (expressions, root) = (&names.expressions, names.root());
    let text = |text: String| expressions.text(&Text(text), &root);
    Ok(match kind {
        Kind::Condition => expressions.holds(source, &root)?.into(),
        Kind::Text => text(source.to_owned()).map(|_| Answer::Made)?,
        Kind::Items => (!expressions.items(source, &root)?.is_empty()).into(),
        Kind::Value => {
            let value = expressions.literal(&Literal::Text(Text(source.to_owned())), &root)?;
            Answer::held(to_json(&value).ok_or_else(|| ExprError::open(source))?)
        }
    })
}
