//! Reads the TOML of a chart, and checks its syntax, and its keys and types against the JSON Schema of charts:
//! `toml-syntax`, `unknown-key`, `missing-key`, `wrong-type`.
//!
//! Neither the parser nor this module stops at an error: wrong parts are reported and removed, and the rest is read
//! as a chart.

use std::sync::LazyLock;

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value as Json, json};
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

use super::kind::Kind;
use super::model::Source;
use super::outdated;
use super::schema::statechart;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::{is_slip, suggest};
use crate::diagnostic::toml::{Step, below, locate, locate_key};

/// The schema of charts, compiled and as it is.
static SCHEMA: LazyLock<Result<(Validator, Json), String>> = LazyLock::new(|| {
    let schema = statechart::of_charts();
    jsonschema::draft7::new(&schema)
        .map_err(|error| error.to_string())
        .map(|validator| (validator, schema))
});

/// All keys and fixed values that a chart can have anywhere.
static VOCABULARY: LazyLock<Vec<String>> = LazyLock::new(|| {
    let schema = SCHEMA.as_ref();
    schema.map_or_else(|_| Vec::new(), |(_, schema)| words_in(schema))
});

/// The result of reading the file, for the checks that follow.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The chart, if enough of it could be read.
    pub(crate) source: Option<Source>,
    /// The text with its broken lines blanked, so that places stay the same.
    pub(crate) text: String,
    /// Whether lines were blanked: something that seems to be missing may be in one of them.
    pub(crate) is_partial: bool,
    /// The keys whose values were removed because of their types: they only seem to be missing.
    pub(crate) removed: Vec<String>,
    /// The flaws found so far.
    pub(crate) flaws: Vec<Flaw>,
}

impl Reading {
    /// Returns what is known about a text of which no chart can be read.
    fn lost(text: &str, flaws: Vec<Flaw>) -> Self {
        Self {
            source: None,
            text: text.to_owned(),
            is_partial: true,
            removed: Vec::new(),
            flaws,
        }
    }
}

/// Reads a chart that is to run: any flaw is an error.
pub(super) fn parse(text: &str) -> Result<Source, Vec<Flaw>> {
    // To compile the schema takes longer than to read a chart, and only says what is wrong with one.
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty()
        && outdated::flaws(text).is_empty()
        && let Ok(source) = serde_json::from_value(table_json(table.get_ref()))
    {
        return Ok(source);
    }
    let reading = read(text);
    match reading.source {
        Some(source) if reading.flaws.is_empty() => Ok(source),
        _ => Err(reading.flaws),
    }
}

/// Reads as much of the chart in `text` as possible.
pub(crate) fn read(text: &str) -> Reading {
    let outdated = outdated::flaws(text);
    if !outdated.is_empty() {
        return Reading::lost(text, outdated);
    }
    let (whole, errors) = DeTable::parse_recoverable(text);
    let (mut flaws, is_lost) = syntax(text, &errors);
    if is_lost {
        return Reading::lost(text, flaws);
    }
    let repaired = blanked(text, &flaws);
    let (table, _) = DeTable::parse_recoverable(&repaired);
    let mut json = table_json(table.get_ref());
    // A broken line may still have a value: `home = ".x` counts as if it were closed.
    // A list that both readings have is the same list.
    merge(&mut json, table_json(whole.get_ref()), |_, _| {});
    let text = repaired.as_str();
    let (validator, schema) = match &*SCHEMA {
        Ok(compiled) => compiled,
        Err(error) => {
            flaws.push(Flaw::new(
                Code::WrongType,
                format!("the schema of charts cannot be used: {error}"),
            ));
            return Reading::lost(text, flaws);
        }
    };
    flaws.extend(without_unknown_keys(validator, schema, text, &mut json));
    let is_partial = !errors.is_empty();
    let (misfits, removed) = without_misfits(validator, text, &mut json, is_partial);
    flaws.extend(misfits);
    // A removed part may have been required, too.
    let absent: Vec<(Vec<Step>, String)> = validator
        .iter_errors(&json)
        .filter_map(|error| match error.kind() {
            ValidationErrorKind::Required { property } => {
                let path = steps(&json, &error.instance_path().to_string());
                Some((path, property.as_str().unwrap_or_default().to_owned()))
            }
            _ => None,
        })
        .collect();
    for (path, name) in absent {
        fill(&mut json, &path, &name);
    }
    Reading {
        source: serde_json::from_value(json).ok(),
        text: repaired,
        is_partial,
        removed,
        flaws,
    }
}

