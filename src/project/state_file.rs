//! `state.json` and `config.json` as text: what they must be, and what a state looks like after a decision. A state is read
//! tolerantly; it is written atomically.
//!
//! A missing field gets its default and a warning. A wrong field makes the whole file unusable until it is fixed, so
//! that nothing is decided or written based on a guess. Keys that the chart does not know are kept.

use std::io;
use std::path::Path;

use rustc_hash::FxBuildHasher;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use crate::chart::Chart;
use crate::chart::field;
use crate::chart::model::{Field, FieldType};
use crate::diagnostic::suggest::{did_you_mean, suggest};
use crate::disk;
use crate::engine::context::Context;
use crate::files::json;
use crate::hash::IndexMap;
use crate::text::cut;

/// The file's name in an instance's directory.
pub(crate) const FILE: &str = "state.json";

/// The name of the settings file in the home.
pub(crate) const CONFIG: &str = "config.json";

/// The contents of the file.
#[derive(Debug, Clone)]
pub(crate) enum Reading {
    /// There is no file.
    Missing,
    /// It can be used.
    Sound {
        /// The file's text.
        text: Vec<u8>,
        /// Its typed fields, with defaults.
        context: Context,
        /// Required fields that are missing.
        absent: Vec<String>,
        /// Fields that contain an integer and are read as its digits.
        digits: Vec<String>,
    },
    /// It cannot be used, and why.
    Broken(String),
}

impl Reading {
    /// Returns the required fields that are missing, in words, each with the key that may be a misspelling of it.
    pub(crate) fn lacks(&self) -> Option<String> {
        let Self::Sound { text, context, absent, .. } = self else {
            return None;
        };
        if absent.is_empty() {
            return None;
        }
        let raw: Map<String, Json> = serde_json::from_slice(text).unwrap_or_default();
        let unknown = || raw.keys().filter(|key| !context.contains_key(*key));
        let names = absent.iter().map(|name| {
            let slip = suggest(name, unknown().map(String::as_str));
            slip.map_or_else(|| format!("`{name}`"), |key| format!("`{name}` (is it `{key}`?)"))
        });
        Some(names.collect::<Vec<String>>().join(", "))
    }

    /// Returns the text of a state that can be used.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Sound { text, .. } => Some(text),
            Self::Missing | Self::Broken(_) => None,
        }
    }
}

/// Reads the state in `dir`.
pub(crate) fn read(chart: &Chart, dir: &Path) -> Reading {
    match bytes(dir) {
        Ok(Some(bytes)) => parse(chart, &bytes),
        Ok(None) => Reading::Missing,
        Err(why) => Reading::Broken(why),
    }
}

/// Returns the contents of the state file. No link is followed.
fn bytes(dir: &Path) -> Result<Option<Vec<u8>>, String> {
    disk::read_regular(&dir.join(FILE)).map_err(|error| match error.raw_os_error() {
        Some(_) => format!("it cannot be read: {error}"),
        None => error.to_string(),
    })
}

/// Reads the state from the contents of its file, and accepts what its schema accepts. (A test holds it to that; compiling
/// the schema would take longer than a whole stop.)
pub(crate) fn parse(chart: &Chart, bytes: &[u8]) -> Reading {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut json = match json::parse(text) {
        Ok(json) => json,
        Err(why) => return Reading::Broken(why.to_string()),
    };
    let digits = read_digits(chart, &mut json);
    let Json::Object(raw) = &json else {
        return Reading::Broken(not_an_object(&json));
    };
    // These words name the field and what it may have.
    if let Some(wrong) = wrong_fields(chart, raw).next() {
        return Reading::Broken(wrong);
    }
    let mut fields = Context::with_capacity_and_hasher(chart.context.len(), FxBuildHasher);
    let mut absent = Vec::new();
    for (name, field) in &chart.context {
        let value = match raw.get(name) {
            Some(value) => whole(value),
            None => {
                if !field.optional {
                    absent.push(name.clone());
                }
                field::default_of(chart, field)
            }
        };
        fields.insert(name.clone(), value);
    }
    Reading::Sound { text: text.to_owned(), context: fields, absent, digits }
}

