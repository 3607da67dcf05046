//! Cycles with their shared keys filled in, and the phases that are made for each cycle.

use indexmap::IndexMap;

use super::resolver::{CYCLE_HOLE, Resolver, name_fields};
use crate::chart::model::{CycleSource, FilePattern, Source};
use crate::chart::{Cycle, PhaseEntry};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::at;
use crate::expr::single_expression;

impl Resolver<'_> {
    /// Resolves the cycles. One that lacks a key is left out; the flaws say which key.
    pub(super) fn cycles(&mut self, source: &Source) -> IndexMap<String, Cycle> {
        let cycles = source.cycles.iter();
        cycles
            .filter_map(|(id, own)| Some((id.clone(), self.cycle(id, own, source)?)))
            .collect()
    }

    /// Checks that no two reviews have the same file name, within a cycle or between cycles.
    pub(super) fn file_names(&mut self, source: &Source, cycles: &IndexMap<String, Cycle>) {
        let place = |id: &str, key: &str, is_own: bool| match is_own {
            true => at!["cycles", id, key].to_vec(),
            false => at!["cycle", key].to_vec(),
        };
        for (index, (id, cycle)) in cycles.iter().enumerate() {
            let own = source.cycles.get(id);
            let has_own = |has: fn(&CycleSource) -> bool| own.is_some_and(|own| has(own));
            for (key, pattern, is_own) in [
                ("review", &cycle.review, has_own(|own| own.review.is_some())),
                ("answer", &cycle.answer, has_own(|own| own.answer.is_some())),
            ] {
                // A misspelled hole has its own finding, and `n` may have been meant.
                if pattern.holes().all(|(hole, _)| {
                    hole == "base" || hole != "n" && source.context.contains_key(hole)
                }) {
                    let help = "add `{n}`, the number of the review";
                    let message = format!("every {key} of a cycle would have the same file name");
                    self.flaw(Code::BadPattern, &place(id, key, is_own), message, help);
                }
            }
            let same = |other: &Cycle| other.base == cycle.base && other.review == cycle.review;
            if let Some(other) = cycles.values().take(index).find(|other| same(other)) {
                let is_own = has_own(|own| own.base.is_some());
                let message = format!(
                    "the reviews of `{id}` and `{}` would have the same file names",
                    other.id
                );
                let path = place(id, "base", is_own);
                self.flaw(
                    Code::BadPattern,
                    &path,
                    message,
                    "give each cycle its own base",
                );
            }
        }
    }

    fn cycle(&mut self, id: &str, own: &CycleSource, source: &Source) -> Option<Cycle> {
        let shared = &source.cycle;
        let fields = name_fields(source);
        let holes = [&["base", "n"], fields.as_slice()].concat();
        macro_rules! required {
            ($key:ident) => {{
                let value = own.$key.clone().or_else(|| shared.$key.clone());
                let key = stringify!($key);
                let is_in_none = source.cycles.len() > 1
                    && source.cycles.values().all(|cycle| cycle.$key.is_none());
                if value.is_none() && is_in_none {
                    let message = format!("no cycle has `{key}`");
                    let help = "add it to [cycle], which all cycles share";
                    self.flaw(Code::MissingKey, at!["cycle"], message, help);
                } else if value.is_none() {
                    let message = format!("cycle `{id}` has no `{key}`");
                    let help = "add it here, or to [cycle], which all cycles share";
                    self.flaw(Code::MissingKey, at!["cycles", id], message, help);
                }
                value
            }};
        }
        macro_rules! name {
            ($key:ident, $holes:expr) => {{
                let key = stringify!($key);
                let place = match own.$key {
                    Some(_) => at!["cycles", id, key].to_vec(),
                    None => at!["cycle", key].to_vec(),
                };
                required!($key).and_then(|pattern| self.name_pattern(&place, &pattern, $holes))
            }};
        }
        let mut text = shared.text.clone();
        text.extend(own.text.clone());
        let (subject, place) = match &own.subject {
            Some(own) => (own.clone(), at!["cycles", id, "subject"].to_vec()),
            None => (
                shared.subject.clone().unwrap_or_default(),
                at!["cycle", "subject"].to_vec(),
            ),
        };
        for (index, name) in subject.iter().enumerate() {
            if single_expression(&name.0).is_none() {
                let place = [place.as_slice(), at![index]].concat();
                self.name_pattern(&place, &FilePattern(name.0.clone()), &holes);
            }
        }
        // All keys are read before the first missing one returns, so that every missing key is reported.
        let (count, limit, exit) = (required!(count), required!(limit), required!(exit));
        let (entry, post, advance) = (required!(entry), required!(post), required!(advance));
        let (base, review, answer) = (
            name!(base, &fields),
            name!(review, &holes),
            name!(answer, &holes),
        );
        Some(Cycle {
            id: id.to_owned(),
            count: count?,
            limit: limit?,
            exit: exit?,
            entry: entry?,
            post: post?.replace(CYCLE_HOLE, id),
            base: base?,
            review: review?,
            answer: answer?,
            subject,
            ready: own.ready.clone().or_else(|| shared.ready.clone()),
            resume: own.resume.clone().or_else(|| shared.resume.clone()),
            stall: own.stall.or(shared.stall),
            stage: own.stage.clone().or_else(|| shared.stage.clone()),
            text,
            advance: advance?,
        })
    }

    pub(super) fn phases(&mut self, source: &Source) -> IndexMap<String, PhaseEntry> {
        let mut phases = IndexMap::new();
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
        let known = phases.keys().map(String::as_str);
        self.known(at!["initial"], Code::UnknownPhase, &source.initial, known);
        phases
    }
}
