//! The ways through the tree of a part, and what is chosen on each.

use super::{Branch, Branches, Choices, Fork, Leaf, Node, Progress, Segment, Tree, What, over};
use crate::engine::event::Trigger;
use crate::explore::imagined_world::{Expression, Kind, Question, is_of_the_host};
use crate::explore::state::{Chosen, Look, Looks, number};
use crate::hash::IndexMap;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::rc::Rc;
use std::sync::Arc;

/// A descent into the tree of a part: what it begins with, and how far it has come.
pub(super) struct Descent<'d> {
    pub(super) at: &'d Progress<'d>,
    /// What was chosen in the part.
    made: Choices,
    /// The number of questions on the way to the node.
    pub(super) depth: usize,
    looks: Looks,
}

impl Descent<'_> {
    /// Returns the answers that are left to a question.
    fn chosen(&self, question: u32) -> Option<u32> {
        let mut chosen = self.made.iter().rev().chain(&self.at.choices);
        let (_, set) = chosen.find(|(asked, _)| *asked == question)?;
        Some(*set)
    }

    /// Returns all that was chosen, each question once.
    pub(super) fn all(&self) -> Choices {
        over(&self.at.choices, &self.made)
    }
}

impl Branch {
    /// Adds a question to the way.
    fn ask(&mut self, fork: Fork) {
        self.forks.push(fork);
        self.forks.sort_unstable();
    }
}

impl Tree {
    /// Returns all results of a part, each with what is left to choose for that; `looks` is what it turns on.
    pub(crate) fn walk(&mut self, at: &Progress<'_>, looks: &mut Looks) -> Branches {
        let segment = at.segment;
        if let Some(memo) = self.ends.get(&segment)
            && let Some(known) = memo.get(&at.state, &at.choices)
        {
            looks.extend(known.looks.iter().copied());
            return Rc::clone(&known.value);
        }
        let new = number(self.nodes.len());
        let root = *self.roots.entry(segment).or_insert(new);
        self.begin(root);
        let mut descent = Descent { at, made: Choices::new(), depth: 0, looks: Looks::default() };
        let ends: Branches = self.descend(&mut descent, root).into();
        looks.extend(descent.looks.iter());
        if !self.budget.is_exhausted() {
            let memo = self.ends.entry(segment).or_default();
            memo.put(&at.state, &at.choices, &descent.looks, Rc::clone(&ends));
        }
        ends
    }

    /// Returns the ways from a node on to which an answer leads, by these choices.
    fn behind(&mut self, descent: &mut Descent<'_>, next: u32, chosen: &[Chosen]) -> Vec<Branch> {
        let mark = descent.made.len();
        descent.made.extend(chosen);
        descent.depth += 1;
        let ends = self.descend(descent, next);
        descent.depth -= 1;
        descent.made.truncate(mark);
        ends
    }

    /// Returns the ways through the tree from a node on.
    fn descend(&mut self, descent: &mut Descent<'_>, at: u32) -> Vec<Branch> {
        if self.budget.is_exhausted() {
            return Vec::new();
        }
        if matches!(self.nodes[at as usize], Node::Unknown) {
            self.evaluate(descent, at);
        }
        let (question, options) = match &self.nodes[at as usize] {
            Node::Unknown => return Vec::new(),
            Node::Leaf(leaf) => {
                let (leaf, forks) = (*leaf, Vec::new());
                return vec![Branch { leaf, forks }];
            }
            Node::Ask { question, options } => (*question, Rc::clone(options)),
        };
        if let Question::Outcome(expression) = self.question(question) {
            let review = descent.at.segment.review;
            let review = review.filter(|_| self.domain.looks_at_review(&expression.source));
            return self.beside(descent, at, question, review);
        }
        let described = self.described(descent, question, options.is_empty());
        if let Some(value) = described {
            let next = self.next(at, value);
            return self.behind(descent, next, &[]);
        }
        let values = match descent.chosen(question) {
            Some(set) => {
                let mut left = self.members(set).to_vec();
                // In the order in which they are tried: the quietest first.
                left.sort_by_key(|left| options.iter().take_while(|it| *it != left).count());
                left
            }
            None => options.to_vec(),
        };
        let has_one = options.len() == 1;
        // Nothing is chosen where a setting is tried at one value.
        let is_fixed = has_one && matches!(self.question(question), Question::Field(_));
        let all = self.set(values.clone());
        let nothing = self.set(Vec::new());
        let mut ends = Vec::new();
        for value in values {
            let one = self.set(vec![value]);
            let next = self.next(at, value);
            let below = self.behind(descent, next, &[(question, one)]);
            ends.extend(below.into_iter().map(|mut end| {
                if !is_fixed {
                    // Where there is but one value, all of them lead here: that does not say that any value does.
                    let is_needed = has_one && self.is_made_of(end.leaf, value);
                    let all = if is_needed { nothing } else { all };
                    end.ask(Fork { question, taken: one, all });
                }
                end
            }));
        }
        self.merge(ends)
    }