/// Reports and removes the keys that their tables cannot have. If it is clear which key was meant, it is renamed, and the rest
/// of the chart is read as if it had been written.
fn without_unknown_keys(
    validator: &Validator,
    schema: &Json,
    text: &str,
    json: &mut Json,
) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    loop {
        let unknown = unknown_keys(validator, schema, json);
        if unknown.is_empty() {
            return flaws;
        }
        for (path, key, meant) in unknown.into_iter().rev() {
            let help = meant.map(|key| format!("did you mean `{key}`?"));
            let flaw = Flaw::new(Code::UnknownKey, format!("unknown key `{key}`"));
            flaws.push(flaw.help(help).at(locate_key(text, &path)));
            match meant {
                Some(meant) => rename(json, &path, meant),
                None => remove(json, &path),
            }
        }
    }
}

/// Reports the keys that are missing, and reports and removes the values of a wrong type. After a syntax error, the rest of the
/// file is not read, so nothing is known about missing keys. Also returns the keys of the values that were removed.
fn without_misfits(
    validator: &Validator,
    text: &str,
    json: &mut Json,
    is_partial: bool,
) -> (Vec<Flaw>, Vec<String>) {
    let mut flaws = Vec::new();
    let mut wrong: Vec<Vec<Step>> = Vec::new();
    for error in validator.iter_errors(json) {
        let path = steps(json, &error.instance_path().to_string());
        let (code, message) = match error.kind() {
            ValidationErrorKind::Required { .. } if is_partial => continue,
            ValidationErrorKind::Required { property } => {
                let place = match path.as_slice() {
                    [] => "the chart".to_owned(),
                    path => shown(path),
                };
                let name = property.as_str().unwrap_or_default();
                (Code::MissingKey, format!("{place} has no `{name}`"))
            }
            kind => {
                let found = kind_of(error.instance().as_ref());
                let expected = expected(kind);
                let misfit = expected.map(|expected| format!("expected {expected}, found {found}"));
                wrong.push(path.clone());
                (Code::WrongType, misfit.unwrap_or_else(|| error.to_string()))
            }
        };
        flaws.push(Flaw::new(code, message).at(locate(text, &path)));
    }
    for path in wrong.iter().rev() {
        remove(json, path);
    }
    let keys = wrong.iter().filter_map(|path| match path.last() {
        Some(Step::Key(key)) => Some(key.clone()),
        _ => None,
    });
    (flaws, keys.collect())
}

/// Returns the keys that their tables cannot have: the path of each, its name, and the key that was meant.
fn unknown_keys<'s>(
    validator: &Validator,
    schema: &'s Json,
    json: &Json,
) -> Vec<(Vec<Step>, String, Option<&'s str>)> {
    let mut unknown = Vec::new();
    for error in validator.iter_errors(json) {
        let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() else {
            continue;
        };
        let place = error.schema_path().to_string();
        let owner = place.rsplit_once('/').map_or("", |(owner, _)| owner);
        let allowed = schema
            .pointer(owner)
            .and_then(|owner| owner["properties"].as_object());
        let allowed = || allowed.into_iter().flat_map(Map::keys).map(String::as_str);
        let table = error.instance().as_ref();
        let path = steps(json, &error.instance_path().to_string());
        for key in unexpected {
            let meant = suggest(key, allowed());
            let absent = allowed().filter(|key| table.get(key).is_none());
            let meant = meant
                .filter(|meant| is_slip(key, meant))
                .or_else(|| suggest(key, absent));
            let path = below(&path, key);
            unknown.push((path, key.clone(), meant));
        }
    }
    unknown
}

