//! What comes of each move in each situation, by the very parts that `decide` is made of.
//!
//! A decision is taken part by part: its head, then each rule. A part is evaluated once for each
//! combination of answers that it asks for; the answers make a tree with what comes of the part at its
//! leaves. So what a rule does not look at multiplies nothing.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::{Value as Json, json};

use super::domain::Choice;
use super::fork::{Asked, Base, Fork, Ground, Question};
use super::trace::plain;
use crate::chart::{Chart, Cycle};
use crate::engine::decide::{self, Flow, Part, rules_of};
use crate::engine::decision::{Answer, Ended, Fired, Invocation, Outcome, Step};
use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use crate::scope::pattern::is_slug;

/// The field of a Stop event that says that the agent goes on because of a block.
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

/// Where an instance stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Situation {
    /// The values of the context fields.
    pub(crate) fields: Vec<u32>,
    /// There is a state.
    pub(crate) started: bool,
    /// The answer to a review that is known of, and whether it is there.
    pub(crate) answered: Option<(u32, bool)>,
}

/// What comes of a move.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Edge {
    pub(crate) mover: usize,
    /// Fields and their new values.
    pub(crate) assigned: Vec<(usize, u32)>,
    /// Whether the answer to a review is there, where this move says.
    pub(crate) answered: Option<(u32, bool)>,
    /// The agent is not let go.
    pub(crate) block: bool,
    /// `stop_hook_active`, where it was looked at.
    pub(crate) active: Option<bool>,
    /// The run that ended in the course of the decision.
    pub(crate) review: Option<u32>,
    /// The cycles that start afresh.
    pub(crate) arms: Vec<usize>,
    /// Why there is no decision.
    pub(crate) fault: Option<u32>,
}

impl Edge {
    /// A move that changes nothing.
    fn of(mover: usize) -> Self {
        Self {
            mover,
            assigned: Vec::new(),
            answered: None,
            block: false,
            active: None,
            review: None,
            arms: Vec::new(),
            fault: None,
        }
    }
}

/// How an edge comes about; of several ways, one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Story {
    /// The rules that fired.
    pub(crate) fired: Vec<u32>,
    /// What was chosen.
    pub(crate) choices: Vec<(u32, u32)>,
}

/// The files that say whether a review is answered.
#[derive(Debug)]
pub(crate) struct Pair {
    question: u32,
    pub(crate) answer: String,
    /// The fields that the names are made of: with other values, other files are meant.
    requires: Vec<(usize, u32)>,
}

impl Pair {
    /// True where `fields` still mean these files.
    pub(crate) fn is_current(&self, fields: &[u32]) -> bool {
        self.requires.iter().all(|(field, value)| fields[*field] == *value)
    }
}

/// A tree of questions, with what comes of the answers.
#[derive(Debug)]
enum Node {
    Unknown,
    Ask { question: u32, options: Vec<u32>, next: Vec<(u32, u32)> },
    Leaf(Rc<Leaf>),
}

/// What comes of one part of a decision.
#[derive(Debug)]
enum Leaf {
    Part(Settled),
    Holds(bool),
    Fault(Fault),
}

/// A part of a decision, its values by number.
#[derive(Debug)]
struct Settled {
    turn: Turn,
    assigned: Vec<(usize, u32)>,
    fired: Vec<u32>,
    advance: Option<(usize, usize)>,
    arms: Option<usize>,
    review: Option<u32>,
    swallowed: Option<Fault>,
}

#[derive(Debug, Clone, Copy)]
enum Turn {
    On,
    Answered { block: bool },
    Invoke(u32),
    Gone,
}

/// A part of a decision, with the runs that it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Segment {
    what: What,
    review: Option<u32>,
    ended: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Head(usize),
    Rule(usize, usize),
    Condition(usize),
}

/// A decision between two of its parts.
#[derive(Debug, Clone)]
struct Standing {
    situation: Situation,
    /// The fields that the decision itself has assigned: reading them is not looking at the situation.
    own: Fields,
    assigned: Vec<(usize, u32)>,
    choices: Vec<(u32, u32)>,
    fired: Vec<u32>,
    arms: Vec<usize>,
    review: Option<u32>,
}

