//! The values of what an event, a command or a gate brings.

use super::{Domain, GATE_TIMES, NO_SLUG, Values};
use crate::chart::model::{Arg, FieldType};
use crate::chart::uses::assigns_arg;
use crate::engine::decision::FailedGate;
use crate::explore::answer::Answer;
use crate::explore::dependence::LENGTH;
use crate::explore::items::{self, Tried};
use crate::hash::IndexMap;
use crate::host::events::{EVENT_DEFAULTS, FieldDefault};
use indexmap::IndexSet;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

impl Domain {
    /// Returns the ways in which a gate can fail, by how many times it has: once, each number that the chart compares
    /// that with, and one more. None if the chart has no gates.
    pub(crate) fn gate(&self) -> impl Iterator<Item = FailedGate> {
        let literals = self.compared(GATE_TIMES).literals.iter();
        let literals = literals.filter_map(Json::as_u64);
        let times = literals.flat_map(|literal| literal..=literal.saturating_add(1));
        let mut times: BTreeSet<u64> = times.collect();
        times.insert(1);
        times.remove(&0);
        let times = self.chart.gates.iter().flat_map(move |_| times.clone());
        times.map(|times| FailedGate {
            command: "make check".to_owned(),
            why: "exited with code 1".to_owned(),
            output: "error".to_owned(),
            times,
        })
    }
}

impl Values<'_> {
    /// Returns how many findings a list of checks can have: none, one, and on both sides of each number that the chart
    /// compares that with.
    pub(crate) fn findings(&self, name: &str) -> BTreeSet<usize> {
        let mut counts = BTreeSet::from([0, 1]);
        counts.extend(self.lengths(&format!("checks.{name}")));
        // A check without `each` finds one thing at most.
        let checks = self.chart.checks.get(name).map_or(&[][..], Vec::as_slice);
        if checks.iter().all(|check| check.each.is_none()) {
            counts.retain(|count| *count <= checks.len());
        }
        counts
    }

    /// Returns what a field of the event can be.
    pub(super) fn event(&self, field: &str) -> Tried<Json> {
        let path = format!("event.{field}");
        let known = EVENT_DEFAULTS.iter().find(|(name, _)| *name == field);
        Tried::all(match known.map(|(_, default)| default) {
            Some(FieldDefault::False) => vec![json!(false), json!(true)],
            Some(FieldDefault::List) => {
                let kinds = items::product(&self.attributes(field));
                return self.lists(&path, &kinds);
            }
            Some(FieldDefault::Nothing) => {
                let mut numbers = self.integers(&path, Some(0), 0);
                numbers.push(Json::Null);
                numbers
            }
            // Where each session has its own instance, no event comes without one.
            _ if field == "session_id" && self.chart.scope.is_per_session() => self.ids(&path),
            Some(FieldDefault::Text) | None => self.texts(&path),
        })
    }

    /// Returns what the items of a list in the event can be, by attribute.
    fn attributes(&self, field: &str) -> IndexMap<String, Vec<Json>> {
        let start = format!("event.{field}.");
        let keys = self.dependence.compared.keys();
        let attributes = keys.filter_map(|key| key.strip_prefix(&start));
        let attributes: BTreeSet<&str> = attributes.filter(|key| *key != LENGTH).collect();
        let values = |name: &str| (name.to_owned(), self.texts(&format!("{start}{name}")));
        attributes.into_iter().map(values).collect()
    }

    /// Returns what an option can be; null where it is left out.
    pub(super) fn arg(&self, name: &str, arg: &Arg) -> Vec<Json> {
        let path = format!("args.{name}");
        let given = match arg.of.kind {
            FieldType::Boolean => vec![json!(false), json!(true)],
            FieldType::Integer => {
                // An option that sets a parameter has the parameter's values.
                let commands = self.chart.commands.values();
                let set = commands.flat_map(|command| &command.rule.assign);
                let set = set.filter(|(_, literal)| assigns_arg(literal, name));
                let values = set.filter_map(|(field, _)| self.parameter(field));
                let values = values.flatten().map(Answer::value);
                let mut numbers: IndexSet<Json> = values.cloned().collect();
                let fallback = arg.of.minimum.unwrap_or(0);
                if numbers.is_empty() {
                    numbers.extend(self.integers(&path, arg.of.minimum, fallback));
                } else if self.is_compared(&path) {
                    // What the user sets is tried beside literals; a count reaches both sides of it.
                    let unread = self.reading(&|_| Json::Null);
                    numbers.extend(unread.integers(&path, arg.of.minimum, fallback));
                }
                let field = arg.field();
                numbers.retain(|number| field.accepts(&self.chart.phases, number).is_ok());
                numbers.into_iter().collect()
            }
            FieldType::String => {
                let mut texts = self.texts(&path);
                if arg.one_of.is_some() {
                    // What the list has not is refused.
                    texts.retain(|text| text.as_str() != Some(NO_SLUG));
                }
                texts
            }
            // No option is a list.
            FieldType::List => Vec::new(),
            FieldType::Phase => self.chart.phases.keys().map(|name| json!(name)).collect(),
        };
        let left_out = arg.default.iter().map(|_| Json::Null);
        left_out.chain(given).collect()
    }
}
