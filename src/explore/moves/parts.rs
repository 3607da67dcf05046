//! A decision, part by part, as `decide` takes it.

use super::tails::NOTHING;
use super::{ACTIVE, Edge, Moves, Setting};
use crate::engine::decide::rules_of;
use crate::engine::decision::Outcome;
use crate::explore::decision_tree::{
    Choices, Exit, Leaf, Progress, Segment, Tail, Turn, What, over,
};
use crate::explore::domain::Choice;
use crate::explore::imagined_world::Question;
use crate::explore::state::{Chosen, FALSE, Known, Look, Looks, Situation, TRUE};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::rc::Rc;

/// The results of a decision from one of its parts on, by their tails.
pub(super) type Rest = Known<Rc<[u32]>>;

/// A path of a part of a decision.
pub(super) struct Way {
    pub(super) tail: u32,
    /// All that was chosen on it.
    pub(super) choices: Choices,
    /// The part that follows; `None` where the decision ends.
    pub(super) next: Option<Segment>,
}

impl Moves {
    /// Returns the part behind another; `None` behind the last one.
    fn next(&self, at: &Progress<'_>) -> Option<Segment> {
        let (name, rules) = rules_of(&self.tree.chart, at.trigger);
        let list = self.tree.chart.on.get_index_of(name)?;
        let index = match at.segment.what {
            What::Rule { index, .. } => index + 1,
            _ => 0,
        };
        let (what, review) = (What::Rule { list, index }, at.segment.review);
        (index < rules.len()).then_some(Segment { what, review })
    }

    /// Returns the result of a decision from a part on, and what it looks at.
    pub(super) fn rest(&mut self, at: &Progress<'_>) -> Rest {
        let known = self.rests.get(&at.segment);
        if let Some(known) = known.and_then(|rest| rest.get(&at.state, &at.choices)) {
            return known.clone();
        }
        let mut looks = Looks::default();
        let value = self.part(at, &mut looks);
        let rest = self.rests.entry(at.segment).or_default();
        let looks = rest.put(&at.state, &at.choices, &looks, Rc::clone(&value));
        Known { value, looks }
    }

    /// Returns the result of one part, and of those that follow it if none has answered.
    pub(super) fn part(&mut self, at: &Progress<'_>, looks: &mut Looks) -> Rc<[u32]> {
        let ways = self.ways(at, looks);
        let mut all: IndexSet<u32, FxBuildHasher> = IndexSet::default();
        for way in &ways {
            let Some(after) = self.after(at, way) else {
                all.insert(way.tail);
                continue;
            };
            let rest = self.rest(&after);
            // What this part has itself assigned or chosen was not there before it.
            let chosen = way.choices.iter().map(|(question, _)| *question);
            let mut made: Vec<Look> = chosen.map(Look::question).collect();
            for (field, _) in &self.tails.get(way.tail).assigned {
                made.push(Look::field(*field));
                made.extend(self.tree.parameter(*field).map(Look::question));
            }
            for look in rest.looks.iter() {
                if !looks.contains(*look) && !made.contains(look) {
                    looks.insert(*look);
                }
            }
            if ways.len() == 1 && way.tail == NOTHING {
                return rest.value;
            }
            for rest in rest.value.iter() {
                all.insert(self.tails.join(way.tail, *rest));
            }
        }
        all.into_iter().collect()
    }

    /// Returns the ways through one part.
    pub(super) fn ways(&mut self, at: &Progress<'_>, looks: &mut Looks) -> Vec<Way> {
        let ends = self.tree.walk(at, looks);
        let next = self.next(at);
        let mut ways = Vec::new();
        for end in ends.iter() {
            let leaf = Rc::clone(&self.tree.leaves[end.leaf as usize]);
            let Leaf::Part(exits) = &*leaf else { continue };
            for Exit { tail, turn } in exits {
                let choices = end.choices();
                let kept = match turn {
                    Turn::Gone => Choices::new(),
                    Turn::On | Turn::Ended => self.kept(&choices),
                };
                let review = tail.review.or(at.segment.review);
                let tail = Tail { choices: kept, ..tail.clone() };
                let next = next.filter(|_| *turn == Turn::On);
                ways.push(Way {
                    tail: self.tails.number(tail),
                    choices,
                    next: next.map(|next| Segment { review, ..next }),
                });
            }
        }
        ways
    }

    /// Returns, of what was chosen, what is part of the outcome.
    fn kept(&self, choices: &[Chosen]) -> Choices {
        let matters = |(question, _): &&Chosen| match self.tree.question(*question) {
            Question::Field(_) | Question::Answered { .. } => true,
            Question::Choice(Choice::Event(name)) => name == ACTIVE,
            _ => false,
        };
        choices.iter().filter(matters).copied().collect()
    }

    /// Returns how a decision goes on once a part has been taken in this way; `None` where it ends.
    pub(super) fn after<'t>(&mut self, at: &Progress<'t>, way: &Way) -> Option<Progress<'t>> {
        let mut after = Progress {
            segment: way.next?,
            trigger: at.trigger,
            state: at.state.clone(),
            choices: over(&at.choices, &way.choices),
        };
        for (question, set) in &way.choices {
            if let Some(value) = self.tree.only(*set)
                && self.tree.is_current(*question, at.state.fields())
            {
                // From here on it is known.
                after.state.set_answered(Some((*question, value)));
                after.choices.retain(|(asked, _)| asked != question);
            }
        }
        for (field, value) in &self.tails.get(way.tail).assigned {
            match self.tree.parameter(*field) {
                Some(question) => {
                    after.choices.retain(|(asked, _)| *asked != question);
                    after.choices.push((question, self.tree.set(vec![*value])));
                }
                None => after.state.assign(*field, *value),
            }
        }
        Some(after)
    }

    /// Returns the result of a move whose decision ends with this tail.
    pub(super) fn edge(
        &mut self,
        mover: usize,
        state: &Situation,
        tail: u32,
        looks: &mut Looks,
    ) -> Edge {
        let mut done = self.tails.get(tail).clone();
        let mut answered = None;
        let mut active = None;
        let mut needs = Vec::new();
        for (question, set) in &std::mem::take(&mut done.choices) {
            let only = self.tree.only(*set);
            if let Some(field) = self.tree.field_asked(*question) {
                needs.push((field, *set));
            } else if self.tree.is_current(*question, state.fields()) {
                answered = only.map(|value| (*question, value));
            } else if matches!(self.tree.question(*question), Question::Choice(Choice::Event(name)) if name == ACTIVE)
            {
                active = only.map(|value| value == TRUE);
            }
        }
        if let Some(review) = done.review
            && let run = &self.tree.runs[review as usize]
            && let Some(cycle) = self.tree.chart.cycles.get_index_of(&run.invocation.cycle)
        {
            // The file that answers a review has a name of its own.
            let names = self.tree.fields_of_names[cycle].iter();
            looks.extend(names.map(|field| Look::field(*field)));
            // A review that has just been written has no answer yet.
            if matches!(run.outcome, Outcome::Ran { .. }) {
                let question = self.tree.answer(cycle, run.invocation.n, state.fields());
                answered = question.map(|question| (question, FALSE));
            }
        }
        done.assigned.sort_unstable();
        needs.sort_unstable();
        let is_set = |(field, _): &Setting| self.tree.parameter(*field).is_some();
        let (sets, assigned) = done.assigned.into_iter().partition(is_set);
        done.assigned = assigned;
        Edge { mover, needs, sets, answered, active, done }
    }
}
