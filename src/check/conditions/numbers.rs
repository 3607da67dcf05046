//! Which numbers are tried: 0 to 3, and those that the chart names. What a field counts beyond all of them is one number
//! more.

use std::collections::BTreeSet;

use super::read::Program;
use super::term::Node;
use crate::chart::model::Field;

/// A greater number is tried only if a field can have it by itself.
const LARGE: i64 = 1_000;

/// The numbers that are tried.
#[derive(Debug, Default)]
pub(super) struct Numbers(BTreeSet<i64>);

impl Numbers {
    /// Finds the numbers that the chart names beside a field, a cycle or a setting.
    pub(super) fn of(program: &mut Program) -> Self {
        let mut named = Vec::new();
        for term in program.everything() {
            let (Node::Compare(_, a, b) | Node::Math(_, a, b) | Node::If(_, a, b)) =
                *program.terms.node(term)
            else {
                continue;
            };
            let names = program.terms.names(term);
            let is_counted = |name: &u32| {
                let name = program.terms.name_text(*name);
                let source = name.split('.').next().unwrap_or_default();
                matches!(source, "cycle" | "review" | "config")
                    || program.chart.context.contains_key(name)
            };
            if !names.iter().any(is_counted) {
                continue;
            }
            for number in [a, b].into_iter().filter_map(|side| program.terms.number(side)) {
                named.extend((-1..=1).filter_map(|by| number.checked_add(by)));
            }
        }
        let chart = &program.chart;
        for field in chart.context.values().chain(chart.config.values()) {
            named.extend(field.minimum.into_iter().flat_map(|it| [it, it.saturating_add(1)]));
            named.extend(field.maximum);
        }
        let assigned = chart.assigns().flat_map(|assign| assign.values());
        let defaults = chart.context.values().filter_map(|field| field.default.as_ref());
        for number in assigned.chain(defaults).filter_map(|it| it.json().as_i64()) {
            named.extend([number, number.saturating_add(1)]);
        }
        let numbers = (0..=3).chain(named.into_iter().filter(|it| it.abs() < LARGE));
        Self(numbers.collect())
    }

    pub(super) fn most(&self) -> i64 {
        self.0.last().copied().unwrap_or_default()
    }

    /// Returns the numbers that are tried for a field or a setting.
    pub(super) fn tried(&self, field: &Field) -> Vec<i64> {
        let least = field.minimum.unwrap_or(i64::MIN);
        let most = field.maximum.unwrap_or(i64::MAX);
        self.0.iter().copied().filter(|number| (least..=most).contains(number)).collect()
    }

    /// Returns a number as a field holds it: all that are greater than those that are tried are one, unless the field
    /// itself has a limit.
    pub(super) fn held(&self, field: &Field, number: i64) -> i64 {
        let most = self.most() + 1;
        match field.maximum {
            Some(most) if most < LARGE => number,
            _ => number.clamp(-most, most),
        }
    }
}
