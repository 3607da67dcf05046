//! The JSON Schema of `statechart.toml`, made from the types that read it. Editors show the doc comments of those
//! types.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use serde_json::{Map, Value as Json};

use crate::chart::model::Source;

/// Returns the schema of a chart file, for editors. It needs no key: what a chart lacks may be in one that it extends. It has
/// no references, no `null` and no formats: TOML has no null, and editors offer completions twice, or not at all, if a schema
/// mentions something that cannot be written.
pub fn of_charts() -> Json {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Source>();
    RecursiveTransform(plain).transform(&mut schema);
    schema.insert("title".to_owned(), Json::from("statechart.toml"));
    schema.to_value()
}

fn plain(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    object.remove("format");
    object.remove("required");
    if let Some(Json::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Json::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Json::Array(branches)) = object.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type").is_none_or(|kind| kind != "null"));
        if let [Json::Object(only)] = branches.as_slice() {
            let only: Map<String, Json> = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
            // A merged part may need to be simplified itself.
            plain(schema);
        }
    }
}
