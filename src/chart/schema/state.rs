//! The JSON Schemas of `state.json`, made from a chart's `[context]`, and of `config.json`, made from its `[config]`.

use serde_json::{Map, Value as Json, json};

use crate::chart::Chart;
use crate::chart::field::{LARGEST_INTEGER, default_of};
use crate::chart::model::{Field, FieldType};
use crate::files::pattern::is_slug;
use crate::hash::IndexMap;

const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// Returns the schema of the state: every field has a type, those that are not optional are required, and unknown keys
/// are allowed.
pub fn of(chart: &Chart) -> Json {
    let required = chart.context.iter().filter(|(_, field)| !field.optional);
    let required: Vec<&String> = required.map(|(name, _)| name).collect();
    let noun = chart.scope.noun();
    json!({
        "$schema": DRAFT,
        "title": format!("state.json of {}", chart.id),
        "description": format!("Where one {noun} stands. Written by `taskie`; keys it does not know are kept."),
        "type": "object",
        "required": required,
        "properties": properties(chart, &chart.context),
        "additionalProperties": true,
    })
}

/// Returns the schema of the settings: every one has a type, none is required, and unknown keys are not allowed.
pub fn of_config(chart: &Chart) -> Json {
    json!({
        "$schema": DRAFT,
        "title": format!("config.json of {}", chart.id),
        "description": format!("Settings in {}. What is absent has its default.", chart.scope.home),
        "type": "object",
        "properties": properties(chart, &chart.config),
        "additionalProperties": false,
    })
}

fn properties(chart: &Chart, fields: &IndexMap<String, Field>) -> Json {
    let own = json!({ "type": "string", "description": "Where editors find this schema." });
    let fields = fields.iter().map(|(name, field)| (name.clone(), property(chart, field)));
    Json::Object(std::iter::once(("$schema".to_owned(), own)).chain(fields).collect())
}

/// Returns the allowed values of a field.
fn words<'w>(words: impl IntoIterator<Item = &'w String>, nullable: bool) -> Json {
    let null = nullable.then_some(Json::Null);
    let words = words.into_iter().map(|word| json!(word));
    words.chain(null).collect()
}

fn property(chart: &Chart, field: &Field) -> Json {
    let mut property = Map::new();
    if let Some(about) = &field.about {
        property.insert("description".to_owned(), json!(about));
    }
    let kind = match field.kind {
        FieldType::Boolean => "boolean",
        FieldType::Integer => "integer",
        FieldType::Amount => "number",
        FieldType::String | FieldType::Phase => "string",
        FieldType::List => "array",
    };
    let types = if field.is_nullable() { json!([kind, "null"]) } else { json!(kind) };
    property.insert("type".to_owned(), types);
    match field.kind {
        FieldType::Integer => {
            if let Some(minimum) = field.minimum {
                property.insert("minimum".to_owned(), json!(minimum));
            }
            let maximum = field.maximum.unwrap_or(LARGEST_INTEGER);
            property.insert("maximum".to_owned(), json!(maximum));
        }
        FieldType::Phase => {
            let names = words(chart.phases.keys(), field.is_nullable());
            property.insert("enum".to_owned(), names);
        }
        FieldType::String => {
            if field.is_id() {
                property
                    .insert("pattern".to_owned(), json!(r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"));
            }
            if let Some(one_of) = &field.one_of {
                let words = words(one_of, field.is_nullable());
                property.insert("enum".to_owned(), words);
            }
        }
        FieldType::List => {
            let mut item = json!({ "type": "string", "minLength": 1 });
            if let Some(one_of) = &field.one_of {
                item["enum"] = words(one_of, false);
            }
            let reviewers = field.reviewers.as_ref();
            if let Some(words) = reviewers.filter(|words| words.iter().all(|word| is_slug(word))) {
                let words = words.join("|");
                item["pattern"] = json!(format!("^([^:]*|({words}):.+)$"));
            }
            property.insert("items".to_owned(), item);
            property.insert("uniqueItems".to_owned(), json!(true));
            if let Some(minimum) = field.minimum {
                property.insert("minItems".to_owned(), json!(minimum));
            }
        }
        FieldType::Amount => {
            property.insert("exclusiveMinimum".to_owned(), json!(0));
        }
        FieldType::Boolean => {}
    }
    if field.default.is_some() {
        property.insert("default".to_owned(), default_of(chart, field));
    }
    Json::Object(property)
}

/// Returns what of a state does not match the chart's schema, missing keys aside: they have defaults.
#[cfg(test)]
pub fn breach(chart: &Chart, state: &Json) -> Option<String> {
    let validator = jsonschema::draft7::new(&of(chart)).unwrap();
    let is_missing =
        |kind: &_| matches!(kind, jsonschema::error::ValidationErrorKind::Required { .. });
    let mut errors = validator.iter_errors(state);
    let error = errors.find(|error| !is_missing(error.kind()))?;
    let place = error.instance_path().to_string();
    Some(match place.trim_start_matches('/') {
        "" => error.to_string(),
        field => format!("`{field}`: {error}"),
    })
}
