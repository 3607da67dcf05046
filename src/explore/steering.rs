//! Which names decide anything: a setting that only texts show is tried at its default.

use indexmap::IndexSet;

use crate::chart::Chart;
use crate::chart::model::Rule;
use crate::expr::Expressions;
use crate::expr::source::Literal;
use crate::files::pattern::Pattern;

/// The names on which it turns what happens next: those that guards, lists and file names look at, and those that are
/// assigned to such a field. What only texts and arguments look at is not among them.
pub(super) fn steering(chart: &Chart) -> IndexSet<String> {
    let rules = chart.on.values().flatten();
    let rules: Vec<&Rule> = rules
        .chain(chart.commands.values().map(|command| &command.rule))
        .collect();
    let phases = || chart.phases.values().map(|entry| &entry.phase);
    let cycles = || chart.cycles.values();
    let checks = chart.checks.values().flatten();
    let actions = rules.iter().flat_map(|rule| &rule.actions);
    let defaults = chart.args.values().filter_map(|arg| arg.default.as_ref());
    let exprs = (rules.iter().filter_map(|rule| rule.guard.as_ref()))
        .chain(phases().filter_map(|phase| phase.guard.as_ref()))
        .chain(checks.flat_map(|check| check.each.iter().chain(&check.guard)))
        .chain(actions.flat_map(|action| action.each.iter().chain(&action.guard)))
        .chain(chart.args.values().filter_map(|arg| arg.one_of.as_ref()))
        .chain(cycles().flat_map(|cycle| {
            let targets = cycle.advance.iter();
            let targets = targets.filter_map(|target| target.guard.as_ref());
            (std::iter::once(&cycle.exit).chain(&cycle.ready)).chain(targets)
        }))
        .chain(
            (chart.properties.iter()).flat_map(|property| property.claims().map(|(_, expr)| expr)),
        );
    let assigned: Vec<(&String, &Literal)> = (rules.iter().map(|rule| &rule.assign))
        .chain(phases().map(|phase| &phase.entry))
        .chain(cycles().map(|cycle| &cycle.entry))
        .flatten()
        .collect();
    let bases = cycles().flat_map(|cycle| [&cycle.base, &cycle.review, &cycle.answer]);
    let files = bases.chain(chart.tables.values().map(|table| &table.file));
    let holes = files
        .flat_map(Pattern::holes)
        .map(|(hole, _)| hole.to_owned());
    let counts = cycles().flat_map(|cycle| [cycle.count.clone(), cycle.limit.clone()]);
    let own = [Some(chart.state.clone()), chart.next.clone()];
    let mut found = IndexSet::new();
    let mut open: Vec<String> = own
        .into_iter()
        .flatten()
        .chain(counts)
        .chain(holes)
        .collect();
    let expressions = Expressions::new(chart.templates.clone());
    let subjects = cycles().flat_map(|cycle| &cycle.subject);
    let sources = exprs
        .map(|expr| expr.0.as_str())
        .chain(subjects.map(|text| text.0.as_str()));
    let sources = sources.chain(defaults.filter_map(source_of));
    open.extend(sources.flat_map(|source| expressions.names_in(source)));
    while let Some(name) = open.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        let first = name.split('.').next().unwrap_or_default();
        let of_let = chart.lets.get(first).map(|expr| expr.0.as_str());
        let of_field = assigned.iter().filter(|(field, _)| field.as_str() == first);
        let sources = of_field
            .filter_map(|(_, literal)| source_of(literal))
            .chain(of_let);
        open.extend(sources.flat_map(|source| expressions.names_in(source)));
        found.insert(first.to_owned());
    }
    found
}

/// The text of an assignment or a default.
fn source_of(literal: &Literal) -> Option<&str> {
    match literal {
        Literal::Text(text) => Some(&text.0),
        _ => None,
    }
}
