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

use crate::chart::field;
use crate::chart::model::{Field, FieldType};
use crate::chart::{Chart, schema};
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
    /// Returns the required fields that are missing, in words.
    pub(crate) fn lacks(&self) -> Option<String> {
        match self {
            Self::Sound { absent, .. } if !absent.is_empty() => {
                Some(format!("`{}`", absent.join("`, `")))
            }
            _ => None,
        }
    }

    /// Returns the fields of a state that can be used.
    pub(crate) fn context(&self) -> Option<&Context> {
        match self {
            Self::Sound { context, .. } => Some(context),
            Self::Missing | Self::Broken(_) => None,
        }
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
    // No link is followed.
    match disk::read_regular(&dir.join(FILE)) {
        Ok(Some(bytes)) => parse(chart, &bytes),
        Ok(None) => Reading::Missing,
        Err(error) if error.raw_os_error().is_none() => Reading::Broken(error.to_string()),
        Err(error) => Reading::Broken(format!("it cannot be read: {error}")),
    }
}

/// Reads the state from the contents of its file, and accepts what its schema accepts. (A test holds it to that; compiling
/// the schema would take longer than a whole stop.)
pub(crate) fn parse(chart: &Chart, bytes: &[u8]) -> Reading {
    let text = without_mark(bytes);
    let (raw, digits) = match object(chart, &chart.context, text) {
        Ok(read) => read,
        Err(why) => return Reading::Broken(why),
    };
    let mut context = Context::with_capacity_and_hasher(chart.context.len(), FxBuildHasher);
    let mut absent = Vec::new();
    for (name, field) in &chart.context {
        if !field.optional && !raw.contains_key(name) {
            absent.push(name.clone());
        }
        let value = raw.get(name).cloned();
        context.insert(name.clone(), value.unwrap_or_else(|| field::default_of(chart, field)));
    }
    Reading::Sound { text: text.to_owned(), context, absent, digits }
}

/// Returns the settings in a `config.json`, and messages about what has no effect in it. The error names the
/// fields that are wrong.
pub(crate) fn parse_config(
    chart: &Chart,
    bytes: Option<&[u8]>,
) -> Result<(Map<String, Json>, Vec<String>), String> {
    let (mut config, _) = object(chart, &chart.config, without_mark(bytes.unwrap_or(b"{}")))?;
    config.remove("$schema");
    let unknown = config.keys().filter(|key| !chart.config.contains_key(*key));
    let warnings = unknown.map(|key| {
        let hint = did_you_mean(key, chart.config.keys().map(String::as_str));
        let hint = hint.unwrap_or_else(|| format!("`{} config` lists them", chart.program()));
        format!("there is no setting `{}`; {hint}", crate::text::shown(key))
    });
    let warnings = warnings.collect();
    config.retain(|key, _| chart.config.contains_key(key));
    Ok((config, warnings))
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Reads an object whose values fit these fields, as far as it has them, and returns the fields that contain an integer and are
/// read as its digits: agents write the id 1 without quotes. The error says everything that is wrong.
fn object(
    chart: &Chart,
    fields: &IndexMap<String, Field>,
    text: &[u8],
) -> Result<(Map<String, Json>, Vec<String>), String> {
    if let Some(key) = json::repeated_key(text) {
        return Err(format!("`{}` is set twice; remove one of them", crate::text::shown(&key)));
    }
    let mut raw = match json::parse(text)? {
        Json::Object(raw) => raw,
        other => return Err(format!("it contains {}, not an object", cut(other.to_string(), 60))),
    };
    let (mut digits, mut wrong) = (Vec::new(), Vec::new());
    if let Some(schema) = raw.get("$schema").filter(|value| !value.is_string()) {
        wrong.push(misfit("$schema", schema, "a string"));
    }
    for (name, field) in fields {
        let Some(value) = raw.get_mut(name) else { continue };
        if let Some(number) = value.as_u64()
            && field.kind == FieldType::String
            && field.is_id()
        {
            *value = Json::from(number.to_string());
            digits.push(name.clone());
        }
        // To JSON Schema, 2.0 is an integer.
        if let Some(number) = value.as_f64().filter(|_| value.is_f64())
            && number.fract() == 0.0
            && number.abs() < 1e18
        {
            *value = Json::from(number as i64);
        }
        if let Err(wanted) = field.accepts(&chart.phases, value) {
            wrong.push(misfit(name, value, &wanted) + &slip(chart, field, value));
        }
    }
    match wrong.is_empty() {
        true => Ok((raw, digits)),
        false => Err(wrong.join("; ")),
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

fn misfit(name: &str, value: &Json, wanted: &str) -> String {
    format!("`{name}` is {}, but must be {wanted}", cut(value.to_string(), 60))
}

/// Asks which of the words that a field may have a text was meant to be, or an item of a list.
fn slip(chart: &Chart, field: &Field, value: &Json) -> String {
    let words: Vec<&str> = match (field.kind, &field.one_of) {
        (FieldType::Phase, _) => chart.phases.keys().map(String::as_str).collect(),
        (_, words) => words.iter().flatten().map(String::as_str).collect(),
    };
    let one = std::slice::from_ref(value);
    let items = value.as_array().map_or(one, Vec::as_slice).iter();
    let wrong = items.filter_map(Json::as_str).find(|item| !words.contains(item));
    let meant = wrong.and_then(|item| suggest(item, words.iter().copied()));
    meant.map_or_else(String::new, |word| format!("; did you mean \"{word}\"?"))
}

/// Returns how the text of a state does not fit its schema; `None` if it does.
pub(crate) fn misfit_of_schema(chart: &Chart, text: &[u8]) -> Option<String> {
    let state: Json = match serde_json::from_slice(text) {
        Ok(state) => state,
        Err(error) => return Some(error.to_string()),
    };
    let checked = jsonschema::draft7::validate(&schema::state::of(chart), &state);
    checked.err().map(|error| format!("{}: {error}", error.instance_path()))
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
