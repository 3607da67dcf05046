//! `cycle`: the running cycle.

use std::sync::Arc;

use minijinja::value::Value;

use super::{Looked, Names, at_rest};
use crate::engine::context;
use crate::expr::source::Expr;

/// When this many reviews in a row change nothing, the cycle has stalled.
const ROUNDS: usize = 2;

/// Looks up `cycle.KEY`.
pub(super) fn value(names: &Arc<Names>, key: &str) -> Looked {
    let Some(cycle) = names.running() else {
        return at_rest("cycle", key);
    };
    let n = names.count(cycle);
    let holds = |expr: Option<&Expr>| {
        let place = format_args!("cycles.{}.{key}", cycle.id);
        names.holds(place, expr, &names.root()).map(Value::from)
    };
    Some(match key {
        "id" => Ok(Value::from(cycle.id.as_str())),
        "post" => Ok(Value::from(cycle.post.as_str())),
        "stage" => Ok(Value::from(cycle.stage.clone())),
        "resume" => Ok(Value::from(cycle.resume.clone())),
        "n" => Ok(Value::from(n + 1)),
        "limit" => Ok(context::to_value(&names.field(&cycle.limit))),
        "due" => names.is_due(cycle).map(Value::from),
        "answered" => names.is_answered(cycle).map(Value::from),
        "owed" => {
            let is_post = names.next().as_str() == Some(&cycle.post);
            let is_answered = names.is_answered(cycle);
            is_answered.map(|is_answered| Value::from(is_post && !is_answered))
        }
        "stalled" => names.nested("cycle.stalled", || names.agree(cycle, ROUNDS)),
        "unchanged" => names.nested("cycle.stalled", || names.is_unchanged(cycle).map(Value::from)),
        "of_code" => Ok(Value::from(cycle.is_of_code())),
        "gates" => names.nested("cycle.gates", || names.gates(cycle).map(Value::from)),
        "findings" => names.look(&names.findings_source(true)),
        "exit" => names.nested("cycle.exit", || holds(Some(&cycle.exit))),
        "ready" => names.nested("cycle.ready", || holds(cycle.ready.as_ref())),
        "next" => names.nested("cycle.next", || {
            let index = names.open_target(cycle)?;
            Ok(Value::from(cycle.advance[index].target.as_str()))
        }),
        "review" => names.file_path(cycle, &cycle.review, n + 1),
        "last" => names.file_path(cycle, &cycle.review, n).and_then(|review| {
            let answer = names.file_path(cycle, &cycle.answer, n)?;
            Ok(Value::from_pairs([("review", review), ("answer", answer)]))
        }),
        "subject" => names.nested("cycle.subject", || {
            let files = names.subject(cycle)?;
            let paths = files.iter().map(|file| names.path(file));
            paths.collect::<Result<Vec<_>, _>>().map(Value::from)
        }),
        "text" => names.nested("cycle.text", || {
            let texts = cycle.text.iter().map(|(name, text)| {
                let place = format_args!("cycles.{}.text", cycle.id);
                let text = names.text(place, text, &names.root())?;
                Ok((name.as_str(), Value::from(text)))
            });
            texts.collect::<Result<Vec<_>, _>>().map(Value::from_pairs)
        }),
        _ => return None,
    })
}
