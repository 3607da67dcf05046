//! Finds the numbers that are tried: those that a chart names beside its fields and settings.

use std::collections::BTreeSet;

use super::numbers::{LARGE, Numbers};
use super::read::Program;
use super::term::{Node, Term};
use crate::chart::model::FieldType;

impl Program {
    /// Finds the numbers beside each field and setting.
    pub(super) fn find_numbers(&mut self) -> Numbers {
        let program = self;
        let mut numbers = Numbers::default();
        for (at, value) in program.assigned() {
            let field = program.terms.of(Node::Field(at));
            program.relate(&mut numbers, &[field, value]);
        }
        for term in program.everything() {
            if let Node::Compare(_, a, b) = &*program.terms.node(term) {
                program.relate(&mut numbers, &[*a, *b]);
            }
        }
        let chart = std::sync::Arc::clone(&program.chart);
        for cycle in chart.cycles.values() {
            let fields = [&cycle.count, &cycle.limit].map(|name| program.field(name));
            program.relate(&mut numbers, &fields);
        }
        let fields = chart.context.iter().enumerate().map(|(at, (_, it))| (Node::Field(at), it));
        let settings = chart.config.iter();
        let settings = settings.map(|(name, it)| (Node::Name(format!("config.{name}")), it));
        for (node, field) in fields.chain(settings).filter(|it| it.1.kind == FieldType::Integer) {
            let term = program.terms.of(node);
            let setting = field.setting().map(|name| Node::Name(format!("config.{name}")));
            let setting = setting.map(|setting| program.terms.of(setting));
            program.relate(&mut numbers, &[&[term], setting.as_slice()].concat());
            let least = field.minimum.unwrap_or(0).max(0);
            numbers.add(term, least..=3.max(least + 1));
            numbers.add(term, field.maximum.filter(|most| *most < LARGE));
            if matches!(&*program.terms.node(term), Node::Field(_)) {
                numbers.add(term, field.default.as_ref().and_then(|it| it.json().as_i64()));
            }
        }
        numbers
    }

    /// Makes what these terms contain one group.
    fn relate(&mut self, numbers: &mut Numbers, terms: &[Term]) {
        let mut open = terms.to_vec();
        let (mut related, mut named) = (Vec::new(), BTreeSet::new());
        while let Some(term) = open.pop() {
            match &*self.terms.node(term) {
                Node::Field(_) => related.push(term),
                Node::Name(name) if name.starts_with("config.") => related.push(term),
                Node::Name(name) if name == "review.n" => related.extend(self.counts(true)),
                Node::Cycle(key) if key == "n" => related.extend(self.counts(true)),
                Node::Cycle(key) if key == "limit" => related.extend(self.counts(false)),
                Node::Known(value) => {
                    let number = value.as_i64().filter(|number| number.abs() < LARGE);
                    named.extend(number.into_iter().flat_map(|it| [it - 1, it, it + 1]));
                }
                Node::Compare(..) => {}
                _ => open.extend(self.terms.parts(term)),
            }
        }
        numbers.join(&related, named);
    }

    /// Returns a field of the context as a term.
    pub(super) fn field(&mut self, name: &str) -> Term {
        let node = match self.chart.context.get_index_of(name) {
            Some(at) => Node::Field(at),
            None => Node::Name(name.to_owned()),
        };
        self.terms.of(node)
    }

    /// Returns the fields that count the reviews of cycles, or that limit them.
    fn counts(&mut self, is_count: bool) -> Vec<Term> {
        let chart = std::sync::Arc::clone(&self.chart);
        let cycles = chart.cycles.values();
        let names = cycles.map(|cycle| if is_count { &cycle.count } else { &cycle.limit });
        names.map(|name| self.field(name)).collect()
    }
}
