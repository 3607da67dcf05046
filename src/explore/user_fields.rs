//! Context fields that the user can set to anything at any time.

use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::Value as Json;

use crate::chart::Chart;
use crate::chart::model::{Assign, Field, FieldType, Rule};
use crate::expr::single_expression;
use crate::expr::source::Literal;
use crate::hash::IndexMap;

/// What the user can set at any time, by name, with the values that are tried; the default first.
pub(super) type Parameters = IndexMap<String, Arc<[Json]>>;

/// The integers that nothing sets but a command which has no guard and does nothing else, by one of its options.
pub(super) fn fields_of_the_user(chart: &Chart) -> IndexSet<&str> {
    let is_count = |name: &str| chart.cycles.values().any(|cycle| cycle.count == name);
    let commands = || chart.commands.values().map(|command| &command.rule);
    let is_quiet = |rule: &Rule| rule.assign.is_empty() && !rule.advance && rule.actions.is_empty();
    let mut after = chart.on.get("run").into_iter().flatten();
    if !after.all(is_quiet)
        || chart
            .commands
            .values()
            .any(|command| !command.raise.is_empty())
    {
        return IndexSet::new();
    }
    let sets = |rule: &Rule, name: &str| rule.assign.contains_key(name);
    let is_option = |literal: &Literal| chart.args.keys().any(|arg| assigns_arg(literal, arg));
    let is_plain = |rule: &Rule, name: &str| {
        let does_no_more = rule.assign.len() == 1
            && rule.target.is_none()
            && !rule.advance
            && rule.actions.is_empty()
            && rule.guard.is_none();
        does_no_more && rule.assign.get(name).is_some_and(is_option)
    };
    let phases = chart.phases.values().map(|entry| &entry.phase.entry);
    let cycles = chart.cycles.values().map(|cycle| &cycle.entry);
    let rules = chart.on.values().flatten().map(|rule| &rule.assign);
    let others: Vec<&Assign> = phases.chain(cycles).chain(rules).collect();
    let is_free = |name: &str, field: &Field| {
        field.kind == FieldType::Integer
            && !is_count(name)
            && others.iter().all(|assign| !assign.contains_key(name))
            && commands().any(|rule| is_plain(rule, name))
            && commands().all(|rule| is_plain(rule, name) || !sets(rule, name))
    };
    let fields = chart.context.iter();
    let free = fields.filter(|(name, field)| is_free(name, field));
    free.map(|(name, _)| name.as_str()).collect()
}

/// True for a value that is the option of that name and nothing else.
pub(super) fn assigns_arg(literal: &Literal, name: &str) -> bool {
    match literal {
        Literal::Text(text) => {
            single_expression(&text.0).is_some_and(|expr| expr == format!("args.{name}"))
        }
        _ => false,
    }
}
