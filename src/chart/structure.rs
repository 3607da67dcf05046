//! Reads the TOML of a chart, and checks its syntax, and its keys and types against the JSON Schema of charts:
//! `toml-syntax`, `unknown-key`, `missing-key`, `wrong-type`.
//!
//! A chart with such a flaw is not looked at any further: what it lacks would cause more findings than it has flaws.

use std::sync::LazyLock;

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value as Json};
use toml::de::{DeTable, DeValue};

use super::model::{LINE, PATTERN, Source};
use super::schema::statechart;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::{is_slip, suggest};
use crate::diagnostic::toml::{Document, Segment, below};
use crate::files::pattern::{LinePattern, Pattern};

/// The schema of charts, compiled and as it is.
static SCHEMA: LazyLock<Result<(Validator, Json), String>> = LazyLock::new(|| {
    let schema = statechart::of_charts();
    jsonschema::draft7::options()
        .should_validate_formats(true)
        .with_format(PATTERN, |text: &str| Pattern::parse(text).is_ok())
        .with_format(LINE, |text: &str| LinePattern::parse(text).is_ok())
        .build(&schema)
        .map_err(|error| error.to_string())
        .map(|validator| (validator, schema))
});

/// Reads a chart that is to run: any flaw is an error.
pub(super) fn parse(document: &Document<'_>) -> Result<Source, Vec<Flaw>> {
    // To compile the schema takes longer than to read a chart, and only says what is wrong with one.
    if let Ok(source) = serde_json::from_value(json(document)?) {
        return Ok(source);
    }
    read(document)
}

/// Reads a chart, and returns everything that its syntax and its schema say is wrong.
pub(crate) fn read(document: &Document<'_>) -> Result<Source, Vec<Flaw>> {
    let json = json(document)?;
    // What the chart lacks may be in that one.
    if json.get("extends").is_some_and(Json::is_string) {
        let flaw = Flaw::new(Code::WrongType, "expected a list: extends = [\"taskie\"]");
        return Err(vec![flaw.at(document.locate(&[Segment::from("extends")]))]);
    }
    let unusable = |message: String| vec![Flaw::new(Code::WrongType, message)];
    let (validator, schema) = match &*SCHEMA {
        Ok(compiled) => compiled,
        Err(error) => {
            return Err(unusable(format!("the schema of charts cannot be used: {error}")));
        }
    };
    let (mut flaws, meant) = unknown_keys(validator, schema, document, &json);
    for error in validator.iter_errors(&json) {
        let pointer = error.instance_path().to_string();
        let path = steps(&json, &pointer);
        let at = document.locate(&path);
        let mut close = None;
        let (code, message) = match error.kind() {
            ValidationErrorKind::AdditionalProperties { .. } => continue,
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let others = pointer.rsplit_once('/').and_then(|(above, _)| json.pointer(above));
                if let (Some(Json::Object(others)), Some(Segment::Key(own))) = (others, path.last())
                {
                    close = others.keys().find(|other| is_slip(own, other));
                }
                // What is misspelled lacks everything.
                let is_known = flaws.last().is_some_and(|flaw: &Flaw| flaw.span == at);
                if meant.contains(&below(&path, name)) || close.is_some() && is_known {
                    continue;
                }
                let place = match path.as_slice() {
                    [] => "the chart".to_owned(),
                    path => shown(path),
                };
                (Code::MissingKey, format!("{place} has no `{name}`"))
            }
            ValidationErrorKind::Format { format } => {
                let instance = error.instance();
                let why = instance.as_str().and_then(|text| match format == LINE {
                    true => LinePattern::parse(text).err(),
                    false => Pattern::parse(text).err(),
                });
                (Code::BadPattern, why.unwrap_or_default())
            }
            kind => {
                let found = kind_of(error.instance().as_ref());
                let expected = expected(kind);
                let misfit = expected.map(|expected| format!("expected {expected}, found {found}"));
                (Code::WrongType, misfit.unwrap_or_else(|| error.to_string()))
            }
        };
        let help = close.map(|close| format!("did you mean `{close}`?"));
        flaws.push(Flaw::new(code, message).help(help).at(at));
    }
    match flaws.is_empty() {
        true => serde_json::from_value(json).map_err(|error| unusable(error.to_string())),
        false => Err(flaws),
    }
}