/// The most consecutive broken lines that are each reported.
const RUN: usize = 2;

/// Returns the syntax errors, one per line. Of many consecutive lines, only the first is reported: after an unclosed
/// bracket, nothing makes sense. Also returns whether that happened, because then other findings would make no sense
/// either.
fn syntax(text: &str, errors: &[toml::de::Error]) -> (Vec<Flaw>, bool) {
    let lines: Vec<&str> = text.lines().collect();
    let says_nothing = |line: usize| {
        lines
            .get(line - 1)
            .is_none_or(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
    };
    let mut runs: Vec<Vec<(usize, Flaw)>> = Vec::new();
    // The lexer's errors come first; sort them in the order of the file.
    let mut errors: Vec<&toml::de::Error> = errors.iter().collect();
    errors.sort_by_key(|error| error.span().map(|span| span.start));
    for error in errors {
        let flaw = Flaw::new(Code::TomlSyntax, error.message()).at(error.span());
        let line = flaw.position(text).0;
        let last = runs
            .last()
            .and_then(|run| run.last())
            .map_or(0, |(line, _)| *line);
        match runs.last_mut() {
            // One mistake makes the parser fail on everything that follows on the line.
            Some(_) if line <= last => {}
            Some(run) if (last + 1..line).all(says_nothing) => run.push((line, flaw)),
            _ => runs.push(vec![(line, flaw)]),
        }
    }
    let lost = runs.iter().position(|run| run.len() > RUN);
    runs.truncate(lost.map_or(runs.len(), |run| run + 1));
    let reported = runs.into_iter().flat_map(|run| {
        let count = if run.len() > RUN { 1 } else { run.len() };
        let last = run.last().map_or(0, |(line, _)| *line);
        run.into_iter().take(count).map(move |(line, flaw)| {
            let help = format!("nothing can be parsed from here to line {last}: fix this first, then the rest is checked");
            flaw.help((count == 1 && line + RUN <= last).then_some(help))
        })
    });
    (reported.collect(), lost.is_some())
}

/// Returns the text with spaces in place of every line that has a flaw.
fn blanked(text: &str, flaws: &[Flaw]) -> String {
    let broken: Vec<usize> = flaws.iter().map(|flaw| flaw.position(text).0).collect();
    let lines = text.split_inclusive('\n').enumerate();
    lines
        .map(|(index, line)| match broken.contains(&(index + 1)) {
            true => line
                .bytes()
                .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
                .collect(),
            false => line.to_owned(),
        })
        .collect()
}

/// Adds the values that `json` doesn't have. `lists` is called with two lists of the same name.
fn merge(json: &mut Json, other: Json, lists: fn(&mut Vec<Json>, Vec<Json>)) {
    match (json, other) {
        (Json::Object(fields), Json::Object(others)) => {
            for (key, value) in others {
                match fields.get_mut(&key) {
                    Some(field) => merge(field, value, lists),
                    None => {
                        fields.insert(key, value);
                    }
                }
            }
        }
        (Json::Array(items), Json::Array(others)) => lists(items, others),
        _ => {}
    }
}

/// Puts a placeholder in place of a missing key, so that the rest of the chart can be checked.
fn fill(json: &mut Json, path: &[Step], name: &str) {
    let Some(Json::Object(fields)) = parent(json, path) else {
        return;
    };
    let default = fields.get("default").cloned();
    let value = match name {
        "scope" => json!({ "home": ".", "noun": "", "newest": "x/*", "touch": [] }),
        "newest" => json!("x/*"),
        "context" | "phases" => json!({}),
        "touch" | "severities" => json!([]),
        "timeout" => json!(1),
        "type" => match default {
            Some(Json::Bool(_)) => json!("boolean"),
            Some(Json::Number(_)) => json!("integer"),
            Some(_) => json!("string"),
            // Only a phase needs none.
            None => json!("phase"),
        },
        _ => json!(""),
    };
    fields.insert(name.to_owned(), value);
}

/// The name of a type that TOML does not have.
const NOTHING: &str = "nothing";

fn expected(kind: &ValidationErrorKind) -> Option<String> {
    let named = |kind: String| match kind.as_str() {
        "boolean" => "a boolean",
        "integer" => "an integer",
        "string" => "a string",
        "array" => "a list",
        "object" => "a table",
        _ => NOTHING,
    };
    match kind {
        ValidationErrorKind::Type { kind } => Some(match kind {
            jsonschema::error::TypeKind::Single(kind) => named(kind.to_string()).to_owned(),
            jsonschema::error::TypeKind::Multiple(kinds) => {
                let kinds = kinds
                    .iter()
                    .map(|kind| kind.to_string())
                    .filter(|kind| kind != "null");
                one_of(&kinds.map(named).collect::<Vec<_>>())
            }
        }),
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> = options
                .as_array()
                .into_iter()
                .flatten()
                .map(Json::to_string)
                .collect();
            Some(if let [only] = options.as_slice() {
                only.clone()
            } else {
                format!("one of {}", options.join(", "))
            })
        }
        // Only a type and the way in which an option is given have a pattern.
        ValidationErrorKind::Pattern { pattern } if pattern.contains("boolean") => {
            let names: Vec<&str> = Kind::names().collect();
            let words = "with `from N to N` for an integer, and `or null` where it may be null";
            Some(format!("a type, which is {}, {words}", one_of(&names)))
        }
        ValidationErrorKind::Pattern { .. } => {
            Some("`argument`, `stdin` or a letter such as `-f`".to_owned())
        }
        ValidationErrorKind::Constant { expected_value } => Some(expected_value.to_string()),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let mut ways: Vec<String> = Vec::new();
            for way in context
                .iter()
                .filter_map(|errors| expected(errors.first()?.kind()))
            {
                if !ways.contains(&way) && way != NOTHING {
                    ways.push(way);
                }
            }
            Some(one_of(&ways))
        }
        _ => None,
    }
}

