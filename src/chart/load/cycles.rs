//! Cycles with their shared keys filled in, and the phases that are made for each cycle.

use super::resolver::{CYCLE_HOLE, Resolver, given, name_fields};
use crate::chart::model::{CycleSource, FilePattern, Source};
use crate::chart::{Cycle, PhaseEntry};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::at;
use crate::expr::single_expression;
use crate::hash::IndexMap;

impl Resolver<'_> {
    /// Resolves the cycles. One that lacks a key is left out; the flaws say which key.
    pub(super) fn cycles(&mut self, source: &Source) -> IndexMap<String, Cycle> {
        let cycles = source.cycles.iter();
        cycles.filter_map(|(id, own)| Some((id.clone(), self.cycle(id, own, source)?))).collect()
    }

    /// Checks that no two reviews have the same file name, within a cycle or between cycles.
    pub(super) fn file_names(&mut self, source: &Source, cycles: &IndexMap<String, Cycle>) {
        for (index, (id, cycle)) in cycles.iter().enumerate() {
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
            if let Some(other) = cycles.values().take(index).find(|other| same(other)) {
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

    fn cycle(&mut self, id: &str, own: &CycleSource, source: &Source) -> Option<Cycle> {
        let shared = &source.cycle;
        let fields = name_fields(source);
        let holes = [&["base", "n"], fields.as_slice()].concat();
        macro_rules! required {
            ($key:ident) => {{
                let value = given!(own, shared, $key);
                let key = stringify!($key);
                let is_in_none = source.cycles.len() > 1
                    && source.cycles.values().all(|cycle| cycle.$key.is_none());
                if value.is_none() {
                    let names = source.cycles.keys().map(String::as_str);
                    self.missing("cycle", at!["cycles", id], key, is_in_none, names);
                }
                value
            }};
        }
        macro_rules! name {
            ($key:ident, $holes:expr) => {{
                let path = at!["cycles", id, stringify!($key)];
                required!($key).and_then(|pattern| self.name_pattern(path, &pattern, $holes))
            }};
        }
        let mut text = shared.text.clone();
        text.extend(own.text.clone());
        let subject = given!(own, shared, subject).unwrap_or_default();
        for (index, name) in subject.iter().enumerate() {
            if single_expression(&name.0).is_none() {
                let path = at!["cycles", id, "subject", index];
                self.name_pattern(path, &FilePattern(name.0.clone()), &holes);
            }
        }
        // All keys are read before the first missing one returns, so that every missing key is reported.
        let (count, limit, exit) = (required!(count), required!(limit), required!(exit));
        let (post, advance) = (required!(post), required!(advance));
        let entry = required!(entry).map(|own| {
            // What all cycles assign holds for each of them, unless it assigns something else.
            let mut entry = shared.entry.clone().unwrap_or_default();
            entry.extend(own);
            entry
        });
        let (base, review, answer) =
            (name!(base, &fields), name!(review, &holes), name!(answer, &holes));
        Some(Cycle {
            id: id.to_owned(),
            count: count?,
            limit: limit?,
            exit: exit?,
            streak: given!(own, shared, streak),
            entry: entry?,
            post: post?.replace(CYCLE_HOLE, id),
            base: base?,
            review: review?,
            answer: answer?,
            subject,
            empty: given!(own, shared, empty),
            ready: given!(own, shared, ready),
            resume: given!(own, shared, resume),
            stall: given!(own, shared, stall),
            skips: given!(own, shared, skips),
            stage: given!(own, shared, stage),
            text,
            advance: advance?,
        })
    }

    pub(super) fn phases(&mut self, source: &Source) -> IndexMap<String, PhaseEntry> {
        let mut phases = IndexMap::default();
        for (key, phase) in &source.phases {
            let entry = |cycle: Option<&String>| PhaseEntry {
                phase: phase.clone(),
                key: key.clone(),
                cycle: cycle.cloned(),
            };
            if !key.contains(CYCLE_HOLE) {
                phases.insert(key.clone(), entry(None));
                continue;
            }
            for id in source.cycles.keys() {
                let made = key.replace(CYCLE_HOLE, id);
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
