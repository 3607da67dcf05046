//! `spent`: what reviews cost.

use super::built_in::{BuiltIn, Lookup};
use super::types::ChartNames;
use crate::engine::world::Source;
use crate::expr::single_expression;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("spent.cycle", "what the reviews of the running cycle cost so far; none without a budget", ""),
        ("spent.instance", "what all reviews of the instance cost: `$3.20`, or `$3.20 + 1 unknown`; none without a budget", ""),
        ("spent.over", "the budget that is used up: `cycle`, `instance`; none if there is money left", ""),
    ],
    kind: |_| {
        Some(Type::record([
            ("cycle", Type::Text.or_none()),
            ("instance", Type::Text.or_none()),
            ("over", Type::word(["cycle", "instance"]).or_none()),
        ]))
    },
    value: Lookup::One(|names| {
        let cycle = names.running();
        let files = cycle.and_then(|cycle| names.review_files(cycle).ok());
        names.look(&Source::Spent {
            cycle: cycle.map(|cycle| cycle.id.clone()),
            files: files.unwrap_or_default(),
            count: cycle.map_or(0, |cycle| names.count(cycle)),
        })
    }),
};

/// Returns what is not none where `spent.KEY` holds.
pub(super) fn implied(names: &ChartNames<'_>, key: &str) -> Vec<String> {
    let mut paths = vec!["spent.cycle".to_owned(), "spent.instance".to_owned()];
    let budgets = names.chart.budget.parts().into_iter();
    let budgets = budgets.filter_map(|(_, text)| single_expression(&text?.0));
    paths.extend(budgets.filter(|_| key == "over").map(str::to_owned));
    paths
}