impl Standing {
    /// A decision that begins.
    fn at(situation: &Situation, choices: Vec<(u32, u32)>) -> Self {
        Self {
            situation: situation.clone(),
            own: Fields::default(),
            assigned: Vec::new(),
            choices,
            fired: Vec::new(),
            arms: Vec::new(),
            review: None,
        }
    }
}

/// A set of what a decision looks at in a situation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fields(u128);

impl Fields {
    const STARTED: u32 = 127;
    const ANSWERED: u32 = 126;

    /// Fields beyond the last bit share it, which only makes the set larger.
    fn bit(field: usize) -> u128 {
        1 << field.min(125)
    }

    fn add(&mut self, field: usize) {
        self.0 |= Self::bit(field);
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn has(self, field: usize) -> bool {
        self.0 & Self::bit(field) != 0
    }

    fn add_start(&mut self) {
        self.0 |= 1 << Self::STARTED;
    }

    fn add_answer(&mut self) {
        self.0 |= 1 << Self::ANSWERED;
    }

    /// What of `situation` is in the set: situations that agree on it lead to the same decisions.
    pub(crate) fn project(self, situation: &Situation) -> Vec<u32> {
        let fields = situation.fields.iter().enumerate().filter(|(field, _)| self.has(*field));
        let mut key: Vec<u32> = fields.map(|(_, value)| *value).collect();
        if self.0 >> Self::STARTED & 1 == 1 {
            key.push(u32::from(situation.started));
        }
        if self.0 >> Self::ANSWERED & 1 == 1 {
            key.extend(situation.answered.map(|(pair, is_there)| pair * 2 + u32::from(is_there)));
        }
        key
    }
}

/// The rules, targets and moves that came to something.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// Places of rules that fired.
    pub(crate) fired: HashSet<u32>,
    /// Rules whose guard was evaluated: (list, index).
    pub(crate) tried: HashSet<(usize, usize)>,
    /// Advance targets that were taken: (cycle, index).
    pub(crate) advanced: HashSet<(usize, usize)>,
}

/// All decisions of a chart, as far as they were asked for.
#[derive(Debug)]
pub(crate) struct Decisions {
    pub(crate) ground: Arc<Ground>,
    pub(crate) chart: Arc<Chart>,
    pub(crate) moves: Vec<Move>,
    pub(crate) values: IndexSet<Json>,
    pub(crate) questions: IndexSet<Question>,
    pub(crate) places: IndexSet<String>,
    pub(crate) lists: IndexSet<String>,
    pub(crate) runs: IndexSet<Ended>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) coverage: Coverage,
    /// How often a part was really evaluated.
    pub(crate) evaluations: usize,
    conditions: IndexSet<String>,
    invocations: IndexSet<Invocation>,
    known_pairs: HashMap<(usize, i64, Vec<u32>), Option<u32>>,
    nodes: Vec<Node>,
    segments: HashMap<Segment, u32>,
    looked_at: Fields,
}

fn id(index: usize) -> u32 {
    // Far more than memory holds.
    u32::try_from(index).unwrap_or(u32::MAX)
}

impl Decisions {
    /// None yet.
    pub(crate) fn of(chart: &Arc<Chart>) -> Self {
        let hooks = chart.on.keys().filter(|name| *name != "enter").map(|name| Trigger::Hook(name.clone()));
        let enters = chart.phases.keys().map(|phase| Trigger::Enter { phase: phase.clone(), force: false });
        let commands = chart.commands.keys().map(|name| Trigger::Command(name.clone()));
        let by = |actor: Actor| move |trigger: Trigger| Move { actor, trigger: Some(trigger) };
        let answer = (!chart.cycles.is_empty()).then_some(Move { actor: Actor::Agent, trigger: None });
        let moves = hooks
            .map(by(Actor::Host))
            .chain(answer)
            .chain(enters.map(by(Actor::Agent)))
            .chain(commands.map(by(Actor::User)));
        Self {
            ground: Arc::new(Ground::of(chart)),
            moves: moves.collect(),
            chart: Arc::clone(chart),
            values: IndexSet::new(),
            questions: IndexSet::new(),
            places: IndexSet::new(),
            lists: IndexSet::new(),
            runs: IndexSet::new(),
            pairs: Vec::new(),
            faults: Vec::new(),
            coverage: Coverage::default(),
            evaluations: 0,
            conditions: IndexSet::new(),
            invocations: IndexSet::new(),
            known_pairs: HashMap::new(),
            nodes: Vec::new(),
            segments: HashMap::new(),
            looked_at: Fields::default(),
        }
    }

