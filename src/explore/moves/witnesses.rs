//! What is chosen so that a move takes a transition.

use super::{Edge, Ending, Moves, Progress};
use crate::engine::event::Trigger;
use crate::explore::decision_tree::{Choices, Segment, What, Witness, over};
use crate::explore::state::{Looks, Situation};

/// The most witnesses of one outcome that are looked for, and the most paths that are tried for that.
const WITNESSES: usize = 3;
const TRIALS: usize = 400;

impl Moves {
    /// Returns some witnesses of a move that leads to an edge: those without assumptions, if there are any. Where an edge
    /// needs less than an ending, these parameters have their defaults.
    pub(crate) fn witnesses(&mut self, state: &Situation, edge: &Edge) -> Vec<Witness> {
        let mut found: Vec<Choices> = Vec::new();
        let mut left = TRIALS;
        let any = edge.without_needs();
        for Ending { edge: own, tail } in self.endings_of(edge.mover, state, &mut Looks::default())
        {
            if own.without_needs() != any || !self.is_by_default(&own, edge) {
                continue;
            }
            match (tail, self.all[edge.mover].trigger.clone()) {
                (Some(tail), Some(trigger)) => {
                    let progress = Progress::of(state);
                    let head = What::Head(edge.mover);
                    self.trace(
                        head.into(),
                        &trigger,
                        &progress,
                        tail,
                        &mut left,
                        &mut found,
                    );
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

    /// Returns whether an edge needs what `wider` needs, and of other parameters nothing but their defaults.
    fn is_by_default(&self, edge: &Edge, wider: &Edge) -> bool {
        edge.needs.iter().all(|need| {
            let (field, set) = *need;
            let default = self.tree.likely(field, self.tree.members(set));
            let is_default = || self.tree.default_of(field) == Some(self.tree.value(default));
            wider.needs.contains(need)
                || wider.needs.iter().all(|(asked, _)| *asked != field) && is_default()
        })
    }

    /// Finds the choices from a part on whose result is a tail.
    fn trace(
        &mut self,
        here: Segment,
        trigger: &Trigger,
        progress: &Progress,
        wanted: u32,
        left: &mut usize,
        found: &mut Vec<Choices>,
    ) {
        let mut ways = self.ways(here, trigger, progress, &mut Looks::default());
        ways.sort_by_key(|way| self.tree.is_assumed(&way.choices));
        for way in ways {
            let is_enough = |choices: &&Choices| !self.tree.is_assumed(choices);
            if *left == 0 || found.iter().filter(is_enough).count() >= WITNESSES {
                return;
            }
            let Some(next) = way.next else {
                if way.tail == wanted {
                    *left = left.saturating_sub(1);
                    let mut all = over(&progress.choices, &way.choices);
                    // What was chosen at first is part of the situation by now.
                    if let Some((question, value)) = progress.situation.answered() {
                        all.push((question, self.tree.set(vec![value])));
                    }
                    found.push(all);
                }
                continue;
            };
            let after = self.after(progress, &way);
            let rest = self.rest(next, trigger, &after);
            for rest in rest.value.iter() {
                if self.tails.join(way.tail, *rest) == wanted {
                    self.trace(next, trigger, &after, *rest, left, found);
                }
            }
        }
    }
}
