//! What is wrong with what a chart can do: each judge looks for one kind of thing.

mod blocks;
mod coverage;
mod cycles;
mod judgment;
mod properties;

use self::coverage::absent_of;
use self::judgment::Judge;
use self::properties::claims;
use super::graph::Graph;
use super::report::Report;
use super::search::Search;

/// Looks at everything that was found, and adds to the report what is wrong.
pub(super) fn judge(search: &mut Search, report: &mut Report) {
    let absent = absent_of(search);
    let claims = claims(search);
    let judge = Judge { chart: &search.chart, search, graph: Graph::of(search) };
    let mut findings = judge.failures();
    findings.extend(judge.ends());
    findings.extend(judge.cycles());
    findings.extend(judge.blocks());
    findings.extend(claims.iter().filter_map(|claim| judge.property(claim)));
    // What was not seen may be there where the search was cut off.
    if search.cut.is_none() {
        findings.extend(absent);
    }
    report.findings = findings;
}
