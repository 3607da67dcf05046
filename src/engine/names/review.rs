//! `review`: the review that has just run.

use std::sync::Arc;

use minijinja::value::Value;

use super::{Looked, Names, at_rest};
use crate::clock;
use crate::engine::decision::{Ended, Outcome};
use crate::page;
use crate::reviewer::finding::Found;
use std::time::Duration;

/// Looks up `review.KEY`.
pub(super) fn value(names: &Arc<Names>, key: &str) -> Looked {
    // After a gate that fails, no review has run.
    let review = names.review().filter(|run| run.outcome.failed_gate().is_none());
    let none = || Value::from(());
    let Some(Ended { invocation, outcome, effort, .. }) = review.as_deref() else {
        return at_rest("review", key);
    };
    Some(match (key, outcome) {
        ("ok", outcome) => Ok(Value::from(matches!(outcome, Outcome::Ran { .. }))),
        ("error", Outcome::Failed(why)) => Ok(Value::from(why.as_str())),
        ("verdict", Outcome::Ran { verdict, .. }) => Ok(Value::from(verdict.clone())),
        ("error" | "verdict", _) => Ok(none()),
        ("worst", Outcome::Ran { verdict: Some(_), found }) => Ok(Value::from(found.worst())),
        ("worst", _) => Ok(none()),
        ("found", _) => Ok(Value::from(outcome.found().in_words())),
        ("nothing", _) => Ok(Value::from(outcome.found().is_nothing())),
        ("findings", _) => Ok(findings(&outcome.found(), &invocation.file)),
        ("n", _) => Ok(Value::from(invocation.n)),
        ("by", _) => Ok(Value::from(effort.by.clone())),
        ("seconds", _) => Ok(Value::from(effort.seconds)),
        ("took", _) => Ok(Value::from(page::span(Duration::from_secs(effort.seconds)))),
        ("cost", _) => Ok(Value::from(effort.cost.map(page::dollars))),
        ("until", _) => Ok(Value::from(effort.until.map(clock::in_utc))),
        ("file", _) => names.path(&invocation.file).map(Value::from),
        ("answer", _) => match names.chart.cycles.get(&invocation.cycle) {
            Some(cycle) => names.file_path(cycle, &cycle.answer, invocation.n),
            None => Ok(none()),
        },
        _ => return None,
    })
}

/// Returns the findings of a review as records; `file` is the review's file.
fn findings(found: &Found, file: &str) -> Value {
    let records = found.named(file).map(|(id, finding)| {
        Value::from_pairs([
            ("id", Value::from(id)),
            ("severity", Value::from(finding.severity.as_str())),
            ("file", Value::from(finding.file.as_deref())),
            ("line", Value::from(finding.line)),
            ("title", Value::from(finding.title.as_str())),
        ])
    });
    records.collect::<Vec<_>>().into()
}
