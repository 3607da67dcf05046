//! What comes of each part of a decision, evaluated once for each combination of answers that it asks for.
//!
//! The parts are those that `decide` itself is made of: a head, a rule. The questions that a part asks, in
//! their order, make a tree with what comes of it at the leaves. So what a rule does not look at
//! multiplies nothing.

use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::{Value as Json, json};

use super::budget::Budget;
use super::imagined_world::{AS_IT_IS, Asked, Base, Ground, ImaginedWorld, Question};
use super::state::{Looks, StateRef, number};
use crate::chart::{Chart, Cycle};
use crate::engine::context::Context;
use crate::engine::decide::{self, Flow, Part};
use crate::engine::decision::{Answer, Ended, Fired, Gates, Invocation, Step};
use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use crate::files::pattern::{Pattern, is_slug};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Things by their numbers, and numbers by things.
type Numbered<T> = IndexSet<T, FxBuildHasher>;

/// A question and the value that was chosen as its answer, by their numbers.
pub(crate) type Choices = Vec<(u32, u32)>;

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
    /// A property's expression.
    Condition(usize),
    /// Whether a check finds something: by the list and the place in it.
    Check { list: usize, index: usize },
}

/// What comes of one part.
#[derive(Debug)]
pub(crate) enum Leaf {
    Part(Settled),
    Holds(bool),
    Fault(Fault),
}

/// What a part has done, its values by number.
#[derive(Debug)]
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
    pub(crate) swallowed: Option<Fault>,
}

/// How a decision goes on after a part.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Turn {
    On,
    Answered {
        block: bool,
    },
    Invoke(u32),
    /// Nothing comes of it.
    Gone,
}

#[derive(Debug, Clone)]
enum Node {
    Unknown,
    Ask {
        question: u32,
        options: Vec<u32>,
        next: Vec<(u32, u32)>,
    },
    Leaf(Rc<Leaf>),
}

