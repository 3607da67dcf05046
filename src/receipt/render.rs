//! The receipts that follow from a journal.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::statement::{PASSED, Receipt, Reviewed};
use crate::chart::Chart;
use crate::engine::context::{Context, base, running_cycle};
use crate::hash::{self, IndexMap};
use crate::store::facts::RUN;
use crate::store::journal::{DecisionLine, Line, ReviewLine};

/// Returns the receipts of an instance in the directory `dir` whose journal has these lines, oldest first.
pub(super) fn rendered(chart: &Chart, dir: &Path, lines: &[Line]) -> Vec<Receipt> {
    let is_of_changes = chart.scope.is_of_changes();
    let running = |context: &Context| {
        let cycle = running_cycle(chart, context)?;
        // A change is begun again and again, and its last reviews count.
        let title = match is_of_changes {
            true => cycle.id.clone(),
            false => cycle.title(&base(cycle, context).unwrap_or_default()),
        };
        Some((&cycle.id, title))
    };
    let mut receipts = Vec::new();
    let mut reviews: Vec<&ReviewLine> = Vec::new();
    let mut gates: Vec<(String, Option<i32>)> = Vec::new();
    let mut was = None;
    for line in lines {
        let decided = match line {
            Line::Review(review) => {
                reviews.push(review);
                continue;
            }
            Line::Gate(gate) => {
                gates.push((gate.command.clone(), gate.exit));
                continue;
            }
            Line::Decision(decided) => decided,
        };
        let Some(wrote) = &decided.wrote else { continue };
        let changed = decided.changed.iter().map(|(name, [old, _])| (name.clone(), old.clone()));
        let mut before = wrote.fields.clone();
        before.extend(changed);
        let (begun, is) = (running(&before), running(&wrote.fields));
        let left = was.filter(|was| *was != begun).flatten().map(|left| (left, true));
        let ended = begun.filter(|begun| Some(begun) != is.as_ref()).map(|ended| (ended, false));
        for ((id, title), is_left) in left.into_iter().chain(ended) {
            let mut reviews = std::mem::take(&mut reviews);
            let gates = std::mem::take(&mut gates);
            reviews.retain(|review| review.run.cycle == *id);
            if is_of_changes && reviews.is_empty() {
                continue;
            }
            receipts.push(Receipt {
                at: decided.at.clone(),
                instance: dir.to_owned(),
                cycle: title,
                ended: match is_left {
                    true => "outside taskie".to_owned(),
                    false => how(chart, decided, &before, &reviews),
                },
                session: decided.session.clone(),
                chart: chart.id.clone(),
                chart_sha256: fs::read(&chart.origin).ok().map(|text| hash::of(&text)),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                reviews: reviews.iter().map(|review| Reviewed::of(review)).collect(),
                gates,
                code: reviews.last().and_then(|review| review.code.clone()),
                before: None,
            });
        }
        was = Some(is);
    }
    receipts
}

/// Returns the cycles of an instance that have ended and not passed, by their last end.
pub(crate) fn unpassed(chart: &Chart, dir: &Path, lines: &[Line]) -> Vec<String> {
    let mut ended: IndexMap<String, Receipt> = IndexMap::default();
    for receipt in rendered(chart, dir, lines) {
        ended.insert(receipt.cycle.clone(), receipt);
    }
    let unpassed = ended.into_values().filter(|receipt| !receipt.has_passed());
    unpassed.map(|receipt| format!("{} ({})", receipt.cycle, receipt.ended)).collect()
}

/// Returns how a decision has ended a cycle with these reviews: it has passed if the chart went on after them at a stop, and its
/// reviews were not off.
fn how(chart: &Chart, decided: &DecisionLine, before: &Context, reviews: &[&ReviewLine]) -> String {
    let advances = decided.fired().any(|rule| chart.advances(&rule.rule));
    let is_off = running_cycle(chart, before)
        .is_some_and(|cycle| before.get(&cycle.limit) == Some(&json!(0)));
    let last = reviews.last().filter(|review| review.run.failure().is_none());
    let has_verdict = last.is_some_and(|review| review.run.verdict.is_some());
    match () {
        () if decided.is_of_command() => {
            decided.event.strip_prefix(RUN).unwrap_or(&decided.event).to_owned()
        }
        () if advances && has_verdict && !is_off => PASSED.to_owned(),
        () => "not passed".to_owned(),
    }
}