    /// What was tried, one line for each input and each kind of move.
    pub(crate) fn domain_in_words(&self) -> Vec<String> {
        let chart = &self.chart;
        let domain = &self.ground.domain;
        let list = |values: &[Json]| values.iter().map(plain).collect::<Vec<_>>().join(", ");
        let mut lines: Vec<String> =
            domain.parameters.iter().map(|(name, values)| format!("{name}: {}", list(values))).collect();
        let asked = self.questions.iter().filter_map(|question| match question {
            Question::Choice(choice) => Some(choice.clone()),
            _ => None,
        });
        let choices: IndexSet<Choice> = asked.chain(self.ground.choices_of_checks()).collect();
        lines.extend(choices.iter().map(|choice| domain.in_words(choice)));
        for (name, invoke) in &chart.invoke {
            lines.push(format!("{name}: {}, no verdict, failed", invoke.verdicts.join(", ")));
        }
        let hooks: Vec<&str> = chart.on.keys().map(String::as_str).filter(|name| *name != "enter").collect();
        lines.push(format!("events: {}", hooks.join(", ")));
        let answers = if chart.cycles.is_empty() { "" } else { ", writes the answer to a review or does not" };
        lines.push(format!("the agent: enters any phase whose guard holds{answers}, does nothing and stops again"));
        if !chart.commands.is_empty() {
            let commands: Vec<&str> = chart.commands.keys().map(String::as_str).collect();
            lines.push(format!("the user: runs {}", commands.join(", ")));
        }
        lines.push("files and tables: chosen anew at every event".to_owned());
        lines
    }

    /// A value by its number.
    pub(crate) fn value(&self, value: u32) -> &Json {
        &self.values[value as usize]
    }

    /// The number of a value.
    pub(crate) fn value_id(&mut self, value: &Json) -> u32 {
        match self.values.get_index_of(value) {
            Some(index) => id(index),
            None => id(self.values.insert_full(value.clone()).0),
        }
    }

