//! Reads the TOML of a chart, and checks its syntax, and its keys and types against the JSON Schema of charts:
//! `toml-syntax`, `unknown-key`, `missing-key`, `wrong-type`.
//!
//! A chart with such a flaw is not looked at any further: what it lacks would cause more findings than it has flaws.

use std::sync::LazyLock;

use serde_json::{Map, Value as Json};
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

use super::model::Source;
use super::schema::fit::{Misfit, What, misfits};
use super::schema::statechart;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::{is_slip, suggest};
use crate::diagnostic::toml::{Step, below, locate, locate_key};

/// The schema of charts.
static SCHEMA: LazyLock<Json> = LazyLock::new(statechart::of_charts);

/// All keys and fixed values that a chart can have anywhere.
static VOCABULARY: LazyLock<Vec<String>> = LazyLock::new(|| words_in(&SCHEMA));

/// Reads a chart that is to run: any flaw is an error.
pub(super) fn parse(text: &str) -> Result<Source, Vec<Flaw>> {
    // To make the schema takes longer than to read a chart, and only says what is wrong with one.
    if let Ok(source) = serde_json::from_value(json(text)?) {
        return Ok(source);
    }
    read(text)
}

/// Reads a chart, and returns everything that its syntax and its schema say is wrong.
pub(crate) fn read(text: &str) -> Result<Source, Vec<Flaw>> {
    let json = json(text)?;
    let found = misfits(&SCHEMA, &json);
    let (mut flaws, meant) = unknown_keys(text, &found);
    for Misfit { path, value, what } in &found {
        let (code, message) = match what {
            What::Unknown { .. } => continue,
            What::Missing(name) => {
                if meant.contains(&below(path, *name)) {
                    continue;
                }
                let place = match path.as_slice() {
                    [] => "the chart".to_owned(),
                    path => shown(path),
                };
                (Code::MissingKey, format!("{place} has no `{name}`"))
            }
            What::Wrong(expected) => {
                let found = kind_of(value);
                (
                    Code::WrongType,
                    format!("expected {expected}, found {found}"),
                )
            }
        };
        flaws.push(Flaw::new(code, message).at(locate(text, path)));
    }
    match flaws.is_empty() {
        true => serde_json::from_value(json)
            .map_err(|error| vec![Flaw::new(Code::WrongType, error.to_string())]),
        false => Err(flaws),
    }
}

/// Returns the chart as JSON, or its first syntax error: what follows one makes no sense.
fn json(text: &str) -> Result<Json, Vec<Flaw>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    // The lexer's errors come first.
    let first = errors
        .iter()
        .min_by_key(|error| error.span().map(|span| span.start));
    match first {
        None => Ok(table_json(table.get_ref())),
        Some(error) => {
            let flaw = Flaw::new(Code::TomlSyntax, error.message());
            Err(vec![flaw.at(error.span())])
        }
    }
}

/// Returns the keys that their tables cannot have, and the paths of those that were meant.
fn unknown_keys(text: &str, found: &[Misfit<'_>]) -> (Vec<Flaw>, Vec<Vec<Step>>) {
    let (mut flaws, mut all_meant) = (Vec::new(), Vec::new());
    for Misfit { path, value, what } in found {
        let What::Unknown { keys, allowed } = what else {
            continue;
        };
        let allowed = || allowed.iter().copied();
        for key in keys {
            let meant = suggest(key, allowed());
            let absent = allowed().filter(|key| value.get(key).is_none());
            let meant = meant
                .filter(|meant| is_slip(key, meant))
                .or_else(|| suggest(key, absent));
            let help = meant.map(|key| format!("did you mean `{key}`?"));
            let flaw = Flaw::new(Code::UnknownKey, format!("unknown key `{key}`"));
            flaws.push(flaw.help(help).at(locate_key(text, &below(path, *key))));
            all_meant.extend(meant.map(|meant| below(path, meant)));
        }
    }
    (flaws, all_meant)
}

fn kind_of(value: &Json) -> String {
    match value {
        Json::Null => "nothing".to_owned(),
        Json::Bool(_) | Json::Number(_) | Json::String(_) => format!("`{value}`"),
        Json::Array(_) => "a list".to_owned(),
        Json::Object(_) => "a table".to_owned(),
    }
}

/// Returns a path as it is written: `cycles.code-review`.
fn shown(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.push_str(&format!(".{key}")),
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    format!("`{text}`")
}

/// Returns all keys and fixed values that a chart can have anywhere.
pub(crate) fn vocabulary() -> &'static [String] {
    &VOCABULARY
}

fn words_in(schema: &Json) -> Vec<String> {
    let keys = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .cloned();
    let values = schema["enum"].as_array().into_iter().flatten();
    let values = values.filter_map(|value| value.as_str().map(str::to_owned));
    let inner: Vec<String> = match schema {
        Json::Object(fields) => fields.values().flat_map(words_in).collect(),
        Json::Array(items) => items.iter().flat_map(words_in).collect(),
        _ => Vec::new(),
    };
    keys.chain(values).chain(inner).collect()
}

fn table_json(table: &DeTable<'_>) -> Json {
    Json::Object(
        table
            .iter()
            .map(|(key, value)| (key.get_ref().to_string(), value_json(value.get_ref())))
            .collect(),
    )
}

fn array_json(array: &DeArray<'_>) -> Json {
    array
        .iter()
        .map(|value| value_json(value.get_ref()))
        .collect()
}

fn value_json(value: &DeValue<'_>) -> Json {
    match value {
        DeValue::String(text) => Json::from(text.as_ref()),
        DeValue::Integer(number) => integer(number),
        DeValue::Float(number) => number
            .as_str()
            .parse::<f64>()
            .map(Json::from)
            .unwrap_or_default(),
        DeValue::Boolean(value) => Json::from(*value),
        DeValue::Datetime(time) => Json::from(time.to_string()),
        DeValue::Array(items) => array_json(items),
        DeValue::Table(table) => table_json(table),
    }
}

/// Returns an integer as JSON. One that is too large for a chart becomes a float, and is reported as one.
fn integer(number: &DeInteger<'_>) -> Json {
    i64::from_str_radix(number.as_str(), number.radix()).map_or_else(
        |_| {
            number
                .as_str()
                .parse::<f64>()
                .map(Json::from)
                .unwrap_or_default()
        },
        Json::from,
    )
}
