//! Cycles, and the phases that are made for each cycle.

use super::resolver::{CYCLE_HOLE, Resolver, name_fields};
use crate::chart::PhaseEntry;
use crate::chart::model::{Cycle, Source};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::at;
use crate::expr::single_expression;
use crate::hash::IndexMap;

/// Gives each cycle its name.
pub(super) fn name(cycles: &mut IndexMap<String, Cycle>) {
    for (id, cycle) in cycles {
        cycle.id.clone_from(id);
        cycle.post = format!("post-{id}");
    }
}

impl Resolver<'_> {
    /// Checks the file names of the cycles.
    pub(super) fn cycles(&mut self, source: &Source) {
        let fields = name_fields(source);
        let holes = [&["base", "n"], fields.as_slice()].concat();
        for (id, cycle) in &source.cycles {
            let names = [
                ("base", &cycle.base, &fields),
                ("review", &cycle.review, &holes),
                ("answer", &cycle.answer, &holes),
            ];
            for (key, pattern, holes) in names {
                self.name_pattern(at!["cycles", id, key], &pattern.0, pattern, holes);
            }
            for (index, name) in cycle.subject.iter().enumerate() {
                let path = at!["cycles", id, "subject", index];
                if single_expression(&name.0).is_some() {
                } else if let Some(pattern) = self.pattern(path, &name.0) {
                    self.name_pattern(path, &name.0, &pattern, &holes);
                }
            }
        }
        self.file_names(source);
    }

    /// Checks that no two reviews have the same file name, within a cycle or between cycles.
    fn file_names(&mut self, source: &Source) {
        for (index, (id, cycle)) in source.cycles.iter().enumerate() {
            for (key, pattern) in [("review", &cycle.review), ("answer", &cycle.answer)] {
                // A misspelled hole has its own finding, and `n` may have been meant.
                if pattern.holes().all(|(hole, _)| {
                    hole == "base" || hole != "n" && source.context.contains_key(hole)
                }) {
                    let help = "add `{n}`, the number of the review";
                    let message = format!("every {key} of a cycle would have the same file name");
                    self.flaw(Code::BadPattern, at!["cycles", id, key], message, help);
                }
            }
            let same = |other: &Cycle| other.base == cycle.base && other.review == cycle.review;
            if let Some(other) = source.cycles.values().take(index).find(|other| same(other)) {
                let message = format!(
                    "the reviews of `{id}` and `{}` would have the same file names",
                    other.id
                );
                let path = at!["cycles", id, "base"];
                let help = "give each cycle its own base";
                self.flaw(Code::BadPattern, path, message, help);
            }
        }
    }

    pub(super) fn phases(&mut self, source: &Source) -> IndexMap<String, PhaseEntry> {
        let mut phases = IndexMap::default();
        for (key, phase) in &source.phases {
            let entry = |cycle: Option<&String>| PhaseEntry {
                phase: phase.clone(),
                key: key.clone(),
                cycle: cycle.cloned(),
            };
            let Some((before, after)) = key.split_once(CYCLE_HOLE) else {
                phases.insert(key.clone(), entry(None));
                continue;
            };
            for id in source.cycles.keys() {
                let made = [before, id, after].concat();
                if source.phases.contains_key(&made) || phases.contains_key(&made) {
                    let message = format!("`{key}` makes a phase `{made}`, which already exists");
                    self.flaw(Code::BadName, at!["phases", key], message, "");
                }
                phases.insert(made, entry(Some(id)));
            }
        }
        self.phase(at!["initial"], &source.initial, &phases);
        phases
    }
}