    /// Returns what the state says of a question, and notes what it turns on; a question about a field without options is
    /// one about a state's own.
    fn described(&self, descent: &mut Descent<'_>, question: u32, is_own: bool) -> Option<u32> {
        let Descent { at, looks, .. } = descent;
        let state = &at.state;
        match self.question(question) {
            Question::Field(field) if is_own => {
                looks.insert(Look::field(*field));
                state.fields().get(*field).copied()
            }
            Question::Started => {
                looks.insert(Look::STARTED);
                Some(u32::from(state.is_started()))
            }
            Question::Answered { .. } => {
                looks.insert(Look::ANSWERED);
                let (asked, value) = state.answered()?;
                (asked == question).then_some(value)
            }
            _ => {
                looks.insert(Look::question(question));
                None
            }
        }
    }

    /// Returns true for a result that is this value, or a part that assigns it.
    fn is_made_of(&self, leaf: u32, value: u32) -> bool {
        match &*self.leaves[leaf as usize] {
            Leaf::Value(result) => *result == value,
            Leaf::Part(exits) => {
                let mut assigned = exits.iter().flat_map(|exit| &exit.tail.assigned);
                assigned.any(|(_, assigned)| *assigned == value)
            }
        }
    }

    /// Returns the paths through the tree from a node that asks for the value of an expression, which sees this run.
    fn beside(
        &mut self,
        descent: &mut Descent<'_>,
        node: u32,
        asked: u32,
        review: Option<u32>,
    ) -> Vec<Branch> {
        let trigger = descent.at.trigger;
        let what = What::Outcome { question: asked, is_hook: is_of_the_host(trigger) };
        let at = Progress {
            segment: Segment { what, review },
            choices: descent.all(),
            ..Progress::of(what, trigger, &descent.at.state)
        };
        let mut ends = Vec::new();
        let outcomes = self.walk(&at, &mut descent.looks);
        for outcome in outcomes.iter() {
            let Leaf::Value(answer) = *self.leaves[outcome.leaf as usize] else {
                continue;
            };
            let next = self.next(node, answer);
            let mut chosen = outcome.choices();
            chosen.push((asked, self.set(vec![answer])));
            let below = self.behind(descent, next, &chosen);
            ends.extend(below.into_iter().map(|mut end| {
                for fork in &outcome.forks {
                    let mut own = end.forks.iter_mut();
                    match own.find(|own| own.question == fork.question) {
                        Some(narrower) => narrower.all = fork.all,
                        None => end.ask(*fork),
                    }
                }
                end
            }));
        }
        self.merge(ends)
    }

    /// Makes one way of those that differ in the answers to one question only.
    fn merge(&mut self, mut ends: Vec<Branch>) -> Vec<Branch> {
        loop {
            let count = ends.len();
            let mut leaves: Vec<u32> = ends.iter().map(|end| end.leaf).collect();
            leaves.sort_unstable();
            leaves.dedup();
            // Ways that lead to different leaves differ in more than an answer.
            if leaves.len() == count {
                return ends;
            }
            let asked = ends.iter().flat_map(|end| &end.forks);
            let asked: IndexSet<u32, FxBuildHasher> = asked.map(|fork| fork.question).collect();
            for question in asked {
                let mut groups: IndexMap<Branch, Vec<Option<Fork>>> = IndexMap::default();
                for mut end in ends {
                    let own = end.forks.iter().position(|fork| fork.question == question);
                    let own = own.map(|index| end.forks.remove(index));
                    groups.entry(end).or_default().push(own);
                }
                let merged = groups.into_iter().map(|(mut end, own)| {
                    // Where one of them does not ask, no answer makes a difference.
                    if let Some(own) = own.into_iter().collect::<Option<Vec<Fork>>>() {
                        let values = own.iter().flat_map(|fork| self.members(fork.taken));
                        let taken = self.set(values.copied().collect());
                        if taken != own[0].all {
                            end.ask(Fork { taken, ..own[0] });
                        }
                    }
                    end
                });
                ends = merged.collect();
            }
            if ends.len() == count {
                return ends;
            }
        }
    }

    /// Returns a condition by itself, as a part of what is decided about an event.
    pub(crate) fn condition(&mut self, source: &str, trigger: &Trigger) -> What {
        let condition = Question::Outcome(Expression {
            kind: Kind::Condition,
            source: source.to_owned(),
            it: None,
            part: None,
        });
        let question = number(self.questions.insert_full(Arc::new(condition)).0);
        let is_hook = is_of_the_host(trigger);
        What::Outcome { question, is_hook }
    }

    /// Returns the node that an answer leads to.
    pub(super) fn next(&mut self, at: u32, answer: u32) -> u32 {
        let new = number(self.nodes.len());
        let node = *self.next.entry((at, answer)).or_insert(new);
        self.begin(node);
        node
    }

    /// Makes a node of which nothing is known, where it is a new one.
    fn begin(&mut self, node: u32) {
        if self.nodes.len() == node as usize {
            self.nodes.push(Node::Unknown);
        }
    }
}
