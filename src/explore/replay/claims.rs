//! Whether a condition holds, or a check finds something, in a state that is real.

use super::{Replay, Scene, Standing};
use crate::engine::names::Names;
use crate::explore::decision_tree::Witness;
use crate::explore::imagined_world::Question;
use crate::explore::moves::by_hand;
use crate::explore::search::Transition;
use std::sync::Arc;

impl Replay<'_> {
    /// Returns what a witness assumes, in words; `None` where nothing was.
    pub(crate) fn assumption(&mut self, step: Transition) -> Option<String> {
        let witnesses = self.witnesses(step, true);
        let tree = &self.moves.tree;
        let assumed = witnesses.iter().flatten();
        let assumed = assumed.filter(|choice| tree.is_witness_assumed(&[**choice]));
        let questions = assumed.map(|(question, _)| tree.question(*question));
        let mut sources = questions.filter_map(|question| match question {
            Question::Assumed { source, .. } => Some(source),
            _ => None,
        });
        let source = sources.next()?;
        let inputs = tree.ground.domain.untried_by(source);
        Some(format!(
            "`{source}` depends on {}, of which not every value that matters is tried",
            crate::explore::dependence::in_words(&inputs)
        ))
    }

    /// Returns whether a condition really holds, or does not.
    pub(crate) fn holds(
        &mut self,
        standing: &Standing,
        expr: &str,
        witness: &Witness,
    ) -> Option<bool> {
        let names = self.names_at(standing, witness)?;
        names.expressions.holds(expr, &names.root()).ok()
    }

    /// Returns whether a check really finds something, or fails.
    pub(crate) fn finds(
        &mut self,
        standing: &Standing,
        list: &str,
        index: usize,
        witness: &Witness,
    ) -> Option<Result<bool, String>> {
        let names = self.names_at(standing, witness)?;
        let mut found = Vec::new();
        let result = names.find(&self.chart.checks.get(list)?[index], &mut found);
        Some(
            result
                .map(|()| !found.is_empty())
                .map_err(|error| error.to_string()),
        )
    }

    /// Returns the names that expressions see where an instance stands like that and this was chosen.
    fn names_at(&mut self, standing: &Standing, witness: &Witness) -> Option<Arc<Names>> {
        let mut standing = self.loosened(standing);
        standing.config.clear();
        let tree = &self.search.moves.tree;
        for (question, value) in witness {
            if let Question::Field(name) = tree.question(*question) {
                standing.set(name, tree.value(*value))?;
            }
        }
        let trigger = by_hand();
        let Scene { event, disk, .. } = self.scene(&trigger, &standing, witness)?;
        let world = self.world(&standing, disk);
        Some(self.names(&world, &event))
    }
}
