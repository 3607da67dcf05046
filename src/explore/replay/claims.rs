//! Whether a condition holds, or a check finds something, in a state that is real, and what lets checks find this many
//! things.

use super::{Replay, Scene};
use crate::engine::names::Names;
use crate::explore::decision_tree::{Choices, Leaf, Progress, Tree, What, Witness, over};
use crate::explore::dependence::depends;
use crate::explore::domain::Choice;
use crate::explore::imagined_world::Question;
use crate::explore::moves::by_hand;
use crate::explore::search::Transition;
use crate::explore::state::{Looks, Situation};
use serde_json::Value as Json;
use std::sync::Arc;

/// The most ways through the checks that are looked at to find one in which they find as much as they should.
const PATHS: usize = 2_000;

impl Replay<'_> {
    /// Returns what a witness assumes, in words; `None` where nothing was.
    pub(crate) fn assumption(&mut self, step: Transition) -> Option<String> {
        let witnesses = self.witnesses(step, true);
        let tree = &self.moves.tree;
        let source = witnesses.iter().find_map(|it| tree.assumed_by(it).next())?;
        let inputs = tree.domain.untried_by(source);
        Some(format!("`{source}` {}", depends(&inputs)))
    }

    /// Returns the names that expressions see behind a path from a state, where this was chosen.
    pub(crate) fn names_at(
        &mut self,
        state: usize,
        path: &[Transition],
        witness: &Witness,
    ) -> Option<Arc<Names>> {
        let before = self.reach(state)?;
        let after = self.follow(&before, path)?;
        let mut position = self.loosened(&after);
        position.config.clear();
        let tree = &self.search.moves.tree;
        for (question, value) in witness {
            if let Question::Field(field) = tree.question(*question) {
                position.set(&tree.name_of(*field), tree.value(*value))?;
            }
        }
        let trigger = by_hand();
        let Scene { event, disk, .. } = self.scene(&trigger, &position, witness)?;
        Some(self.names(&position, disk, &event))
    }

    /// Returns what else must be chosen so that checks find as much as was chosen.
    pub(super) fn for_findings(&mut self, chosen: &Witness) -> Option<Witness> {
        let mut more = Witness::new();
        for (question, value) in chosen {
            let tree = &mut self.moves.tree;
            let Question::Choice(Choice::Findings(name)) = tree.question(*question) else {
                continue;
            };
            let name = name.clone();
            let count = |found: &Json| found.as_array().map_or(0, Vec::len);
            let wanted = count(tree.value(*value));
            let known = self.checks.entry((name.clone(), wanted));
            let found = known.or_insert_with(|| {
                // How many there are does not depend on what fields hold. The most stand for all that are more.
                let counts = tree.domain.reading(&|_| Json::Null).findings(&name);
                let is_most = counts.last() == Some(&wanted);
                finding(tree, &self.search.states[0], &name, wanted, is_most)
            });
            more.extend(found.as_ref()?);
        }
        Some(more)
    }
}

/// Returns choices under which the checks of a list find this many things, or more, in a state.
fn finding(
    tree: &mut Tree,
    state: &Situation,
    name: &str,
    wanted: usize,
    or_more: bool,
) -> Option<Witness> {
    let chart = Arc::clone(&tree.chart);
    let (list, _, checks) = chart.checks.get_full(name)?;
    let trigger = by_hand();
    let mut open = vec![(0, wanted, Choices::new())];
    for _ in 0..PATHS {
        let (index, wanted, chosen) = open.pop()?;
        if index == checks.len() {
            match wanted {
                0 => return tree.witnesses(&chosen).into_iter().next(),
                _ => continue,
            }
        }
        let mut check = Progress::of(What::Check { list, index }, &trigger, state);
        check.choices.clone_from(&chosen);
        let ends = tree.walk(&check, &mut Looks::default());
        let found = |leaf: &Leaf| match leaf {
            Leaf::Value(value) => usize::try_from(tree.value(*value).as_u64()?).ok(),
            Leaf::Part(_) => None,
        };
        let ends = ends.iter().filter_map(|end| {
            let found = found(&tree.leaves[end.leaf as usize])?;
            let left = match or_more {
                true => Some(wanted.saturating_sub(found)),
                false => wanted.checked_sub(found),
            }?;
            Some((found, (index + 1, left, over(&chosen, &end.choices()))))
        });
        let mut ends: Vec<_> = ends.collect();
        // What finds most is tried first: the last of them.
        ends.sort_by_key(|(found, _)| *found);
        open.extend(ends.into_iter().map(|(_, end)| end));
    }
    None
}