/// Returns the chart as JSON, or its first syntax error: what follows one makes no sense.
pub(super) fn json(document: &Document<'_>) -> Result<Json, Vec<Flaw>> {
    // The lexer's errors come first.
    let first = document.errors.iter().min_by_key(|error| error.span().map(|span| span.start));
    match first {
        None => Ok(table_json(&document.table)),
        Some(error) => {
            let flaw = Flaw::new(Code::TomlSyntax, error.message());
            Err(vec![flaw.at(error.span())])
        }
    }
}

/// Returns the keys that their tables cannot have, and the paths of those that were meant.
fn unknown_keys(
    validator: &Validator,
    schema: &Json,
    document: &Document<'_>,
    json: &Json,
) -> (Vec<Flaw>, Vec<Vec<Segment>>) {
    let (mut flaws, mut all_meant) = (Vec::new(), Vec::new());
    for error in validator.iter_errors(json) {
        let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() else {
            continue;
        };
        let place = error.schema_path().to_string();
        let owner = place.rsplit_once('/').map_or("", |(owner, _)| owner);
        let allowed = schema.pointer(owner).and_then(|owner| owner["properties"].as_object());
        let allowed = || allowed.into_iter().flat_map(Map::keys).map(String::as_str);
        let table = error.instance().as_ref();
        let path = steps(json, &error.instance_path().to_string());
        for key in unexpected {
            let meant = suggest(key, allowed());
            let absent = allowed().filter(|key| table.get(key).is_none());
            let meant = meant.filter(|meant| is_slip(key, meant)).or_else(|| suggest(key, absent));
            let help = meant.map(|key| format!("did you mean `{key}`?"));
            let flaw = Flaw::new(Code::UnknownKey, format!("unknown key `{key}`"));
            flaws.push(flaw.help(help).at(document.locate_key(&below(&path, key))));
            all_meant.extend(meant.map(|meant| below(&path, meant)));
        }
    }
    (flaws, all_meant)
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
                let kinds = kinds.iter().map(|kind| kind.to_string()).filter(|kind| kind != "null");
                one_of(&kinds.map(named).collect::<Vec<_>>())
            }
        }),
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> =
                options.as_array().into_iter().flatten().map(Json::to_string).collect();
            Some(if let [only] = options.as_slice() {
                only.clone()
            } else {
                format!("one of {}", options.join(", "))
            })
        }
        ValidationErrorKind::Constant { expected_value } => Some(expected_value.to_string()),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let mut ways: Vec<String> = Vec::new();
            for way in context.iter().filter_map(|errors| expected(errors.first()?.kind())) {
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
fn shown(path: &[Segment]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Segment::Key(key) if text.is_empty() => text.push_str(key),
            Segment::Key(key) => text.push_str(&format!(".{key}")),
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    format!("`{text}`")
}

/// Converts a JSON pointer to a path through `json`.
fn steps(json: &Json, pointer: &str) -> Vec<Segment> {
    let mut value = Some(json);
    let parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    parts
        .map(|part| {
            let index =
                value.filter(|value| value.is_array()).and_then(|_| part.parse::<usize>().ok());
            value = match index {
                Some(index) => value.and_then(|value| value.get(index)),
                None => value.and_then(|value| value.get(&part)),
            };
            index.map_or_else(|| Segment::from(&part), Segment::from)
        })
        .collect()
}

fn table_json(table: &DeTable<'_>) -> Json {
    let fields = table.iter();
    fields.map(|(key, value)| (key.get_ref().as_ref(), value_json(value.get_ref()))).collect()
}

fn value_json(value: &DeValue<'_>) -> Json {
    let float = |number: &str| number.parse::<f64>().map(Json::from).unwrap_or_default();
    match value {
        DeValue::String(text) => Json::from(text.as_ref()),
        // One that is too large for a chart becomes a float, and is reported as one.
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| float(number.as_str()), Json::from),
        DeValue::Float(number) => float(number.as_str()),
        DeValue::Boolean(value) => Json::from(*value),
        DeValue::Datetime(time) => Json::from(time.to_string()),
        DeValue::Array(items) => items.iter().map(|item| value_json(item.get_ref())).collect(),
        DeValue::Table(table) => table_json(table),
    }
}
