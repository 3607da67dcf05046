//! Which numbers are tried: 0 to 3, and those that the chart names beside a field or a setting. What a field counts beyond
//! all of them is one number more.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::read::Program;
use super::term::{Node, Term};
use crate::chart::model::{Field, FieldType};

/// A greater number is tried only if a field can have it by itself.
const LARGE: i64 = 1_000;

/// The numbers beside each field and setting: those of what is compared with each other are the same.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// For each term the number of its group.
    groups: FxHashMap<Term, usize>,
    beside: Vec<BTreeSet<i64>>,
}

impl Numbers {
    pub(super) fn of(program: &mut Program) -> Self {
        let mut numbers = Self::default();
        for (at, value) in program.assigned() {
            let field = program.terms.of(Node::Field(at));
            numbers.relate(program, &[field, value]);
        }
        for term in program.everything() {
            if let Node::Compare(_, a, b) = &*program.terms.node(term) {
                numbers.relate(program, &[*a, *b]);
            }
        }
        let chart = std::sync::Arc::clone(&program.chart);
        for cycle in chart.cycles.values() {
            let fields = [&cycle.count, &cycle.limit].map(|name| program.field(name));
            numbers.relate(program, &fields);
        }
        let fields = chart.context.iter().enumerate().map(|(at, (_, it))| (Node::Field(at), it));
        let settings = chart.config.iter();
        let settings = settings.map(|(name, it)| (Node::Name(format!("config.{name}")), it));
        for (node, field) in fields.chain(settings).filter(|it| it.1.kind == FieldType::Integer) {
            let term = program.terms.of(node);
            let setting = field.setting().map(|name| Node::Name(format!("config.{name}")));
            let setting = setting.map(|setting| program.terms.of(setting));
            numbers.relate(program, &[&[term], setting.as_slice()].concat());
            let group = numbers.group(term);
            let named = &mut numbers.beside[group];
            let least = field.minimum.unwrap_or(0).max(0);
            named.extend(least..=3.max(least + 1));
            named.extend(field.maximum.filter(|most| *most < LARGE));
            if matches!(&*program.terms.node(term), Node::Field(_)) {
                named.extend(field.default.as_ref().and_then(|it| it.json().as_i64()));
            }
        }
        numbers
    }

    /// Makes what these terms contain one group.
    fn relate(&mut self, program: &mut Program, terms: &[Term]) {
        let mut open = terms.to_vec();
        let (mut related, mut named) = (Vec::new(), BTreeSet::new());
        while let Some(term) = open.pop() {
            match &*program.terms.node(term) {
                Node::Field(_) => related.push(term),
                Node::Name(name) if name.starts_with("config.") => related.push(term),
                Node::Name(name) if name == "review.n" => related.extend(program.counts(true)),
                Node::Cycle(key) if key == "n" => related.extend(program.counts(true)),
                Node::Cycle(key) if key == "limit" => related.extend(program.counts(false)),
                Node::Known(value) => {
                    let number = value.as_i64().filter(|number| number.abs() < LARGE);
                    named.extend(number.into_iter().flat_map(|it| [it - 1, it, it + 1]));
                }
                Node::Compare(..) => {}
                _ => open.extend(program.terms.parts(term)),
            }
        }
        let Some(first) = related.first().map(|term| self.group(*term)) else { return };
        for term in &related[1..] {
            let group = self.group(*term);
            if group != first {
                named.append(&mut self.beside[group]);
                self.groups.values_mut().filter(|it| **it == group).for_each(|it| *it = first);
            }
        }
        self.beside[first].append(&mut named);
    }

    fn group(&mut self, term: Term) -> usize {
        let next = self.beside.len();
        let group = *self.groups.entry(term).or_insert(next);
        if group == next {
            self.beside.push(BTreeSet::new());
        }
        group
    }

    /// Returns the numbers beside a field or a setting.
    pub(super) fn beside(&self, term: Term) -> Option<&BTreeSet<i64>> {
        self.beside.get(*self.groups.get(&term)?)
    }

    /// Returns the numbers that are tried for a field or a setting.
    pub(super) fn tried(&self, term: Term, field: &Field) -> Vec<i64> {
        let least = field.minimum.unwrap_or(i64::MIN);
        let most = field.maximum.unwrap_or(i64::MAX);
        let tried = self.beside(term).into_iter().flatten().copied();
        tried.filter(|number| (least..=most).contains(number)).collect()
    }

    /// Returns a number as a field holds it: all that are greater than those that are tried are one, unless the field
    /// itself has a limit.
    pub(super) fn held(&self, term: Term, field: &Field, number: i64) -> i64 {
        let most = self.beside(term).and_then(|it| it.last()).map_or(LARGE, |it| it + 1);
        match field.maximum {
            Some(most) if most < LARGE => number,
            _ => number.clamp(-most, most),
        }
    }
}

impl Program {
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