/// Replaces an integer by its digits if the chart wants a name: agents write the id 1 without quotes. Returns the
/// fields that contained one.
fn read_digits(chart: &Chart, json: &mut Json) -> Vec<String> {
    let Some(raw) = json.as_object_mut() else {
        return Vec::new();
    };
    let mut read = Vec::new();
    for (name, field) in &chart.context {
        let is_name = field.kind == FieldType::String && field.is_id();
        if is_name
            && let Some(value) = raw.get_mut(name)
            && let Some(number) = value.as_u64()
        {
            *value = Json::from(number.to_string());
            read.push(name.clone());
        }
    }
    read
}

/// Returns the settings in a `config.json`, and messages about what has no effect in it. The error names the
/// fields that are wrong.
pub(crate) fn parse_config(
    chart: &Chart,
    bytes: Option<&[u8]>,
) -> Result<(Map<String, Json>, Vec<String>), String> {
    let bytes = bytes.map(|bytes| bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    if let Some(key) = bytes.and_then(json::repeated_key) {
        return Err(format!("`{}` is set twice; remove one of them", crate::text::shown(&key)));
    }
    let json: Json = match bytes {
        None => Json::Object(Map::new()),
        Some(bytes) => json::parse(bytes).map_err(|why| why.to_string())?,
    };
    let Json::Object(raw) = &json else {
        return Err(not_an_object(&json));
    };
    let mut config = Map::new();
    let mut wrong = Vec::new();
    for (name, field) in &chart.config {
        let Some(value) = raw.get(name).map(whole) else {
            continue;
        };
        if let Err(wanted) = field.accepts(&chart.phases, &value) {
            wrong.push(misfit(name, &value, &wanted) + &slip(chart, field, &value));
        }
        config.insert(name.clone(), value);
    }
    let known = || chart.config.keys().map(String::as_str);
    let unknown = raw.keys().filter(|key| *key != "$schema" && !chart.config.contains_key(*key));
    let warnings = unknown.map(|key| {
        let hint = did_you_mean(key, known());
        let hint = hint.unwrap_or_else(|| format!("`{} config` lists them", chart.program()));
        format!("there is no setting `{}`; {hint}", crate::text::shown(key))
    });
    let warnings: Vec<String> = warnings.collect();
    match wrong.is_empty() {
        true => Ok((config, warnings)),
        false => Err([wrong, warnings].concat().join("; ")),
    }
}

/// Returns the state in `old` with the values of `patch`; every other value stays as it is written. Missing required
/// fields are added too, so that the result matches the schema. No field is added only to say that it is null, as it is
/// without that: `context` has the values of all fields.
pub(crate) fn with(
    chart: &Chart,
    old: Option<&[u8]>,
    absent: &IndexMap<String, Json>,
    context: &Context,
    patch: &IndexMap<String, Json>,
) -> io::Result<Vec<u8>> {
    // Raw values: we must not round a user's number of thirty digits.
    let mut fields: IndexMap<String, Box<RawValue>> = match old {
        Some(old) => serde_json::from_slice(old)?,
        None => IndexMap::default(),
    };
    for (name, value) in absent.iter().chain(patch) {
        if value.is_null() && chart.context.get(name).is_some_and(|field| field.is_fleeting()) {
            fields.shift_remove(name);
            continue;
        }
        let is_null = value.is_null() && context.get(name) == Some(value);
        let is_optional = !absent.contains_key(name) && !fields.contains_key(name);
        if old.is_some() && is_null && is_optional {
            continue;
        }
        fields.insert(name.clone(), serde_json::value::to_raw_value(value)?);
    }
    let mut text = serde_json::to_vec_pretty(&fields)?;
    text.push(b'\n');
    Ok(text)
}

/// Returns everything that is wrong with the state in `dir`, except missing keys; nothing if there is no JSON to
/// read.
pub(crate) fn breaches(chart: &Chart, dir: &Path) -> Vec<String> {
    let bytes = bytes(dir).ok().flatten().unwrap_or_default();
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    json::parse(text)
        .map(|mut json| {
            read_digits(chart, &mut json);
            match &json {
                Json::Object(raw) => wrong_fields(chart, raw).collect(),
                other => vec![not_an_object(other)],
            }
        })
        .unwrap_or_default()
}

/// Returns the fields that don't match the schema of the state.
fn wrong_fields<'j>(
    chart: &'j Chart,
    raw: &'j Map<String, Json>,
) -> impl Iterator<Item = String> + 'j {
    let schema = raw.get("$schema").filter(|value| !value.is_string());
    let schema = schema.map(|value| format!("`$schema` is {}, but must be a string", shown(value)));
    let fields = chart.context.iter().filter_map(|(name, field)| {
        let value = raw.get(name)?;
        let wanted = field.accepts(&chart.phases, &whole(value)).err()?;
        Some(misfit(name, value, &wanted) + &slip(chart, field, value))
    });
    schema.into_iter().chain(fields)
}

