//! `cycle`: the running cycle.

use std::sync::Arc;

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup, at_rest};
use super::findings;
use super::types::{ChartNames, each, words};
use super::{Looked, Names};
use crate::engine::context;
use crate::engine::fault::Fault;
use crate::expr::source::Expr;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("cycle.id", "the running cycle: the one whose review or answer comes next; none if no cycle is running", ""),
        ("cycle.post", "the phase that answers its reviews", ""),
        ("cycle.stage", "its stage", ""),
        ("cycle.resume", "the phase to resume if there is nothing to review yet", ""),
        ("cycle.next", "its first open advance target", ""),
        ("cycle.review", "the file of the next review", ""),
        ("cycle.n", "the number of the next review; 0 if no cycle is running", ""),
        ("cycle.limit", "how many reviews it may have", ""),
        ("cycle.due", "the next review should run: the cycle comes next, or the last review is answered", ""),
        ("cycle.owed", "the last review has no answer yet", ""),
        ("cycle.answered", "the answer to the last review is on disk, and not older than the review", ""),
        ("cycle.exit", "its `exit` condition", ""),
        ("cycle.ready", "its `ready` condition; true if it has none", ""),
        ("cycle.stalled", "the last reviews, as many as the setting `stall` says (0: never), have all passed, or none of them has; and nothing has changed since the first of them, or they found exactly the same and the user has not ruled about it", ""),
        ("cycle.unchanged", "nothing has changed since its last review", ""),
        ("cycle.of_code", "its reviews are about code: it has `gates`", ""),
        ("cycle.gates", "the commands that must succeed before its reviews", ""),
        ("cycle.findings", "what its reviews found, as records like those of `findings`", ""),
        ("cycle.last.review", "the file of the last review", ""),
        ("cycle.last.answer", "the file of the answer to it", ""),
        ("cycle.subject", "the files that its reviewer reads", ""),
        ("cycle.text.NAME", "the text NAME of `[cycles.*.text]`, with its holes filled", ""),
    ],
    kind: |names| Some(kind(names)),
    value: Lookup::Fields(value),
};

fn kind(names: &ChartNames<'_>) -> Type {
    let cycles = || names.chart.cycles.values();
    let last = Type::record([("review", Type::Text), ("answer", Type::Text)]);
    // The texts that every cycle has.
    let texts = cycles().next().into_iter().flat_map(|first| first.text.keys());
    let texts = texts.filter(|text| cycles().all(|cycle| cycle.text.contains_key(*text)));
    // An unknown phase is reported elsewhere; its consequences are not reported.
    let leads = |phases: Vec<&String>| {
        let mut known = phases.iter().map(|name| names.chart.phases.contains_key(*name));
        match known.all(|is_known| is_known) {
            true => words(phases).or_none(),
            false => Type::Any,
        }
    };
    let posts = cycles().map(|cycle| &cycle.post).collect();
    let resumed = cycles().filter_map(|cycle| cycle.resume.as_ref()).collect();
    let advances = cycles().flat_map(|cycle| &cycle.advance);
    let targets = advances.map(|advance| &advance.target).collect();
    let mut limits = cycles().filter_map(|cycle| names.chart.context.get(&cycle.limit));
    let limit = match limits.any(|field| field.nullable) {
        true => Type::Integer.or_none(),
        false => Type::Integer,
    };
    Type::record([
        ("id", words(names.chart.cycles.keys()).or_none()),
        ("post", leads(posts)),
        ("stage", Type::Text.or_none()),
        ("resume", leads(resumed)),
        ("next", leads(targets)),
        ("review", Type::Text.or_none()),
        ("n", Type::Integer),
        ("limit", limit),
        ("due", Type::Boolean),
        ("owed", Type::Boolean),
        ("answered", Type::Boolean),
        ("exit", Type::Boolean),
        ("ready", Type::Boolean),
        ("stalled", Type::Boolean),
        ("unchanged", Type::Boolean),
        ("of_code", Type::Boolean),
        ("gates", Type::list(Type::Text)),
        ("findings", findings::kind()),
        ("last", last),
        ("subject", Type::list(Type::Text)),
        ("text", each(texts, &Type::Text)),
    ])
}

/// Looks up `cycle.KEY`.
fn value(names: &Arc<Names>, key: &str) -> Looked {
    let Some(cycle) = names.running() else {
        return without_cycle(names, key);
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
        "stalled" => names.nested("cycle.stalled", || names.agree(cycle, names.rounds()?)),
        "unchanged" => names.nested("cycle.stalled", || names.is_unchanged(cycle).map(Value::from)),
        "of_code" => Ok(Value::from(cycle.is_of_code())),
        "gates" => names.nested("cycle.gates", || names.gates(cycle).map(Value::from)),
        "findings" => names.look(&findings::all(names, true)),
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

/// Looks up `cycle.KEY` while no cycle is running. A let may ask whether one is running; a text that uses the
/// data of a cycle needs a running one.
fn without_cycle(names: &Names, key: &str) -> Looked {
    let value = at_rest("cycle", key)?;
    let moving = names.moving();
    let is_needed = moving.is_preview && moving.making.is_empty() && !value.is_boolean();
    let why = || format!("no cycle is running, so there is no `cycle.{key}`");
    Some(match is_needed {
        true => Err(Fault::World(why())),
        false => Ok(context::to_value(&value)),
    })
}
