//! Where the values of the built-in names are from, for each source: the part before the first dot.

use std::sync::Arc;

use minijinja::value::Value;
use serde_json::Value as Json;

use super::{Looked, Names, at_rest, cycle, review};
use crate::chart::Chart;
use crate::diagnostic::suggest::did_you_mean;
use crate::engine::context;
use crate::engine::fault::Fault;
use crate::engine::world::Source;
use crate::expr;
use crate::expr::prompt::fill;
use crate::host::events::{EVENT_DEFAULTS, FieldDefault};

/// How a value is looked up.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lookup {
    /// All of it at once.
    One(fn(&Arc<Names>) -> Result<Value, Fault>),
    /// Field by field.
    Fields(fn(&Arc<Names>, &str) -> Looked),
    /// It is given with the other names.
    It,
}

use Lookup::{Fields, It, One};

/// The sources.
const SOURCES: &[(&str, Lookup)] = &[
    ("args", Fields(arg)),
    (
        "checks",
        Fields(|names, name| {
            let checks = names.chart.checks.get(name)?;
            let find = || names.find_all(name, checks).map(Value::from);
            Some(names.remembered(&format!("checks.{name}"), find))
        }),
    ),
    (
        "config",
        Fields(|names, key| {
            let is_known = names.chart.config.contains_key(key);
            is_known.then(|| names.look(&Source::Config(key.to_owned())))
        }),
    ),
    ("cycle", Fields(cycle::value)),
    (
        "driver",
        One(|names| {
            let session = names.event.session.clone();
            names.look(&Source::Driver { session })
        }),
    ),
    ("event", Fields(event)),
    (
        "files",
        Fields(|names, key| {
            let is_known = names.chart.files.contains_key(key);
            is_known.then(|| names.look(&Source::Files(key.to_owned())))
        }),
    ),
    ("findings", One(|names| names.look(&names.findings_source(false)))),
    ("gate", Fields(gate)),
    (
        "git",
        Fields(|names, key| match key {
            "dirty" => Some(names.look(&Source::Dirty)),
            "base" => Some(names.look(&Source::Base)),
            _ => None,
        }),
    ),
    ("it", It),
    ("now", One(|names| names.look(&Source::Now))),
    ("postponed", One(|names| names.look(&Source::Postponed(names.next_reviewer()?.0)))),
    ("prompts", Fields(prompt)),
    ("review", Fields(review::value)),
    ("reviewers", One(|names| Ok(names.chart.reviewers.keys().cloned().collect()))),
    ("rulings", One(|names| names.look(&Source::Rulings))),
    ("scope", One(|names| names.look(&Source::Scope))),
    ("session", One(|names| Ok(Value::from(names.event.session.as_deref())))),
    ("siblings", One(|names| names.look(&Source::Siblings))),
    (
        "spent",
        One(|names| {
            let cycle = names.running();
            let files = cycle.and_then(|cycle| names.review_files(cycle).ok());
            names.look(&Source::Spent {
                cycle: cycle.map(|cycle| cycle.id.clone()).unwrap_or_default(),
                files: files.unwrap_or_default(),
                count: cycle.map_or(0, |cycle| names.count(cycle)),
            })
        }),
    ),
    (
        "tables",
        Fields(|names, key| {
            let is_known = names.chart.tables.contains_key(key);
            is_known.then(|| names.look(&Source::Table(key.to_owned())))
        }),
    ),
    ("touched", One(|names| Ok(Value::from(names.moving().touched.clone())))),
];

/// Returns the source of that name, with its name.
pub(super) fn source(name: &str) -> Option<(&'static str, Lookup)> {
    SOURCES.iter().copied().find(|(own, _)| *own == name)
}

/// Looks up `args.NAME`.
fn arg(names: &Arc<Names>, name: &str) -> Looked {
    let arg = names.chart.args.get(name)?;
    Some(names.remembered(&format!("args.{name}"), || {
        let wrong = |detail: String| Fault::Argument { name: name.to_owned(), detail };
        let value = match (names.event.args.get(name), &arg.default) {
            (Some(given), _) => context::to_value(given),
            (None, Some(default)) => {
                let place = format_args!("args.{name}.default");
                names.literal(place, default, &names.root())?
            }
            (None, None) => return Err(wrong("is missing".to_owned())),
        };
        if let Some(one_of) = &arg.one_of {
            let allowed = names.expressions.items(&one_of.0, &names.root());
            let allowed = allowed.map_err(Fault::at(format_args!("args.{name}.one_of")))?;
            if !allowed.contains(&value) {
                return Err(wrong(not_one_of(&value, &allowed)));
            }
        }
        Ok(value)
    }))
}

fn not_one_of(value: &Value, allowed: &[Value]) -> String {
    if allowed.is_empty() {
        return "has no value to choose from yet".to_owned();
    }
    let names: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    if value.is_none() {
        return format!("is missing: one of {}", names.join(", "));
    }
    let text = value.to_string();
    let shown = text.escape_debug();
    let hint = did_you_mean(&text, names.iter().map(String::as_str));
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    let more = if names.len() > 20 { ", …" } else { "" };
    let known = names[..names.len().min(20)].join(", ");
    format!("`{shown}` is not one of {known}{more}{hint}")
}

/// Looks up `gate.KEY`: the gate that has just failed.
fn gate(names: &Arc<Names>, key: &str) -> Looked {
    let review = names.review();
    let Some(gate) = review.as_deref().and_then(|ended| ended.outcome.failed_gate()) else {
        return at_rest("gate", key);
    };
    Some(Ok(match key {
        "failed" => Value::from(true),
        "times" => Value::from(gate.times),
        "command" => Value::from(gate.command.as_str()),
        "why" => Value::from(gate.why.as_str()),
        "output" => Value::from(gate.output.as_str()),
        _ => return None,
    }))
}

/// Looks up `event.KEY`.
fn event(names: &Arc<Names>, key: &str) -> Looked {
    let (_, default) = EVENT_DEFAULTS.iter().find(|(name, _)| *name == key)?;
    let (absent, fits): (Value, fn(&Json) -> bool) = match default {
        FieldDefault::False => (Value::from(false), Json::is_boolean),
        FieldDefault::Text => (Value::from(""), Json::is_string),
        FieldDefault::List => (Value::from(Vec::<Value>::new()), Json::is_array),
        FieldDefault::Nothing => (Value::from(()), Json::is_i64),
        FieldDefault::Amount => (Value::from(()), Json::is_number),
    };
    let given = names.event.fields.get(key).filter(|value| fits(value));
    Some(Ok(given.map_or(absent, context::to_value)))
}

/// Returns the user's prompt of that name, or else the template, with its holes filled.
fn prompt(names: &Arc<Names>, name: &str) -> Looked {
    let vars = names.chart.prompts.get(name)?;
    let value_of = |hole: &str| {
        let source = &vars.get(hole)?.0;
        let value = names.expressions.value(source, &names.root());
        let text = value.and_then(|value| expr::shown(source, &value));
        Some(text.map_err(Fault::at(format_args!("prompts.{name}.{hole}"))))
    };
    Some(names.remembered(&format!("prompts.{name}"), || {
        let own = names.look(&Source::Prompt(name.to_owned()))?;
        let text = match own.as_str() {
            Some(text) => text.to_owned(),
            None => names.chart.template(&Chart::prompt_file(name)).map_err(Fault::World)?,
        };
        fill(&text, value_of).map(Value::from)
    }))
}