/// Returns alternatives as a list for people: `a boolean, an integer or a string`.
fn one_of<T: AsRef<str>>(ways: &[T]) -> String {
    let ways: Vec<&str> = ways.iter().map(AsRef::as_ref).collect();
    match ways.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => ways.concat(),
    }
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

/// Converts a JSON pointer to a path through `json`.
fn steps(json: &Json, pointer: &str) -> Vec<Step> {
    let mut value = Some(json);
    let parts = pointer
        .split('/')
        .skip(1)
        .map(|part| part.replace("~1", "/").replace("~0", "~"));
    parts
        .map(|part| {
            let index = value
                .filter(|value| value.is_array())
                .and_then(|_| part.parse::<usize>().ok());
            value = match index {
                Some(index) => value.and_then(|value| value.get(index)),
                None => value.and_then(|value| value.get(&part)),
            };
            index.map_or_else(|| Step::from(&part), Step::from)
        })
        .collect()
}

/// Returns the table or list that contains the last step of a path.
fn parent<'j>(json: &'j mut Json, way: &[Step]) -> Option<&'j mut Json> {
    way.iter().try_fold(json, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    })
}

fn remove(json: &mut Json, path: &[Step]) {
    let Some((last, way)) = path.split_last() else {
        return;
    };
    match (last, parent(json, way)) {
        (Step::Key(key), Some(Json::Object(fields))) => {
            fields.shift_remove(key);
        }
        (Step::Index(index), Some(Json::Array(items))) if *index < items.len() => {
            items.remove(*index);
        }
        _ => {}
    }
}

fn rename(json: &mut Json, path: &[Step], meant: &str) {
    let Some((Step::Key(key), way)) = path.split_last() else {
        return;
    };
    if let Some(Json::Object(fields)) = parent(json, way)
        && let Some(value) = fields.shift_remove(key)
    {
        match fields.get_mut(meant) {
            // `[cylces.a]` next to `[cycles.b]`, `[[no.Stop]]` next to `[[on.Stop]]`.
            Some(field) => merge(field, value, Vec::extend),
            None => {
                fields.insert(meant.to_owned(), value);
            }
        }
    }
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
