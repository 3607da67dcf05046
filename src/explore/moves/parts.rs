//! A decision, part by part, as `decide` takes it.

use super::tails::NOTHING;
use super::{ACTIVE, Moves, Progress};
use crate::engine::decide::rules_of;
use crate::engine::decision::{Ended, Invocation, Outcome};
use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use crate::explore::decision_tree::{Choices, Leaf, Segment, Tail, Turn, What, over};
use crate::explore::domain::Choice;
use crate::explore::imagined_world::Question;
use crate::explore::state::{Chosen, Known, Look, Looks, number};
use crate::reviewer::finding::Found;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::rc::Rc;

/// The results of a decision from one of its parts on, by their tails.
pub(super) type Rest = Known<Rc<[u32]>>;

/// One way through a part of a decision.
pub(super) struct Way {
    pub(super) tail: u32,
    /// All that was chosen on it.
    pub(super) choices: Choices,
    /// The part that follows; `None` where the decision ends.
    pub(super) next: Option<Segment>,
}

impl Moves {
    /// Returns the first part of a decision.
    pub(super) fn head(mover: usize) -> Segment {
        Segment {
            what: What::Head(mover),
            review: None,
        }
    }

    /// Returns the part behind another; `None` behind the last one.
    fn next(&mut self, here: Segment, trigger: &Trigger) -> Option<Segment> {
        let (name, rules) = rules_of(&self.tree.chart, trigger);
        let (list, index) = match (here.what, self.tree.lists.get_index_of(name)) {
            (What::Rule { list, index }, _) => (list, index + 1),
            (_, Some(list)) => (list, 0),
            (_, None) => (self.tree.lists.insert_full(name.to_owned()).0, 0),
        };
        let what = What::Rule { list, index };
        (index < rules.len()).then_some(Segment { what, ..here })
    }

    /// Returns the result of a decision from a part on, and what it looks at.
    pub(super) fn rest(&mut self, here: Segment, trigger: &Trigger, progress: &Progress) -> Rest {
        let Progress { situation, choices } = progress;
        let known = self.rests.get(&here);
        if let Some(known) = known.and_then(|rest| rest.get(situation, choices)) {
            return known.clone();
        }
        let mut looks = Looks::default();
        let value = self.part(here, trigger, progress, &mut looks);
        let rest = self.rests.entry(here).or_default();
        let looks = rest.put(situation, choices, &looks, Rc::clone(&value));
        Known { value, looks }
    }

