//! `taskie status --cost`: sums up the reviews of a project: verdicts, time and cost.

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;

use super::error::CliError;
use super::output::say_json;
use super::place;
use crate::chart::Chart;
use crate::page::{PLAIN, Page, STRONG, width};
use crate::store::Store;
use crate::store::journal::{self, Line};
use crate::text::shown;
use crate::view::figures::{Gates, Totals, Waited, counts, rounds, rows};

/// Prints the figures.
pub(crate) fn run(
    chart: &Arc<Chart>,
    only: Option<&str>,
    is_json: bool,
) -> Result<ExitCode, CliError> {
    let root = place::root(chart)?;
    let store = Store::of(&root, &chart.scope.home);
    let (mut reviews, mut gates) = (Vec::new(), Gates::default());
    let mut waited = Waited::default();
    for line in journal::read_all(&store) {
        if only.is_some_and(|only| line.instance() != only) {
            continue;
        }
        waited.add(&line);
        match line {
            Line::Review(review) => reviews.push(review),
            Line::Gate(gate) => gates.add(&gate),
            Line::Decision(_) => {}
        }
    }
    reviews.retain(|review| counts(&review.run));
    let Totals { all, cycles, reviewers } = Totals::of(chart, &reviews);
    let rounds = rounds(chart, &reviews);
    if is_json {
        say_json(json!({
            "all": all, "cycles": cycles, "reviewers": reviewers, "rounds_until_clean": rounds, "gates": gates,
            "waited_for_user": waited,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page::new(width(), 0);
    match reviews.is_empty() {
        true => page.text(PLAIN, "no review is recorded"),
        false => page.text(STRONG, &all.sentence()),
    }
    if gates.runs > 0 {
        page.text(PLAIN, &gates.sentence());
    }
    if waited.calls > 0 {
        page.text(PLAIN, &waited.sentence(&all, &gates));
    }
    if reviews.is_empty() {
        page.print();
        return Ok(ExitCode::SUCCESS);
    }
    for (title, groups) in [("cycle", &cycles), ("reviewer", &reviewers)] {
        page.blank();
        page.table(&rows(title, groups), 1);
    }
    if !rounds.is_empty() {
        page.blank();
        let rounds = rounds.iter().map(|(cycle, rounds)| {
            let total: u64 = rounds.iter().sum();
            #[expect(clippy::cast_precision_loss, reason = "nobody reviews that often")]
            let mean = total as f64 / rounds.len().max(1) as f64;
            format!("{} {mean:.1}", shown(cycle))
        });
        let rounds: Vec<String> = rounds.collect();
        page.text(
            PLAIN,
            &format!("Reviews until the first clean one, on average: {}", rounds.join(", ")),
        );
    }
    page.print();
    Ok(ExitCode::SUCCESS)
}
