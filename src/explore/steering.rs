//! Which names decide anything: a setting that only texts show is tried at its default.

use indexmap::IndexSet;

use super::counters::read_by_the_engine;
use crate::chart::Chart;
use crate::chart::fragments::{Fragment, Role};
use crate::expr::Expressions;

/// Returns the names on which it turns what happens next: those that guards, lists and file names look at, and those
/// that are assigned to such a field. What only texts and arguments look at is not among them.
pub(super) fn steering(chart: &Chart) -> IndexSet<String> {
    let own = [Some(chart.state.as_str()), chart.next.as_deref()];
    let own = own.into_iter().flatten().chain(read_by_the_engine(chart));
    let mut found = IndexSet::new();
    let mut open: Vec<String> = own.map(str::to_owned).collect();
    let expressions = Expressions::new(chart.templates.clone());
    let fragments = chart.fragments();
    let decides = |fragment: &&Fragment<'_>| {
        matches!(fragment.role, Role::Condition | Role::List | Role::Default)
    };
    let deciding = fragments.iter().filter(decides);
    open.extend(deciding.flat_map(|fragment| expressions.names_in(fragment.text)));
    while let Some(name) = open.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        let first = name.split('.').next().unwrap_or_default();
        let of_let = chart.lets.get(first).map(|expr| expr.0.as_str());
        let of_field = fragments
            .iter()
            .filter(|fragment| fragment.role == Role::Assigned(first));
        let texts = of_field.map(|fragment| fragment.text).chain(of_let);
        open.extend(texts.flat_map(|text| expressions.names_in(text)));
        found.insert(first.to_owned());
    }
    found
}
