//! What the user can really have set by commands that have a guard.
//!
//! The search takes such a field to have any value at any time. Here it has one that a command can have given it: the last
//! time that a guard held, and no decision has looked at it since.

use std::collections::BTreeSet;

use super::{Position, Replay};
use crate::chart::uses::guards_of;
use crate::engine::possible_world::{Disk, event};
use crate::explore::moves::{Edge, Setting, by_hand};
use crate::explore::search::Search;
use serde_json::{Map, Value as Json};

impl Replay<'_> {
    /// Returns the fields that commands set under a guard.
    pub(super) fn guarded(search: &Search) -> BTreeSet<String> {
        let tree = &search.moves.tree;
        let parameters = tree.domain.parameters.keys();
        let names = parameters.map(|field| tree.name_of(*field));
        let guarded = names.filter(|name| !guards_of(&tree.chart, name).is_empty());
        guarded.collect()
    }

    /// Returns the same instance, in which a field can have any value again that a command can set here.
    pub(super) fn loosened(&self, position: &Position) -> Position {
        let mut position = position.clone();
        if !position.started || position.held.is_empty() {
            return position;
        }
        let event = event(by_hand(), Map::new());
        let names = self.names(&position, Disk::default(), &event);
        let root = names.root();
        let holds = |guard: &&str| names.expressions.holds(guard, &root) == Ok(true);
        let is_held = |field: &String| !guards_of(&self.chart, field).iter().any(holds);
        position.held.retain(is_held);
        position
    }

    /// Returns an instance with what the user must have set for an edge; `None` where that is not possible.
    pub(super) fn set_for(&self, before: &Position, edge: &Edge) -> Option<Position> {
        let tree = &self.search.moves.tree;
        let mut before = self.loosened(before);
        before.config.clear();
        let needs = edge.needs.iter().map(|(field, set)| {
            let chosen = self.set.iter().find(|(given, _)| given == field);
            let chosen = chosen.map(|(_, value)| *value);
            let chosen = chosen.filter(|value| tree.has(*set, *value));
            let likely = || tree.likely(*field, tree.members(*set));
            (*field, chosen.unwrap_or_else(likely))
        });
        // Where the instance has begun, it can be set so whether or not that makes a difference here.
        let others = self.set.iter().filter(|(set, _)| {
            before.started && edge.needs.iter().all(|(needed, _)| needed != set)
        });
        for (field, value) in needs.chain(others.copied()).collect::<Vec<_>>() {
            let name = tree.name_of(field);
            let value = tree.value(value);
            // Setting a field would have written a state.
            let is_field = self.chart.context.contains_key(&name);
            if is_field && !before.started && before.context.get(&name) != Some(value) {
                return None;
            }
            before.set(&name, value)?;
            before.held.extend(self.guarded.get(&name).cloned());
        }
        Some(before)
    }

    /// Returns whether these settings are possible where an instance really stands in a state.
    pub(in crate::explore) fn can_be_set(&mut self, state: usize, set: &[Setting]) -> bool {
        let tree = &self.search.moves.tree;
        let Some(position) = self.reach(state) else {
            return false;
        };
        let position = self.loosened(&position);
        set.iter().all(|(field, value)| {
            let value = tree.value(*value);
            position.can_hold(&tree.name_of(*field), value)
        })
    }
}

impl Position {
    /// Returns whether a field of the user has this value, or a command can have given it.
    pub(super) fn can_hold(&self, field: &str, value: &Json) -> bool {
        !self.held.contains(field) || self.context.get(field) == Some(value)
    }

    /// Gives a field of the user or a setting this value; `None` where no command can have set it.
    pub(super) fn set(&mut self, name: &str, value: &Json) -> Option<()> {
        match name.strip_prefix("config.") {
            Some(setting) => self.config.insert(setting.to_owned(), value.clone()),
            None if !self.can_hold(name, value) => return None,
            None => self.context.insert(name.to_owned(), value.clone()),
        };
        Some(())
    }
}
