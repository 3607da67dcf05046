//! Follows every course that the conditions of a chart allow, with numbers up to 3 and those that the chart names.
//!
//! A state is the chart's context. Everything else that a decision looks at (files, tables, settings, options, the event)
//! has no value: it is a `term`, and the smallest condition that depends on one is asked, with both answers
//! (`evaluate`). `decide` says what one event can do, `search` finds the states, `graph` the transitions between them, and
//! `judge` what is wrong with them. It does not know what files and settings contain, so a way that it shows may need
//! conditions that cannot meet.

mod decide;
mod evaluate;
mod facts;
mod graph;
mod judge;
mod limits;
mod names;
mod numbers;
mod read;
pub mod report;
mod search;
mod term;

use std::sync::Arc;

use crate::chart::Chart;
pub use limits::Limits;
use report::Report;
use search::Search;

/// Follows `chart`, whose expressions have been checked.
pub fn follow(chart: &Arc<Chart>, limits: &Limits) -> Report {
    let mut search = Search::of(chart, limits);
    let mut report = Report::default();
    judge::judge(&mut search, &mut report);
    report.states = search.looked_at;
    report.transitions = search.steps.len();
    report.cut = search.cut.take().or_else(|| {
        let why = search.is_up()?;
        Some(format!("{why} after all states: not all of it was judged"))
    });
    report
}

#[cfg(test)]
mod tests;