fn not_an_object(json: &Json) -> String {
    format!("it contains {}, not an object", kind_of(json))
}

fn misfit(name: &str, value: &Json, wanted: &str) -> String {
    format!("`{name}` is {}, but must be {wanted}", shown(value))
}

/// Asks which of the words that a field may have a text was meant to be, or an item of a list.
fn slip(chart: &Chart, field: &Field, value: &Json) -> String {
    let words: Vec<&str> = match (field.kind, &field.one_of) {
        (FieldType::Phase, _) => chart.phases.keys().map(String::as_str).collect(),
        (_, words) => words.iter().flat_map(|words| words.list()).map(String::as_str).collect(),
    };
    let one = std::slice::from_ref(value);
    let items = value.as_array().map_or(one, Vec::as_slice).iter();
    let wrong = items.filter_map(Json::as_str).find(|item| !words.contains(item));
    let meant = wrong.and_then(|item| suggest(item, words.iter().copied()));
    meant.map_or_else(String::new, |word| format!("; did you mean \"{word}\"?"))
}

/// Returns `2.0` as 2: to JSON Schema, it is an integer.
fn whole(value: &Json) -> Json {
    match value.as_f64() {
        Some(number) if value.is_f64() && number.fract() == 0.0 && number.abs() < 1e18 => {
            Json::from(number as i64)
        }
        _ => value.clone(),
    }
}

fn shown(value: &Json) -> String {
    cut(value.to_string(), 60)
}

fn kind_of(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::choice::CHARTS;
    use crate::chart::schema;
    use serde_json::json;

    /// A stop accepts the same states as an editor with the schema.
    #[test]
    fn fields_are_read_as_the_schema_of_the_state_says() {
        let mut samples = vec![
            json!(null),
            json!(true),
            json!(-1),
            json!(0),
            json!(1),
            json!(2.0),
            json!(1.5),
            json!(1e300),
            json!(field::LARGEST_INTEGER),
            json!(field::LARGEST_INTEGER + 1),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(-1e17),
            json!([]),
            json!({}),
        ];
        samples.extend(["", "x", "a/b", "a\nb", "a\n", "\u{e9}", "1"].map(Json::from));
        for embedded in CHARTS {
            let chart = embedded.load().unwrap();
            let sound = |state: &Json| schema::state::breach(&chart, state).is_none();
            let phases = chart.phases.keys().map(|phase| Json::from(phase.as_str()));
            let values: Vec<Json> = samples.iter().cloned().chain(phases).collect();
            let names = chart.context.keys().map(String::as_str);
            for name in names.chain(["$schema", "another"]) {
                for value in &values {
                    let state = json!({ name: value });
                    let read = parse(&chart, state.to_string().as_bytes());
                    let is_sound = matches!(read, Reading::Sound { .. });
                    // Agents write the id 1 without quotes, and it is read as its digits.
                    let field = chart.context.get(name);
                    let is_id =
                        field.is_some_and(|field| field.kind == FieldType::String && field.is_id());
                    let expected = sound(&state) || is_id && value.is_u64();
                    assert_eq!(is_sound, expected, "{}: {state}", embedded.id);
                }
            }
            for value in &values {
                let is_sound =
                    matches!(parse(&chart, value.to_string().as_bytes()), Reading::Sound { .. });
                assert_eq!(is_sound, sound(value), "{}: {value}", embedded.id);
            }
        }
    }
}
