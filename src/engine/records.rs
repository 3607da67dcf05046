//! The records that expressions see of instances, made alike of what is on the disk and of what could be there.

use std::path::Path;

use minijinja::value::Value;

use crate::chart::Chart;
use crate::engine::context::{Context, to_value};

/// Returns `scope`: what expressions see of the instance itself, whose directory is `dir`.
pub(crate) fn scope(chart: &Chart, name: &str, dir: &Path, is_started: bool) -> Value {
    Value::from_pairs([
        ("started", Value::from(is_started)),
        ("name", Value::from(name)),
        ("path", Value::from(dir.to_string_lossy())),
        ("home", Value::from(chart.scope.home.as_str())),
    ])
}

/// Returns what expressions see of another instance, with its sets of files. It has no `context` if its state cannot be read.
pub(crate) fn sibling<'f>(
    chart: &Chart,
    (name, dir): (&str, &Path),
    context: Option<&Context>,
    (idle_hours, is_unreadable): (u64, bool),
    files: impl IntoIterator<Item = (&'f str, Value)>,
) -> Value {
    let field = |name: &String| {
        let value = context.and_then(|context| context.get(name));
        (name.clone(), value.map_or_else(|| Value::from(()), to_value))
    };
    Value::from_pairs([
        ("name", Value::from(name)),
        ("path", Value::from(dir.to_string_lossy())),
        ("idle_hours", Value::from(idle_hours)),
        ("unreadable", Value::from(is_unreadable)),
        ("context", Value::from_pairs(chart.context.keys().map(field))),
        ("files", Value::from_pairs(files)),
    ])
}
