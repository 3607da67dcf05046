//! The JSON Schemas of `state.json`, made from a chart's `[context]`, and of `config.json`, made from its `[config]`.

use serde_json::{Map, Value as Json, json};

use crate::chart::Chart;
use crate::chart::field::{LARGEST_INTEGER, default_of};
use crate::chart::model::{Field, FieldType};

/// The schema: every field typed, those that are not optional required, keys it does not know let be.
pub fn of(chart: &Chart) -> Json {
    let mut properties = Map::new();
    properties.insert(
        "$schema".to_owned(),
        json!({ "type": "string", "description": "Where editors find this schema." }),
    );
    for (name, field) in &chart.context {
        properties.insert(name.clone(), property(chart, field));
    }
    let required: Vec<&String> = chart
        .context
        .iter()
        .filter(|(_, field)| !field.optional)
        .map(|(name, _)| name)
        .collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": format!("state.json of {}", chart.id),
        "description": format!("Where one {} stands. Written by `taskie`; keys it does not know are kept.", chart.scope.noun),
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": true,
    })
}

/// The schema of the settings: all typed, none required, and no others.
pub fn of_config(chart: &Chart) -> Json {
    let mut properties = Map::new();
    properties.insert(
        "$schema".to_owned(),
        json!({ "type": "string", "description": "Where editors find this schema." }),
    );
    for (name, field) in &chart.config {
        properties.insert(name.clone(), property(chart, field));
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": format!("config.json of {}", chart.id),
        "description": format!("Settings in {}. What is absent has its default.", chart.scope.home),
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn property(chart: &Chart, field: &Field) -> Json {
    let mut property = Map::new();
    if let Some(about) = &field.about {
        property.insert("description".to_owned(), json!(about));
    }
    let kind = match field.kind {
        FieldType::Boolean => "boolean",
        FieldType::Integer => "integer",
        FieldType::String | FieldType::Phase => "string",
        FieldType::List => "array",
    };
    let types = if field.nullable {
        json!([kind, "null"])
    } else {
        json!(kind)
    };
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
            let null = field.nullable.then_some(Json::Null);
            let names: Vec<Json> = chart
                .phases
                .keys()
                .map(|name| json!(name))
                .chain(null)
                .collect();
            property.insert("enum".to_owned(), Json::Array(names));
        }
        FieldType::String => {
            if let Some(pattern) = &field.pattern {
                property.insert("pattern".to_owned(), json!(format!("^{pattern}$")));
            }
            if let Some(words) = &field.one_of {
                let null = field.nullable.then_some(Json::Null);
                let words = words.iter().map(|word| json!(word)).chain(null);
                property.insert("enum".to_owned(), words.collect());
            }
        }
        FieldType::List => {
            property.insert("items".to_owned(), json!({ "type": "string" }));
            property.insert("uniqueItems".to_owned(), json!(true));
            if let Some(minimum) = field.minimum {
                property.insert("minItems".to_owned(), json!(minimum));
            }
        }
        FieldType::Boolean => {}
    }
    if field.default.is_some() {
        property.insert("default".to_owned(), default_of(chart, field));
    }
    Json::Object(property)
}
