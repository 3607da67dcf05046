//! Which names decide anything: a setting that only texts show is tried at its default.

use indexmap::IndexSet;

use super::counters::read_by_the_engine;
use crate::chart::Chart;
use crate::chart::fragments::Role;
use crate::expr::Expressions;

/// Returns the names on which it turns what happens next: those that guards, lists and file names look at, and those
/// that are assigned to such a field. What only texts and arguments look at is not among them.
pub(super) fn steering(chart: &Chart) -> IndexSet<String> {
    let own = [Some(chart.state.as_str()), chart.next.as_deref()];
    let own = own.into_iter().flatten().chain(read_by_the_engine(chart));
    let mut open: Vec<String> = own.map(str::to_owned).collect();
    let expressions = Expressions::new(chart.templates.clone());
    let fragments = chart.fragments();
    let texts_of = |is_so: &dyn Fn(&Role<'_>) -> bool| {
        let texts = fragments.iter().filter(|fragment| is_so(&fragment.role));
        chart.names_in(&expressions, texts.map(|fragment| fragment.text))
    };
    open.extend(texts_of(&|role| {
        matches!(role, Role::Condition | Role::List | Role::Default)
    }));
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
