//! Whether a condition holds, or a check finds something, in a state that is real.

use super::{Replay, Standing};
use crate::engine::event::Trigger;
use crate::engine::names::Names;
use crate::explore::decision_tree::Witness;
use crate::explore::imagined_world::Question;
use crate::explore::search::Search;
use crate::explore::trace;
use serde_json::{Map, Value as Json};
use std::sync::Arc;

impl Replay {
    /// Returns what was chosen for an edge to come about, in words.
    pub(crate) fn given(&self, edge: usize) -> Vec<String> {
        let tree = &self.moves.tree;
        let witness = self.real.get(&edge).into_iter().flatten();
        let words = witness.filter_map(|(question, value)| {
            trace::words(tree.question(*question), tree.value(*value))
        });
        words.collect()
    }

    /// Returns what a witness assumes, in words; `None` where nothing was.
    pub(crate) fn assumption(&mut self, search: &Search, step: (usize, usize)) -> Option<String> {
        let witnesses = self.witnesses(search, step, true);
        let tree = &self.moves.tree;
        let assumed = witnesses.iter().flatten();
        let assumed = assumed.filter(|choice| tree.is_witness_assumed(&[**choice]));
        let questions = assumed.map(|(question, _)| tree.question(*question));
        let mut sources = questions.filter_map(|question| match question {
            Question::Assumed { source, .. } => Some(source),
            _ => None,
        });
        let source = sources.next()?;
        let dependence = &tree.ground.domain.dependence;
        let open = dependence.open.get(source)?;
        let mut inputs = open.inputs.clone();
        inputs.extend(open.fails.iter().cloned());
        inputs.extend(
            open.looks
                .intersection(&tree.ground.domain.untried)
                .cloned(),
        );
        Some(format!(
            "`{source}` depends on {}, of which not every value that matters is tried",
            crate::explore::dependence::in_words(&inputs)
        ))
    }

    /// Returns whether a condition really holds, or does not.
    pub(crate) fn holds(
        &mut self,
        search: &Search,
        standing: &Standing,
        expr: &str,
        witness: &Witness,
    ) -> Option<bool> {
        let names = self.names_at(search, standing, witness)?;
        names.expressions.holds(expr, &names.root()).ok()
    }

    /// Returns whether a check really finds something, or fails.
    pub(crate) fn finds(
        &mut self,
        search: &Search,
        standing: &Standing,
        (list, index): (&str, usize),
        witness: &Witness,
    ) -> Option<Result<bool, String>> {
        let names = self.names_at(search, standing, witness)?;
        let mut found = Vec::new();
        let result = names.find(&self.chart.checks.get(list)?[index], &mut found);
        Some(
            result
                .map(|()| !found.is_empty())
                .map_err(|error| error.to_string()),
        )
    }

    /// Returns the names that expressions see where an instance stands like that and this was chosen.
    fn names_at(
        &self,
        search: &Search,
        standing: &Standing,
        witness: &Witness,
    ) -> Option<Arc<Names>> {
        let tree = &search.moves.tree;
        let chosen = witness.iter();
        let chosen: Vec<(u32, Json)> = chosen
            .map(|(question, value)| (*question, tree.value(*value).clone()))
            .collect();
        let trigger = Trigger::Command(String::new());
        let standing = self.loosened(search, standing);
        let (standing, config) = self.with_parameters(search, &standing, &chosen)?;
        let (event, mut disk, _) = self.lay_out(search, &trigger, &standing.context, &chosen)?;
        disk.config.extend(config);
        let world = self.world(&standing, disk);
        Some(self.names(search, &world, &event))
    }

    /// Returns the same instance with what was chosen of that which a user sets; `None` where no command can have set it.
    fn with_parameters(
        &self,
        search: &Search,
        standing: &Standing,
        chosen: &[(u32, Json)],
    ) -> Option<(Standing, Map<String, Json>)> {
        let mut standing = standing.clone();
        let mut config = Map::new();
        for (question, value) in chosen {
            let Question::Field(name) = search.moves.tree.question(*question) else {
                continue;
            };
            match name.strip_prefix("config.") {
                Some(setting) => {
                    config.insert(setting.to_owned(), value.clone());
                }
                None if !standing.can_hold(name, value) => return None,
                None => {
                    standing.context.insert(name.clone(), value.clone());
                }
            }
        }
        Some((standing, config))
    }
}