/// All parts of a chart's decisions, as far as they were asked for.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) ground: Arc<Ground>,
    pub(crate) chart: Arc<Chart>,
    pub(crate) values: Numbered<Json>,
    pub(crate) questions: Numbered<Question>,
    /// Where rules stand.
    pub(crate) places: Numbered<String>,
    /// Names of lists of rules.
    pub(crate) lists: Numbered<String>,
    pub(crate) conditions: Numbered<String>,
    pub(crate) invocations: Numbered<Invocation>,
    pub(crate) runs: Numbered<Ended>,
    /// What is left of the time; once nothing is, not all that can come of a part is found.
    pub(super) budget: Budget,
    /// For each context field that a user sets at any time, the question what it holds.
    parameters: Vec<Option<u32>>,
    nodes: Vec<Node>,
    roots: FxHashMap<Segment, u32>,
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
            is_parameter.then(|| number(questions.insert_full(Question::Field(name.clone())).0))
        });
        Self {
            parameters: fields.collect(),
            ground: Arc::new(ground),
            chart: Arc::clone(chart),
            // What a state says of itself must have a number before it is asked for.
            values: [json!(false), json!(true)].into_iter().collect(),
            questions,
            places: Numbered::default(),
            lists: Numbered::default(),
            conditions: Numbered::default(),
            invocations: Numbered::default(),
            runs: Numbered::default(),
            budget: Budget::default(),
            nodes: Vec::new(),
            roots: FxHashMap::default(),
            names: FxHashMap::default(),
            known_names: FxHashMap::default(),
        }
    }

    /// The same tree, with all that is known of the parts; `self` forgets that.
    pub(super) fn hand_over(&mut self) -> Self {
        let nodes = std::mem::take(&mut self.nodes);
        let roots = std::mem::take(&mut self.roots);
        Self {
            nodes,
            roots,
            budget: Budget::default(),
            ..self.clone()
        }
    }

    /// True where something was assumed to come out otherwise than it does.
    pub(crate) fn is_assumed(&self, choices: &[(u32, u32)]) -> bool {
        choices.iter().any(|(question, value)| {
            matches!(self.questions[*question as usize], Question::Assumed { .. })
                && *self.value(*value) != AS_IT_IS
        })
    }

    /// The same of conditions and texts: a field that is assigned what is not known depends on nothing by that.
    pub(crate) fn is_assumed_of_conditions(&self, choices: &[(u32, u32)]) -> bool {
        choices.iter().any(|choice| {
            let value = self.value(choice.1);
            self.is_assumed(&[*choice])
                && (value.is_boolean() || value == "fails" || value == "made")
        })
    }

    /// How much memory it takes up, by estimate.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.len() * 160 + self.values.len() * 200
    }

    /// A value by its number.
    pub(crate) fn value(&self, value: u32) -> &Json {
        &self.values[value as usize]
    }

    pub(crate) fn is_true(&self, value: u32) -> bool {
        *self.value(value) == json!(true)
    }

    /// The number of a value.
    pub(crate) fn value_id(&mut self, value: &Json) -> u32 {
        match self.values.get_index_of(value) {
            Some(index) => number(index),
            None => number(self.values.insert_full(value.clone()).0),
        }
    }

    /// The question what a field holds, where the field is one that a user sets at any time.
    pub(crate) fn parameter(&self, field: usize) -> Option<u32> {
        self.parameters.get(field).copied().flatten()
    }

    /// The number of a context field, or of a setting: these follow, and are in no state.
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        let setting = || {
            let index = self
                .chart
                .config
                .get_index_of(name.strip_prefix("config.")?)?;
            Some(self.chart.context.len() + index)
        };
        self.chart.context.get_index_of(name).or_else(setting)
    }

    /// The name of what a user sets at any time, and its default.
    pub(crate) fn default_of(&self, field: usize) -> Option<(&str, &Json)> {
        let parameters = &self.ground.domain.parameters;
        let (name, values) = parameters
            .iter()
            .find(|(name, _)| self.field(name) == Some(field))?;
        Some((name, values.first()?))
    }

    /// All that can come of a part in a state and with what was chosen before, each with what is chosen on
    /// the way.
    pub(crate) fn walk(
        &mut self,
        segment: Segment,
        trigger: &Trigger,
        state: StateRef<'_>,
        before: &[(u32, u32)],
        looks: &mut Looks,
    ) -> Vec<(Rc<Leaf>, Choices)> {
        let root = match self.roots.get(&segment) {
            Some(root) => *root,
            None => {
                let root = self.unknown();
                self.roots.insert(segment, root);
                root
            }
        };
        let mut ends = Vec::new();
        let mut open = vec![(root, Choices::new())];
        while let Some((at, choices)) = open.pop() {
            if self.budget.is_exhausted() {
                break;
            }
            if matches!(self.nodes[at as usize], Node::Unknown) {
                self.evaluate(segment, root, trigger, state, &[before, &choices].concat());
            }
            let (question, options) = match &self.nodes[at as usize] {
                Node::Unknown => continue,
                Node::Leaf(leaf) => {
                    ends.push((Rc::clone(leaf), choices));
                    continue;
                }
                Node::Ask {
                    question, options, ..
                } => (*question, options),
            };
            let described = match &self.questions[question as usize] {
                Question::Field(_) if !options.is_empty() => {
                    looks.add_question(question);
                    None
                }
                Question::Field(name) => self.field(name).map(|field| {
                    looks.add(field);
                    state.fields()[field]
                }),
                Question::Started => {
                    looks.started = true;
                    self.values
                        .get_index_of(&json!(state.is_started()))
                        .map(number)
                }
                Question::Answered { .. } => {
                    looks.answered = true;
                    let known = state.answered().filter(|(asked, _)| *asked == question);
                    known.and_then(|(_, is_there)| {
                        self.values.get_index_of(&json!(is_there)).map(number)
                    })
                }
                Question::Choice(_) | Question::Assumed { .. } => {
                    looks.add_question(question);
                    None
                }
            };
            let made = || {
                choices
                    .iter()
                    .chain(before)
                    .find(|(asked, _)| *asked == question)
                    .map(|(_, value)| *value)
            };
            match described.or_else(made) {
                Some(value) => {
                    let next = self.next(at, value);
                    open.push((next, choices));
                }
                None => {
                    // Last in, first out: the first option is to be walked first.
                    for option in options.clone().into_iter().rev() {
                        let mut choices = choices.clone();
                        choices.push((question, option));
                        let next = self.next(at, option);
                        open.push((next, choices));
                    }
                }
            }
        }
        ends
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

    /// Evaluates a part, and grows its tree by the path that it took.
    fn evaluate(
        &mut self,
        segment: Segment,
        root: u32,
        trigger: &Trigger,
        state: StateRef<'_>,
        choices: &[(u32, u32)],
    ) {
        let fields = self.chart.context.keys().zip(state.fields());
        let mut context: Context = fields
            .map(|(name, value)| (name.clone(), self.value(*value).clone()))
            .collect();
        let mut answered = Vec::new();
        let mut chosen = Vec::new();
        let mut assumed = Vec::new();
        let mut tell = |question: u32, is_there: bool| {
            if let Question::Answered { answer, review } = &self.questions[question as usize] {
                answered.push((answer.clone(), review.clone(), is_there));
            }
        };
        if let Some((question, is_there)) = state.answered() {
            tell(question, is_there);
        }
        for (question, value) in choices {
            match &self.questions[*question as usize] {
                Question::Choice(choice) => {
                    chosen.push((choice.clone(), self.value(*value).clone()))
                }
                Question::Field(name) => {
                    context.insert(name.clone(), self.value(*value).clone());
                }
                question @ Question::Assumed { .. } => {
                    assumed.push((question.clone(), self.value(*value).clone()))
                }
                _ => tell(*question, self.is_true(*value)),
            }
        }
        let base = Base {
            context,
            started: state.is_started(),
            answered,
        };
        let fork = ImaginedWorld::new(
            &self.ground,
            base,
            trigger,
            chosen,
            assumed,
            format!("{segment:?}"),
        );
        let leaf = self.leaf(segment, trigger, &fork);
        let mut at = root;
        for Asked {
            question,
            options,
            answer,
        } in fork.account()
        {
            let question = number(self.questions.insert_full(question).0);
            let answer = self.value_id(&answer);
            if matches!(self.nodes[at as usize], Node::Unknown) {
                let options: Vec<u32> =
                    options.iter().map(|option| self.value_id(option)).collect();
                self.nodes[at as usize] = Node::Ask {
                    question,
                    options,
                    next: Vec::new(),
                };
            }
            at = self.next(at, answer);
        }
        self.nodes[at as usize] = Node::Leaf(Rc::new(leaf));
    }

    fn leaf(&mut self, segment: Segment, trigger: &Trigger, fork: &ImaginedWorld) -> Leaf {
        let names = fork.names(trigger);
        if let Some(review) = segment.review {
            names.set_review(Arc::new(self.runs[review as usize].clone()));
        }
        let part = match segment.what {
            What::Condition(index) => {
                let holds = names
                    .expressions
                    .holds(&self.conditions[index], &names.root());
                return match holds.map_err(Fault::at("properties")) {
                    Ok(holds) => Leaf::Holds(holds),
                    Err(fault) => Leaf::Fault(fault),
                };
            }
            What::Check { list, index } => {
                let Some((name, checks)) = self.chart.checks.get_index(list) else {
                    return Leaf::Holds(false);
                };
                let mut found = Vec::new();
                return match names
                    .find(&checks[index], &mut found)
                    .map_err(Fault::at(format!("checks.{name}[{index}]")))
                {
                    Ok(()) => Leaf::Holds(!found.is_empty()),
                    Err(fault) => Leaf::Fault(fault),
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
            Err(fault) => Leaf::Fault(fault),
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
                block: matches!(decision.answer, Answer::Block(_)),
            },
            Flow::Leave(Step::Invoke(invocation)) => {
                let invocation = Invocation {
                    argv: Vec::new(),
                    subject: Vec::new(),
                    gates: Gates::default(),
                    ..*invocation
                };
                Turn::Invoke(number(self.invocations.insert_full(invocation).0))
            }
            Flow::Leave(Step::Done(_)) => Turn::Gone,
        };
        let review = decision.ended.map(|mut ended| {
            ended.invocation.subject.clear();
            ended.invocation.argv.clear();
            number(self.runs.insert_full(ended).0)
        });
        let mut settled = Settled {
            turn,
            assigned: Vec::new(),
            fired: Vec::new(),
            advance: None,
            arms: None,
            review,
            swallowed,
        };
        for (name, value) in &decision.patch {
            if let Some(field) = self.field(name) {
                settled.assigned.push((field, self.value_id(value)));
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
        let next = self.field(self.chart.next.as_ref()?)?;
        let due = self.value(state.fields()[next]).as_str()?;
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
    pub(crate) fn fields_of_names(&self, cycle: &Cycle) -> Vec<usize> {
        let holes = |pattern| Pattern::holes(pattern).map(|(hole, _)| hole);
        // The engine fills in these two, even if a field has the same name.
        let own = [&cycle.answer, &cycle.review].into_iter().flat_map(holes);
        let own = own.filter(|hole| !["base", "n"].contains(hole));
        let names = std::iter::once(cycle.count.as_str())
            .chain(holes(&cycle.base))
            .chain(own);
        names.filter_map(|name| self.field(name)).collect()
    }

    /// The question whether the last review of a cycle, as its count says, is answered.
    pub(crate) fn last_answer(&mut self, cycle: usize, fields: &[u32]) -> Option<u32> {
        let count = self.field(&self.chart.cycles[cycle].count)?;
        let n = self.value(fields[count]).as_i64().filter(|n| *n > 0)?;
        self.answer(cycle, n, fields)
    }

    /// The question whether review `n` of a cycle is answered.
    pub(crate) fn answer(&mut self, cycle: usize, n: i64, fields: &[u32]) -> Option<u32> {
        let chart = Arc::clone(&self.chart);
        let made_of = self.fields_of_names(&chart.cycles[cycle]);
        let count = self.value_id(&json!(n));
        let values = made_of
            .iter()
            .enumerate()
            .map(|(index, field)| if index == 0 { count } else { fields[*field] });
        let key = (cycle, n, values.collect::<Vec<u32>>());
        if let Some(known) = self.known_names.get(&key) {
            return *known;
        }
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
            let question = number(
                self.questions
                    .insert_full(Question::Answered { answer, review })
                    .0,
            );
            self.names.insert(
                question,
                made_of.into_iter().zip(key.2.iter().copied()).collect(),
            );
            question
        });
        self.known_names.insert(key, question);
        question
    }
}
