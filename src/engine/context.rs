//! The typed fields of one instance: their names, their defaults, and conversions between JSON and values.

use minijinja::value::{Serde, Value};
use serde_json::Value as Json;

use crate::chart::Chart;
use crate::chart::field::default_of;
use crate::hash::IndexMap;

/// The context of one instance: field → value, in the chart's order.
pub type Context = IndexMap<String, Json>;

/// Returns the context of an instance that has no state yet.
pub fn initial(chart: &Chart) -> Context {
    chart
        .context
        .iter()
        .map(|(name, field)| (name.clone(), default_of(chart, field)))
        .collect()
}

/// Returns the text in a field, if the chart has such a field.
pub fn text<'c>(context: &'c Context, field: Option<&String>) -> Option<&'c str> {
    context.get(field?)?.as_str()
}

/// Returns a JSON value as a value for expressions.
pub fn to_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::from(number),
            None => Value::from(number.as_f64()),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(_) | Json::Object(_) => Value::from(Serde(json)),
    }
}

/// Returns an expression's value as JSON; `None` if JSON has no such value.
pub fn to_json(value: &Value) -> Option<Json> {
    serde_json::to_value(value).ok()
}
