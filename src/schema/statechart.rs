//! The JSON Schema of `statechart.toml`, made from the types that read it: their doc comments are what an
//! editor shows.

use schemars::generate::SchemaSettings;
use serde_json::Value as Json;

use crate::chart::model::Source;

/// The schema of a chart file.
pub(crate) fn of_charts() -> Json {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<Source>();
    schema.insert("title".to_owned(), Json::from("statechart.toml"));
    schema.to_value()
}
