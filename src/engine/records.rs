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

/// Another instance.
pub(crate) struct Sibling<'s> {
    pub(crate) name: &'s str,
    pub(crate) dir: &'s Path,
    pub(crate) idle_hours: u64,
    pub(crate) is_unreadable: bool,
    /// Its fields; `None` if its state cannot be read.
    pub(crate) context: Option<&'s Context>,
}

impl Sibling<'_> {
    /// Returns what expressions see of it, with its sets of files.
    pub(crate) fn record<'f>(
        &self,
        chart: &Chart,
        files: impl Iterator<Item = (&'f str, Value)>,
    ) -> Value {
        let field = |name: &String| {
            let value = self.context.and_then(|context| context.get(name));
            let value = value.map_or_else(|| Value::from(()), to_value);
            (name.clone(), value)
        };
        Value::from_pairs([
            ("name", Value::from(self.name)),
            ("path", Value::from(self.dir.to_string_lossy())),
            ("idle_hours", Value::from(self.idle_hours)),
            ("unreadable", Value::from(self.is_unreadable)),
            (
                "context",
                Value::from_pairs(chart.context.keys().map(field)),
            ),
            ("files", Value::from_pairs(files)),
        ])
    }
}
