//! The properties, each proved or refuted on the space of states: a file for each theme, and `judgment` for what they
//! share.

/// The way to an element of the chart.
macro_rules! steps {
    ($($step:expr),* $(,)?) => { vec![$(crate::diagnostic::toml::Step::from($step)),*] };
}

mod blocks;
mod coverage;
mod cycles;
mod ends;
mod judgment;
mod liveness;
mod place;
mod properties;

use std::sync::Arc;

use super::report::PropertyResult;
use super::search::Search;
use judgment::Judge;

/// All results, in the order in which a person reads them.
pub(crate) fn judge(search: &mut Search) -> Vec<PropertyResult> {
    let mut results = Vec::new();
    let own = properties::own_properties(search);
    let chart = Arc::clone(&search.moves.tree.chart);
    let judge = Judge::of(&chart, search);
    results.extend(judge.decisions());
    results.push(judge.schema());
    results.extend(judge.phases());
    results.extend(judge.rules());
    results.extend(judge.finals());
    results.extend(judge.cycles());
    results.extend(judge.blocks());
    results.extend(own);
    results
}
