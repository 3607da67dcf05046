//! The agent is let go: it is not blocked too often in a row.

use super::judgment::{Judge, path_of};
use crate::check::conditions::report::Finding;
use crate::check::conditions::search::Step;
use crate::check::conditions::term::Node;
use crate::diagnostic::code::Code;
use crate::host::hosts::BLOCKS;

impl Judge<'_> {
    /// Judges whether an agent that does nothing is let go.
    pub(super) fn blocks(&self) -> Option<Finding> {
        let idle = |step: &Step| match self.is_further_block(step) {
            // An agent that answers a review does something.
            true => (!self.is_answered(step)).then_some(true),
            false => self.is_aside(step).then_some(false),
        };
        // The first one may be the first in its turn.
        let is_first = |at: usize| {
            let done = self.search.done(&self.search.steps[at]);
            done.blocks && !done.is_early_gate
        };
        let weights: Vec<Option<bool>> = self.search.steps.iter().map(idle).collect();
        let way = self.graph.in_a_row(BLOCKS + 1, is_first, &weights)?;
        let message =
            format!("an agent that does nothing is blocked more than {BLOCKS} times in a row");
        let last = way.iter().rev().find(|step| self.search.done(step).blocks);
        let place = last.and_then(|step| self.search.fired(step).next_back());
        let path = place.map(|place| path_of(self.chart, place)).unwrap_or_default();
        Some(self.found(Code::BlocksInARow, message, path, &way))
    }

    /// Returns whether a step is a block that can come after a block: the host then says so. A gate that fails early is
    /// counted.
    fn is_further_block(&self, step: &Step) -> bool {
        let done = self.search.done(step);
        done.blocks && done.active != Some(false) && !done.is_early_gate
    }

    /// Returns whether a step needs an answer to the last review.
    fn is_answered(&self, step: &Step) -> bool {
        let terms = &self.search.decider.program.terms;
        let is_answer = |term| matches!(&*terms.node(term), Node::OfCycle(name, ..) if name == "cycle.answered");
        self.search.ways[step.way].1.iter().any(|(term, is_so)| *is_so && is_answer(*term))
    }
}
