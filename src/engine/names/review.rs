//! `review`: the review that has just run.

use std::sync::Arc;

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup, at_rest};
use super::{Looked, Names};
use crate::clock;
use crate::engine::context;
use crate::engine::decision::{Ended, Outcome};
use crate::engine::fault::Fault;
use crate::expr::types::Type;
use crate::host::vendors::{SEVERITIES, VERDICTS};
use crate::page;
use crate::reviewer::finding::Found;
use std::time::Duration;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("review.ok", "a review has just run and written its file", "rules after an `invoke`"),
        ("review.error", "why it failed; none if it succeeded", "rules after an `invoke`"),
        ("review.verdict", "its verdict; none if there was none", "rules after an `invoke`"),
        ("review.worst", "the severity of its worst finding; none if it has no finding; one that cannot be read counts as the worst", "rules after an `invoke`"),
        ("review.found", "how many findings of each severity: `2 major, 1 minor`; empty if there is none", "rules after an `invoke`"),
        ("review.nothing", "it says with an empty list that it has found nothing", "rules after an `invoke`"),
        ("review.findings[].id", "the name of a finding: `plan-review-2.1`", "rules after an `invoke`"),
        ("review.findings[].severity", "its severity", "rules after an `invoke`"),
        ("review.findings[].file", "the file that it is about; none if it has none", "rules after an `invoke`"),
        ("review.findings[].line", "the line; none if it has none", "rules after an `invoke`"),
        ("review.findings[].title", "what is wrong, in one line", "rules after an `invoke`"),
        ("review.ran", "it names a command that it ran", "rules after an `invoke`"),
        ("review.n", "its number", "rules after an `invoke`"),
        ("review.by", "who did it; none if the chart does not say", "rules after an `invoke`"),
        ("review.seconds", "how many seconds it took", "rules after an `invoke`"),
        ("review.took", "the same as a person reads it: `2 min 10 s`", "rules after an `invoke`"),
        ("review.cost", "what it cost: `$0.21`; none if that is unknown", "rules after an `invoke`"),
        ("review.until", "if it failed because no reviewer can run: until when; else none", "rules after an `invoke`"),
        ("review.file", "the file it wrote", "rules after an `invoke`"),
        ("review.answer", "the file that answers it", "rules after an `invoke`"),
    ],
    kind: |_| Some(kind()),
    value: Lookup::Fields(value),
};

fn kind() -> Type {
    let severities = || Type::word(SEVERITIES);
    let finding = Type::record([
        ("id", Type::Text),
        ("severity", severities()),
        ("file", Type::Text.or_none()),
        ("line", Type::Integer.or_none()),
        ("title", Type::Text),
    ]);
    Type::record([
        ("ok", Type::Boolean),
        ("error", Type::Text.or_none()),
        ("verdict", Type::word(VERDICTS).or_none()),
        ("worst", severities().or_none()),
        ("found", Type::Text),
        ("nothing", Type::Boolean),
        ("findings", Type::list(finding)),
        ("ran", Type::Boolean),
        ("n", Type::Integer),
        ("by", Type::Text.or_none()),
        ("seconds", Type::Integer),
        ("took", Type::Text),
        ("cost", Type::Text.or_none()),
        ("until", Type::Text.or_none()),
        ("file", Type::Text.or_none()),
        ("answer", Type::Text.or_none()),
    ])
}

fn value(names: &Arc<Names>, key: &str) -> Looked {
    let (review, is_preview) = {
        let moving = names.moving();
        // After a gate that fails, no review has run.
        let review = (moving.review.clone()).filter(|run| run.outcome.failed_gate().is_none());
        (review, moving.is_preview)
    };
    let none = || Value::from(());
    let Some(Ended { invocation, outcome, effort, .. }) = review.as_deref() else {
        let value = context::to_value(&at_rest("review", key)?);
        let why = || format!("no review has run, so there is no `review.{key}`");
        return Some(match is_preview && key != "ok" {
            true => Err(Fault::World(why())),
            false => Ok(value),
        });
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
        ("ran", _) => Ok(Value::from(!outcome.found().ran.is_empty())),
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
