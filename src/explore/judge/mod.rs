//! The properties, each proved or refuted on the space of states: a file for each theme, and `judgment` for what they
//! share.

/// The way to an element of the chart.
macro_rules! steps {
    ($($step:expr),* $(,)?) => { vec![$(crate::diagnostic::toml::Segment::from($step)),*] };
}

mod blame;
mod blocks;
mod checks;
mod coverage;
mod cycles;
mod ends;
mod judgment;
mod properties;
mod reach;
mod settings;

use std::cell::RefCell;
use std::sync::Arc;

use super::graph::Backward;
use super::replay::Replay;
use super::report::Report;
use super::search::Search;
use judgment::Judge;

/// Judges every property, in the order in which a person reads them.
pub(crate) fn judge(search: &mut Search, report: &mut Report) {
    let chart = Arc::clone(&search.moves.tree.chart);
    let truths = properties::truths(search);
    let checks = checks::checks(search);
    let blames = blame::blames(search);
    // Without time, not all values of a property or a check were found.
    if let Some(cut) = search.moves.tree.budget.cut() {
        search.cut.get_or_insert(cut);
    }
    let back = &Backward::of(search.states.len(), search.steps());
    let replay = Replay::of(search, back);
    let judge = Judge {
        chart: &chart,
        search: replay.search,
        back,
        replay: RefCell::new(replay),
        checks,
        blames,
    };
    let results = &mut report.results;
    results.extend(judge.decisions());
    results.push(judge.schema());
    results.extend(judge.phases());
    results.extend(judge.rules());
    results.extend(judge.finals());
    results.extend(judge.cycles());
    results.extend(judge.blocks());
    results.extend(judge.own_properties(&truths));
}