    /// The number of a context field.
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        self.chart.context.get_index_of(name)
    }

    /// All that can come of a move in a situation, and what it looked at in that situation.
    pub(crate) fn edges(&mut self, mover: usize, situation: &Situation) -> (Vec<(Edge, Story)>, Fields) {
        self.looked_at = Fields::default();
        let edges = match self.moves[mover].trigger.clone() {
            Some(trigger) => {
                let mut deciding = Deciding { mover, trigger: &trigger, situation, edges: Vec::new() };
                self.decide(&mut deciding, Vec::new(), None);
                deciding.edges
            }
            None => self.answer(mover, situation),
        };
        (edges, self.looked_at)
    }

    /// Whether a condition holds in a situation, under each combination of choices that it looks at; and what
    /// it looked at.
    pub(crate) fn holds(&mut self, condition: &str, situation: &Situation) -> (Vec<Result<bool, Fault>>, Fields) {
        self.looked_at = Fields::default();
        let index = self.conditions.insert_full(condition.to_owned()).0;
        let segment = Segment { what: What::Condition(index), review: None, ended: None };
        let trigger = Trigger::Command(String::new());
        let ends = self.walk(segment, &trigger, &Standing::at(situation, Vec::new()));
        let results = ends.iter().map(|(leaf, _)| match leaf.as_ref() {
            Leaf::Holds(holds) => Ok(*holds),
            Leaf::Fault(fault) => Err(fault.clone()),
            Leaf::Part(_) => Ok(false),
        });
        (results.collect(), self.looked_at)
    }

    /// The agent writes the file that answers the last review of the running cycle.
    fn answer(&mut self, mover: usize, situation: &Situation) -> Vec<(Edge, Story)> {
        let chart = Arc::clone(&self.chart);
        let Some(next) = chart.next.as_ref().and_then(|next| self.field(next)) else { return Vec::new() };
        self.looked_at.add(next);
        self.looked_at.add_answer();
        let due = self.value(situation.fields[next]).as_str();
        let running = due.and_then(|due| chart.cycles.values().position(|cycle| cycle.id == due || cycle.post == due));
        let Some(running) = running else { return Vec::new() };
        for field in self.fields_of_names(&chart.cycles[running]) {
            self.looked_at.add(field);
        }
        match self.last_pair(running, &situation.fields) {
            Some(pair) if situation.answered != Some((pair, true)) => {
                vec![(Edge { answered: Some((pair, true)), ..Edge::of(mover) }, Story::default())]
            }
            _ => Vec::new(),
        }
    }

    // ── a decision, part by part, as `decide` takes it ──

    fn decide(&mut self, deciding: &mut Deciding<'_>, choices: Vec<(u32, u32)>, ended: Option<u32>) {
        let segment = Segment { what: What::Head(deciding.mover), review: None, ended: None };
        let standing = Standing::at(deciding.situation, choices);
        for (standing, turn) in self.part(segment, &standing, deciding) {
            if matches!(turn, Turn::On) {
                self.rules(0, standing, ended, deciding);
            }
        }
    }

    /// The rules from `index` on: the first that answers is the last.
    fn rules(&mut self, index: usize, standing: Standing, ended: Option<u32>, deciding: &mut Deciding<'_>) {
        let chart = Arc::clone(&self.chart);
        let (list, rules) = rules_of(&chart, deciding.trigger);
        let Some(rule) = rules.get(index) else {
            // A run that no rule has asked for again is set aside: nothing is written.
            if ended.is_none() {
                let edge = self.edge(standing, false, deciding);
                deciding.edges.push(edge);
            }
            return;
        };
        let list = self.lists.insert_full(list.to_owned()).0;
        self.coverage.tried.insert((list, index));
        let ended_here = ended.filter(|_| rule.invoke.is_some());
        let segment = Segment { what: What::Rule(list, index), review: standing.review, ended: ended_here };
        for (after, turn) in self.part(segment, &standing, deciding) {
            match turn {
                Turn::On => {
                    let ended = ended.filter(|_| after.review.is_none());
                    self.rules(index + 1, after, ended, deciding);
                }
                Turn::Answered { block } => {
                    let edge = self.edge(after, block, deciding);
                    deciding.edges.push(edge);
                }
                Turn::Gone => {}
                // The run ends one way or another, and the decision is made anew.
                Turn::Invoke(invocation) => {
                    for ended in self.endings(invocation) {
                        self.decide(deciding, after.choices.clone(), Some(ended));
                    }
                }
            }
        }
    }

    /// What comes of one part where the decision stands: a fault ends it, and is an edge of its own.
    fn part(&mut self, segment: Segment, standing: &Standing, deciding: &mut Deciding<'_>) -> Vec<(Standing, Turn)> {
        let mut afterwards = Vec::new();
        for (leaf, choices) in self.walk(segment, deciding.trigger, standing) {
            match leaf.as_ref() {
                Leaf::Part(part) => {
                    let mut after = standing.clone();
                    after.choices = choices;
                    for (field, value) in &part.assigned {
                        after.situation.fields[*field] = *value;
                        after.own.add(*field);
                        after.assigned.retain(|(known, _)| known != field);
                        after.assigned.push((*field, *value));
                    }
                    after.fired.extend(&part.fired);
                    after.arms.extend(part.arms);
                    after.review = part.review.or(after.review);
                    self.coverage.fired.extend(&part.fired);
                    self.coverage.advanced.extend(part.advance);
                    if let Some(fault) = &part.swallowed {
                        deciding.edges.push(self.faulty(fault, &after, deciding.mover));
                    }
                    afterwards.push((after, part.turn));
                }
                Leaf::Fault(fault) if fault.is_about_an_option() => {}
                Leaf::Fault(fault) => {
                    let after = Standing { choices, ..standing.clone() };
                    deciding.edges.push(self.faulty(fault, &after, deciding.mover));
                }
                Leaf::Holds(_) => {}
            }
        }
        afterwards
    }

    fn faulty(&mut self, fault: &Fault, standing: &Standing, mover: usize) -> (Edge, Story) {
        let known = self.faults.iter().position(|known| known == fault);
        let index = known.unwrap_or_else(|| {
            self.faults.push(fault.clone());
            self.faults.len() - 1
        });
        let story = Story { fired: standing.fired.clone(), choices: standing.choices.clone() };
        (Edge { fault: Some(id(index)), ..Edge::of(mover) }, story)
    }

    /// What a decision comes to that has been made.
    fn edge(&mut self, standing: Standing, block: bool, deciding: &Deciding<'_>) -> (Edge, Story) {
        let mut answered = None;
        let mut active = None;
        for (question, value) in &standing.choices {
            let is_true = self.value(*value) == &json!(true);
            match &self.questions[*question as usize] {
                Question::Answered { .. } => {
                    for cycle in 0..self.chart.cycles.len() {
                        let pair = self.last_pair(cycle, &deciding.situation.fields);
                        let pair = pair.filter(|pair| self.pairs[*pair as usize].question == *question);
                        answered = pair.map(|pair| (pair, is_true)).or(answered);
                    }
                }
                Question::Choice(Choice::Event(name)) if name == ACTIVE => active = Some(is_true),
                _ => {}
            }
        }
        // A review that has just been written has no answer yet.
        if let Some(review) = standing.review
            && let Ended { invocation, outcome: Outcome::Ran { .. }, .. } = &self.runs[review as usize]
            && let Some(cycle) = self.chart.cycles.get_index_of(&invocation.cycle)
        {
            let n = invocation.n;
            answered = self.pair(cycle, n, &standing.situation.fields).map(|pair| (pair, false));
        }
        let mut assigned = standing.assigned;
        assigned.sort_unstable();
        let edge = Edge {
            mover: deciding.mover,
            assigned,
            answered,
            block,
            active,
            review: standing.review,
            arms: standing.arms,
            fault: None,
        };
        (edge, Story { fired: standing.fired, choices: standing.choices })
    }

    /// How a run can end: each verdict, none, failed.
    fn endings(&mut self, invocation: u32) -> Vec<u32> {
        let invocation = self.invocations[invocation as usize].clone();
        let verdicts = self.chart.invoke.get(&invocation.name).map(|invoke| invoke.verdicts.clone()).unwrap_or_default();
        let ran = verdicts.into_iter().map(Some).chain([None]).map(|verdict| Outcome::Ran { verdict });
        let endings: Vec<Outcome> = ran.chain([Outcome::Failed("it failed".to_owned())]).collect();
        let mut run = |outcome| {
            let ended = Ended { invocation: invocation.clone(), outcome, superseded: false };
            id(self.runs.insert_full(ended).0)
        };
        endings.into_iter().map(&mut run).collect()
    }

    // ── the files that answer a review ──

    /// The context fields that the names of a cycle's files are made of, its count first.
    fn fields_of_names(&self, cycle: &Cycle) -> Vec<usize> {
        let holes = [&cycle.base, &cycle.answer, &cycle.review].into_iter().flat_map(|pattern| pattern.holes());
        let names = std::iter::once(cycle.count.as_str()).chain(holes.map(|(hole, _)| hole));
        let mut fields: Vec<usize> = names.filter_map(|name| self.field(name)).collect();
        fields.dedup();
        fields
    }

    /// The files about the last review of a cycle, as its count says.
    fn last_pair(&mut self, cycle: usize, fields: &[u32]) -> Option<u32> {
        let count = self.field(&self.chart.cycles[cycle].count)?;
        let n = self.value(fields[count]).as_i64().filter(|n| *n > 0)?;
        self.pair(cycle, n, fields)
    }

    /// The files about review `n` of a cycle.
    fn pair(&mut self, cycle: usize, n: i64, fields: &[u32]) -> Option<u32> {
        let chart = Arc::clone(&self.chart);
        let names = self.fields_of_names(&chart.cycles[cycle]);
        let count = self.value_id(&json!(n));
        let requires: Vec<(usize, u32)> =
            names.iter().enumerate().map(|(index, field)| (*field, if index == 0 { count } else { fields[*field] })).collect();
        let key = (cycle, n, requires.iter().map(|(_, value)| *value).collect::<Vec<u32>>());
        if let Some(known) = self.known_pairs.get(&key) {
            return *known;
        }
        let cycle = &chart.cycles[cycle];
        let slug = |hole: &str| -> Result<String, ()> {
            let field = self.field(hole).ok_or(())?;
            match self.value(fields[field]) {
                Json::Number(number) => Ok(number.to_string()),
                Json::String(text) if is_slug(text) => Ok(text.clone()),
                _ => Err(()),
            }
        };
        let name = |pattern: &crate::scope::pattern::Pattern| {
            pattern.render(|hole| match hole {
                "base" => cycle.base.render(slug),
                "n" => Ok(n.to_string()),
                other => slug(other),
            })
        };
        let pair = name(&cycle.answer).and_then(|answer| Ok((answer, name(&cycle.review)?))).ok();
        let pair = pair.map(|(answer, review)| {
            let question = Question::Answered { answer: answer.clone(), review };
            let question = id(self.questions.insert_full(question).0);
            self.pairs.push(Pair { question, answer, requires });
            id(self.pairs.len() - 1)
        });
        self.known_pairs.insert(key, pair);
        pair
    }

    // ── the tree of one part ──

    /// All that can come of a part where a decision stands, each with the choices made so far.
    fn walk(&mut self, segment: Segment, trigger: &Trigger, standing: &Standing) -> Vec<(Rc<Leaf>, Vec<(u32, u32)>)> {
        let root = match self.segments.get(&segment) {
            Some(root) => *root,
            None => {
                let root = self.unknown();
                self.segments.insert(segment, root);
                root
            }
        };
        let mut ends = Vec::new();
        let mut open = vec![(root, standing.choices.clone())];
        while let Some((at, choices)) = open.pop() {
            if matches!(self.nodes[at as usize], Node::Unknown) {
                self.evaluate(segment, root, trigger, standing, &choices);
            }
            let (question, options) = match &self.nodes[at as usize] {
                Node::Unknown => continue,
                Node::Leaf(leaf) => {
                    ends.push((Rc::clone(leaf), choices));
                    continue;
                }
                Node::Ask { question, options, .. } => (*question, options),
            };
            let from_state = match &self.questions[question as usize] {
                Question::Field(name) => self.chart.context.get_index_of(name).map(|field| {
                    if !standing.own.has(field) {
                        self.looked_at.add(field);
                    }
                    standing.situation.fields[field]
                }),
                Question::Started => {
                    self.looked_at.add_start();
                    let started = standing.situation.started;
                    self.values.get_index_of(&json!(started)).map(id)
                }
                Question::Answered { .. } => {
                    self.looked_at.add_answer();
                    let known = standing.situation.answered.filter(|(pair, _)| self.pairs[*pair as usize].question == question);
                    known.and_then(|(_, is_there)| self.values.get_index_of(&json!(is_there)).map(id))
                }
                Question::Choice(_) => None,
            };
            let made = choices.iter().find(|(asked, _)| *asked == question).map(|(_, value)| *value);
            match from_state.or(made) {
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
        id(self.nodes.len() - 1)
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
    fn evaluate(&mut self, segment: Segment, root: u32, trigger: &Trigger, standing: &Standing, choices: &[(u32, u32)]) {
        self.evaluations += 1;
        let fields = self.chart.context.keys().zip(&standing.situation.fields);
        let context = fields.map(|(name, value)| (name.clone(), self.value(*value).clone())).collect();
        let mut answered = Vec::new();
        let mut chosen = Vec::new();
        let known = standing.situation.answered.map(|(pair, is_there)| (self.pairs[pair as usize].question, is_there));
        let made = choices.iter().map(|(question, value)| (*question, *value, self.value(*value) == &json!(true)));
        let known = known.map(|(question, is_there)| (question, 0, is_there));
        for (question, value, is_true) in known.into_iter().chain(made) {
            match &self.questions[question as usize] {
                Question::Answered { answer, review } => answered.push((answer.clone(), review.clone(), is_true)),
                Question::Choice(choice) => chosen.push((choice.clone(), self.value(value).clone())),
                Question::Field(_) | Question::Started => {}
            }
        }
        let base = Base { context, started: standing.situation.started, answered };
        let fork = Fork::new(&self.ground, base, trigger, chosen);
        let leaf = self.leaf(segment, trigger, &fork);
        let mut at = root;
        for Asked { question, options, answer } in fork.account() {
            let question = id(self.questions.insert_full(question).0);
            let options: Vec<u32> = options.iter().map(|option| self.value_id(option)).collect();
            let answer = self.value_id(&answer);
            if matches!(self.nodes[at as usize], Node::Unknown) {
                self.nodes[at as usize] = Node::Ask { question, options, next: Vec::new() };
            }
            at = self.next(at, answer);
        }
        self.nodes[at as usize] = Node::Leaf(Rc::new(leaf));
    }

    fn leaf(&mut self, segment: Segment, trigger: &Trigger, fork: &Fork) -> Leaf {
        let names = fork.names(trigger);
        if let Some(review) = segment.review {
            names.set_review(self.runs[review as usize].clone());
        }
        let part = match segment.what {
            What::Condition(index) => {
                let condition = &self.conditions[index];
                let holds = names.expressions.holds(condition, &names.root());
                return match holds.map_err(Fault::at("properties")) {
                    Ok(holds) => Leaf::Holds(holds),
                    Err(fault) => Leaf::Fault(fault),
                };
            }
            What::Head(_) => decide::head(names, trigger),
            What::Rule(list, index) => {
                let chart = Arc::clone(&self.chart);
                let list = self.lists[list].clone();
                let ended = segment.ended.map(|ended| self.runs[ended as usize].clone());
                decide::rule(names, &list, index, &chart.on[&list][index], ended)
            }
        };
        match part {
            Ok(part) => Leaf::Part(self.settle(part)),
            Err(fault) => Leaf::Fault(fault),
        }
    }

    fn settle(&mut self, part: Part) -> Settled {
        let Part { flow, decision, swallowed } = part;
        let chart = Arc::clone(&self.chart);
        let turn = match flow {
            Flow::On => Turn::On,
            Flow::Answered => Turn::Answered { block: matches!(decision.answer, Answer::Block(_)) },
            Flow::Leave(Step::Invoke(invocation)) => {
                let invocation = Invocation { argv: Vec::new(), ..*invocation };
                Turn::Invoke(id(self.invocations.insert_full(invocation).0))
            }
            Flow::Leave(Step::Done(_)) => Turn::Gone,
        };
        let mut settled = Settled {
            turn,
            assigned: Vec::new(),
            fired: Vec::new(),
            advance: None,
            arms: None,
            review: decision.ended.map(|ended| id(self.runs.insert_full(ended).0)),
            swallowed,
        };
        for (name, value) in &decision.patch {
            if let Some(field) = self.field(name) {
                settled.assigned.push((field, self.value_id(value)));
            }
        }
        for Fired { place, advance } in decision.fired {
            let phase = place.strip_prefix("phases.").and_then(|name| chart.phases.get(name));
            if let Some(cycle) = phase.and_then(|entry| entry.phase.arms.as_ref()) {
                settled.arms = chart.cycles.get_index_of(cycle);
            }
            if let Some((cycle, index)) = advance
                && let Some((at, _, cycle)) = chart.cycles.get_full(&cycle)
            {
                settled.advance = Some((at, index));
                settled.arms = chart.cycles.get_index_of(&cycle.advance[index].target);
            }
            settled.fired.push(id(self.places.insert_full(place).0));
        }
        settled
    }
}

/// A move whose decisions are being made.
struct Deciding<'m> {
    mover: usize,
    trigger: &'m Trigger,
    /// Before the move.
    situation: &'m Situation,
    edges: Vec<(Edge, Story)>,
}
