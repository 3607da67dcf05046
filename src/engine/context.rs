//! The typed fields of one instance: their names, their defaults, and conversions between JSON and values.

use minijinja::value::{Serde, Value};
use serde_json::Value as Json;

use crate::chart::field::{default_of, name_part};
use crate::chart::model::FieldType;
use crate::chart::{Chart, Cycle};
use crate::hash::IndexMap;

/// The context of one instance: field → value, in the chart's order.
pub type Context = IndexMap<String, Json>;

/// Returns the context of an instance that has no state yet.
pub fn initial(chart: &Chart) -> Context {
    chart.context.iter().map(|(name, field)| (name.clone(), default_of(chart, field))).collect()
}

/// Returns the text in a field, if the chart has such a field.
pub fn text<'c>(context: &'c Context, field: Option<&String>) -> Option<&'c str> {
    context.get(field?)?.as_str()
}

/// Returns whether the instance is in a phase after which nothing comes.
pub fn is_over(chart: &Chart, context: &Context) -> bool {
    text(context, Some(&chart.state)).is_some_and(|phase| chart.is_final(phase))
}

/// Returns the running cycle: the one that comes next, or whose post phase does.
pub fn running_cycle<'c>(chart: &'c Chart, context: &Context) -> Option<&'c Cycle> {
    cycle_of(chart, text(context, chart.next.as_ref())?)
}

/// Returns the cycle that is not over: the running one, or the one that the user can return to, because a field remembers one
/// of its phases. `value` reads a field.
pub fn unfinished(chart: &Chart, value: impl Fn(&str) -> Json) -> Option<&Cycle> {
    let names = chart.next.iter().chain(remembered(chart));
    let mut cycles = names.filter_map(|name| cycle_of(chart, value(name).as_str()?));
    cycles.next()
}

/// Returns the fields that hold a phase to return to.
fn remembered(chart: &Chart) -> impl Iterator<Item = &String> {
    let fields = chart.context.iter();
    let fields = fields.filter(|(name, field)| {
        field.kind == FieldType::Phase
            && **name != chart.state
            && Some(*name) != chart.next.as_ref()
    });
    fields.map(|(name, _)| name)
}

/// Returns whether there was a phase to return to, and there no longer is.
pub fn ends_pause(chart: &Chart, before: &Context, after: &Context) -> bool {
    let is_paused = |context| remembered(chart).any(|name| text(context, Some(name)).is_some());
    is_paused(before) && !is_paused(after)
}

/// Returns what a cycle is about in this context: the stem of the names of its reviews; `None` if a field has no such part.
pub fn base(cycle: &Cycle, context: &Context) -> Option<String> {
    let part = |field: &str| context.get(field).and_then(name_part).ok_or(());
    cycle.base.render(part).ok()
}

/// Returns the cycle that a phase belongs to: as its review, or as the answer to it.
pub fn cycle_of<'c>(chart: &'c Chart, phase: &str) -> Option<&'c Cycle> {
    let mut cycles = chart.cycles.values();
    cycles.find(|cycle| cycle.id == phase || cycle.post == phase)
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
