//! What is chosen so that a move takes a transition, and whether something is assumed for that.

use super::Moves;
use crate::explore::answer::Answer;
use crate::explore::decision_tree::{Choices, Progress, Tree, What, Witness, over};
use crate::explore::imagined_world::Question;
use crate::explore::state::{Chosen, Looks, Situation};

/// The most witnesses of one outcome that are looked for, and the most paths that are tried for that.
const WITNESSES: usize = 3;
const TRIALS: usize = 400;

/// The most witnesses that are made from one path.
const EXAMPLES: usize = 8;

impl Moves {
    /// Returns some witnesses of a move that ends with one of these tails: those without assumptions, if there are any.
    pub(crate) fn witnesses(
        &mut self,
        mover: usize,
        state: &Situation,
        tails: impl IntoIterator<Item = Option<u32>>,
    ) -> Vec<Witness> {
        let mut found: Vec<Choices> = Vec::new();
        let mut left = TRIALS;
        for tail in tails {
            match (tail, self.all[mover].trigger.clone()) {
                (Some(tail), Some(trigger)) => {
                    let head = Progress::of(What::Head(mover), &trigger, state);
                    self.trace(&head, tail, &mut left, &mut found);
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
        found.truncate(WITNESSES);
        let witnesses = |choices: &Choices| tree.witnesses(choices);
        found.iter().flat_map(witnesses).collect()
    }

    /// Finds the choices from a part on whose result is a tail.
    fn trace(
        &mut self,
        at: &Progress<'_>,
        wanted: u32,
        left: &mut usize,
        found: &mut Vec<Choices>,
    ) {
        let mut ways = self.ways(at, &mut Looks::default());
        ways.sort_by_key(|way| self.tree.is_assumed(&way.choices));
        for way in ways {
            let is_enough = |choices: &&Choices| !self.tree.is_assumed(choices);
            if *left == 0 || found.iter().filter(is_enough).count() >= WITNESSES {
                return;
            }
            let Some(after) = self.after(at, &way) else {
                if way.tail == wanted {
                    *left = left.saturating_sub(1);
                    let mut all = over(&at.choices, &way.choices);
                    // What was chosen at first is part of the state by now.
                    if let Some((question, value)) = at.state.answered() {
                        all.push((question, self.tree.set(vec![value])));
                    }
                    found.push(all);
                }
                continue;
            };
            let rest = self.rest(&after);
            for rest in rest.value.iter() {
                if self.tails.join(way.tail, *rest) == wanted {
                    self.trace(&after, *rest, left, found);
                }
            }
        }
    }
}

impl Tree {
    /// Returns true where an expression is assumed to have another value than it has, whichever of these.
    fn assumes(&self, question: u32, values: &[u32]) -> bool {
        let mut values = values.iter().map(|value| self.answer_of(*value));
        matches!(self.question(question), Question::Assumed { .. })
            && values.all(|value| *value != Answer::AsItIs)
    }

    /// Returns true where something was assumed to come out otherwise than it does.
    pub(crate) fn is_assumed(&self, choices: &[Chosen]) -> bool {
        let mut choices = choices.iter();
        choices.any(|(question, set)| self.assumes(*question, self.members(*set)))
    }

    /// Returns the expressions of which a witness assumes that they have another value than they have.
    pub(crate) fn assumed_by<'t>(&'t self, witness: &[Chosen]) -> impl Iterator<Item = &'t String> {
        let assumed = witness.iter();
        let assumed = assumed.filter(|(question, value)| self.assumes(*question, &[*value]));
        assumed.filter_map(|(question, _)| match self.question(*question) {
            Question::Assumed { source, .. } => Some(source),
            _ => None,
        })
    }

    /// Returns whether that is so of a condition or a text: a field that is assigned what is not known depends on nothing
    /// by that.
    pub(crate) fn is_assumed_of_conditions(&self, witness: &[Chosen]) -> bool {
        witness.iter().any(|(question, value)| {
            let is_assigned =
                matches!(self.question(*question), Question::Assumed { field: Some(_), .. })
                    && !matches!(self.answer_of(*value), Answer::Fails(_));
            self.assumes(*question, &[*value]) && !is_assigned
        })
    }

    /// Returns some witnesses that these choices allow, those with the fewest assumptions first.
    pub(crate) fn witnesses(&self, choices: &[Chosen]) -> Vec<Witness> {
        let sets = choices.iter().map(|(_, set)| self.members(*set));
        let most = sets.map(<[u32]>::len).max().unwrap_or(1);
        let witness = |index: usize| {
            let chosen = choices.iter().map(|(question, set)| {
                let values = self.members(*set);
                let mut own = values.iter();
                let as_it_is = own.find(|value| *self.answer_of(**value) == Answer::AsItIs);
                let value = as_it_is.unwrap_or(&values[index % values.len()]);
                (*question, *value)
            });
            chosen.collect()
        };
        (0..most.min(EXAMPLES)).map(witness).collect()
    }
}
