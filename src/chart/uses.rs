//! What a chart's fields and settings are for: which of them the engine reads, which only the user sets, and on which it
//! turns what happens next.

use std::collections::BTreeSet;

use indexmap::IndexSet;

use super::Chart;
use super::fragments::Role;
use super::model::{Field, FieldType, Rule};
use crate::expr::source::{Expr, Literal};
use crate::expr::{Expressions, single_expression};

/// Returns the integers that nothing sets but a command which does nothing else, by one of its options. Where the command
/// has a guard, a field is taken to be set at any time all the same; what is shown of it is replayed with the guard.
pub(crate) fn fields_of_the_user(chart: &Chart) -> IndexSet<&str> {
    let expressions = Expressions::new(chart.templates.clone());
    // The guard turns on nothing but the state, and on no number that may be such a field itself.
    let is_of_the_state = |guard: &Expr| {
        let names = chart.names_in(&expressions, [guard.0.as_str()]);
        names.iter().all(|name| {
            let field = chart.context.get(name);
            chart.lets.contains_key(name)
                || field.is_some_and(|field| field.kind != FieldType::Integer)
        })
    };
    let is_count = |name: &str| chart.cycles.values().any(|cycle| cycle.count == name);
    let commands = || chart.commands.values().map(|command| &command.rule);
    let is_quiet = |rule: &Rule| rule.assign.is_empty() && !rule.advance && rule.actions.is_empty();
    let mut after = chart.on.get("run").into_iter().flatten();
    let mut raised = chart.commands.values().flat_map(|command| &command.raise);
    if !after.all(is_quiet) || raised.next().is_some() {
        return IndexSet::new();
    }
    let is_option = |literal: &Literal| chart.args.keys().any(|arg| assigns_arg(literal, arg));
    let is_plain = |rule: &Rule, name: &str| {
        let does_no_more = rule.assign.len() == 1
            && rule.target.is_none()
            && !rule.advance
            && rule.actions.is_empty()
            && rule.guard.as_ref().is_none_or(is_of_the_state);
        does_no_more && rule.assign.get(name).is_some_and(is_option)
    };
    let is_free = |name: &str, field: &Field| {
        let setters = chart.assigns().filter(|assign| assign.contains_key(name));
        let plain = commands().filter(|rule| is_plain(rule, name)).count();
        let is_plainly_set = plain > 0 && plain == setters.count();
        field.kind == FieldType::Integer && !is_count(name) && is_plainly_set
    };
    let fields = chart.context.iter();
    let free = fields.filter(|(name, field)| is_free(name, field));
    free.map(|(name, _)| name.as_str()).collect()
}

/// Returns true for a value that is the option of that name and nothing else.
pub(crate) fn assigns_arg(literal: &Literal, name: &str) -> bool {
    let expr = literal.text().and_then(|text| single_expression(&text.0));
    expr.is_some_and(|expr| expr == format!("args.{name}"))
}

/// Returns the guards of the commands that set a field; none where one of them has no guard.
pub(crate) fn guards_of<'c>(chart: &'c Chart, field: &str) -> Vec<&'c str> {
    let rules = chart.commands.values().map(|command| &command.rule);
    let setters = rules.filter(|rule| rule.assign.contains_key(field));
    let guards: Option<Vec<&str>> =
        setters.map(|rule| rule.guard.as_ref().map(|guard| guard.0.as_str())).collect();
    guards.unwrap_or_default()
}

/// Returns the fields that the engine itself reads, so that their values must be known: counts, limits, and what names
/// of files are made of.
pub(crate) fn read_by_the_engine(chart: &Chart) -> BTreeSet<&str> {
    let cycles = || chart.cycles.values();
    let names = cycles().flat_map(|cycle| [&cycle.base, &cycle.review, &cycle.answer]);
    let patterns = names.chain(chart.tables.values().map(|table| &table.file));
    let holes = patterns.flat_map(|pattern| pattern.holes());
    let counts = cycles().flat_map(|cycle| [cycle.count.as_str(), &cycle.limit]);
    holes.map(|(hole, _)| hole).chain(counts).collect()
}

/// Returns the names on which it turns what happens next: those that guards, lists and file names look at, and those
/// that are assigned to such a field. What only texts and arguments look at is not among them.
pub(crate) fn steering(chart: &Chart, expressions: &Expressions) -> IndexSet<String> {
    let own = [Some(chart.state.as_str()), chart.next.as_deref()];
    let own = own.into_iter().flatten().chain(read_by_the_engine(chart));
    let mut open: Vec<String> = own.map(str::to_owned).collect();
    let fragments = chart.fragments();
    let texts_of = |is_so: &dyn Fn(&Role<'_>) -> bool| {
        let texts = fragments.iter().filter(|fragment| is_so(&fragment.role));
        chart.names_in(expressions, texts.map(|fragment| fragment.text))
    };
    open.extend(texts_of(&|role| matches!(role, Role::Condition | Role::List | Role::Default)));
    let mut found = IndexSet::new();
    while let Some(name) = open.pop() {
        if found.insert(name.clone()) {
            let first = name.split('.').next().unwrap_or_default();
            open.extend(texts_of(&|role| *role == Role::Assigned(first)));
            found.insert(first.to_owned());
        }
    }
    found
}