    /// Returns the result of one part, and of those that follow it if none has answered.
    pub(super) fn part(
        &mut self,
        here: Segment,
        trigger: &Trigger,
        progress: &Progress,
        looks: &mut Looks,
    ) -> Rc<[u32]> {
        let ways = self.ways(here, trigger, progress, looks);
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
            let after = self.after(progress, *tail, choices);
            let rest = self.rest(*next, trigger, &after);
            // What this part has itself assigned or chosen was not there before it.
            let chosen = choices.iter().map(|(question, _)| *question);
            let mut made: Vec<Look> = chosen.map(Look::question).collect();
            for (field, _) in &self.tails.get(*tail).assigned {
                made.push(Look::field(*field));
                made.extend(self.tree.parameter(*field).map(Look::question));
            }
            for look in rest.looks.iter() {
                if !looks.contains(*look) && !made.contains(look) {
                    looks.insert(*look);
                }
            }
            if ways.len() == 1 && *tail == NOTHING {
                return rest.value;
            }
            for rest in rest.value.iter() {
                all.insert(self.tails.join(*tail, *rest));
            }
        }
        all.into_iter().collect()
    }

    /// Returns the ways through one part.
    pub(super) fn ways(
        &mut self,
        here: Segment,
        trigger: &Trigger,
        progress: &Progress,
        looks: &mut Looks,
    ) -> Vec<Way> {
        let Progress { situation, choices } = progress;
        let ends = self.tree.walk(here, trigger, situation, choices, looks);
        let next = self.next(here, trigger);
        let ways = ends.iter().flat_map(|end| {
            let leaf = Rc::clone(&self.tree.leaves[end.leaf as usize]);
            self.ways_of(&leaf, here, next, &end.choices())
        });
        ways.collect()
    }

    /// Returns the ways behind a part that came out like this: of it and the one that follows, `here` and `next`.
    fn ways_of(
        &mut self,
        leaf: &Leaf,
        here: Segment,
        next: Option<Segment>,
        choices: &Choices,
    ) -> Vec<Way> {
        let kept = self.kept(choices);
        let mut ways = Vec::new();
        let mut add = |moves: &mut Self, tail: Tail, next: Option<Segment>| {
            let review = tail.review.or(here.review);
            ways.push(Way {
                tail: moves.tails.number(tail),
                choices: choices.clone(),
                next: next.map(|next| Segment { review, ..next }),
            });
        };
        let part = match leaf {
            Leaf::Part(part) => part,
            Leaf::Value(_) => return ways,
            Leaf::Fault(fault) => {
                // The command reports the option and changes nothing.
                if !matches!(self.tree.faults[*fault as usize], Fault::Argument { .. }) {
                    let failed = Tail {
                        choices: kept,
                        fault: Some(*fault),
                        ..Tail::default()
                    };
                    add(self, failed, None);
                }
                return ways;
            }
        };
        let first = Tail {
            choices: kept,
            ..part.tail.clone()
        };
        if part.swallowed.is_some() {
            let failed = Tail {
                block: false,
                fault: part.swallowed,
                ..first.clone()
            };
            add(self, failed, None);
        }
        match part.turn {
            Turn::Gone => add(self, Tail::default(), None),
            Turn::Answered => add(self, first, None),
            Turn::On => add(self, first, next),
            // The second call of `decide` takes the parts so far as the first one did: it is the same world.
            // So it is taken up behind the rule that invokes, once for each way in which the run can end.
            Turn::Invoke(invocation) => {
                let place = self.place_of(here);
                for run in self.endings(invocation) {
                    let mut first = first.clone();
                    first.fired.extend(place);
                    first.review = Some(run);
                    add(self, first, next);
                }
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

    /// Returns how a decision stands once a part has been taken.
    pub(super) fn after(&mut self, progress: &Progress, tail: u32, choices: &[Chosen]) -> Progress {
        let mut after = Progress {
            situation: progress.situation.clone(),
            choices: over(&progress.choices, choices),
        };
        for (question, set) in choices {
            if let Some(value) = self.tree.only(*set)
                && self.is_about_an_answer(*question, progress.situation.fields())
            {
                // From here on it is known.
                after.situation.set_answered(Some((*question, value)));
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

    /// Returns true for the question whether the last review of some cycle is answered.
    pub(super) fn is_about_an_answer(&mut self, question: u32, fields: &[u32]) -> bool {
        if !matches!(self.tree.question(question), Question::Answered { .. }) {
            return false;
        }
        (0..self.tree.chart.cycles.len())
            .any(|cycle| self.tree.last_answer(cycle, fields) == Some(question))
    }

    /// Returns where the rule of a segment stands.
    fn place_of(&mut self, segment: Segment) -> Option<u32> {
        let What::Rule { list, index } = segment.what else {
            return None;
        };
        let place = format!("on.{}[{index}]", self.tree.lists[list]);
        Some(number(self.tree.places.insert_full(place).0))
    }

    /// Returns the ways in which a run can end: each verdict, none, failed. Or a gate fails, as often as a rule may ask
    /// for.
    fn endings(&mut self, invocation: u32) -> Vec<u32> {
        let invocation = self.tree.invocations[invocation as usize].clone();
        let invoke = self.tree.chart.invoke.get(&invocation.name);
        let verdicts = invoke.into_iter().flat_map(|invoke| &invoke.verdicts);
        let ran = verdicts.cloned().map(Some).chain([None]);
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
}
