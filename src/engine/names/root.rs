//! The names as minijinja sees them: one record for all of them, and one for each name before a dot.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, Value};
use minijinja::{Error, ErrorKind};

use super::{Looked, Names};
use crate::engine::context;
use crate::engine::fault::Fault;
use crate::engine::world::Source;
use crate::expr::Cause;

impl Names {
    /// Returns the root object for expressions.
    pub fn root(self: &Arc<Self>) -> Value {
        self.root_of(None)
    }

    /// Returns the root object for expressions, with `it`.
    pub fn root_with(self: &Arc<Self>, it: Value) -> Value {
        self.root_of(Some(it))
    }

    fn root_of(self: &Arc<Self>, it: Option<Value>) -> Value {
        Value::from_object(Record {
            names: Arc::clone(self),
            source: "",
            it,
            field: Record::name,
        })
    }
}

/// A record whose fields are looked up when they are needed.
struct Record {
    names: Arc<Names>,
    /// The name before the dot; empty for the root.
    source: &'static str,
    /// Set inside `each` and while a phase is entered.
    it: Option<Value>,
    field: fn(&Self, &str) -> Looked,
}

impl Record {
    /// Looks up a name that stands alone or before a dot.
    fn name(&self, key: &str) -> Looked {
        let names = &self.names;
        // No field and no let has the name of one of these.
        match key {
            "it" => self.it.clone().map(Ok),
            "invoke" => Some(Ok(names.chart.invoke.keys().cloned().collect())),
            "touched" => Some(Ok(Value::from(names.moving().touched.clone()))),
            "session" => Some(Ok(names.session())),
            "scope" => self.look(true, Source::Scope),
            "siblings" => self.look(true, Source::Siblings),
            "now" => self.look(true, Source::Now),
            "spent" => self.look(true, names.spent()),
            "postponed" => self.look(true, Source::Postponed),
            "findings" => self.look(true, names.all_findings(false)),
            "rulings" => self.look(true, Source::Rulings),
            "drivers" => self.look(true, Source::Drivers),
            "driver" => {
                let session = names.event.session.clone();
                self.look(true, Source::Driver { session })
            }
            "args" => self.record("args", |it, key| it.names.arg(key)),
            "checks" => self.record("checks", |it, key| it.names.findings(key)),
            "cycle" => self.record("cycle", |it, key| it.names.cycle_value(key)),
            "gate" => self.record("gate", |it, key| it.names.gate_value(key)),
            "event" => self.record("event", |it, key| it.names.event_value(key)),
            "prompts" => self.record("prompts", |it, key| it.names.prompt(key)),
            "review" => self.record("review", |it, key| it.names.review_value(key)),
            "git" => self.record("git", |it, key| it.look(key == "dirty", Source::Dirty)),
            "config" => self.record("config", |it, key| {
                let is_known = it.names.chart.config.contains_key(key);
                it.look(is_known, Source::Config(key.to_owned()))
            }),
            "files" => self.record("files", |it, key| {
                let is_known = it.names.chart.files.contains_key(key);
                it.look(is_known, Source::Files(key.to_owned()))
            }),
            "tables" => self.record("tables", |it, key| {
                let is_known = it.names.chart.tables.contains_key(key);
                it.look(is_known, Source::Table(key.to_owned()))
            }),
            _ => match names.known_field(key) {
                Some(field) => Some(Ok(context::to_value(&field))),
                None => names.let_value(key),
            },
        }
    }

    fn record(&self, source: &'static str, field: fn(&Self, &str) -> Looked) -> Looked {
        Some(Ok(Value::from_object(Self {
            names: Arc::clone(&self.names),
            source,
            it: None,
            field,
        })))
    }

    fn look(&self, is_known: bool, source: Source) -> Looked {
        is_known.then(|| self.names.world.look(&source))
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("names")
    }
}

impl Object for Record {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let value = (self.field)(self, key).map(or_invalid)?;
        // A name before a dot has no value of its own yet.
        if value.downcast_object_ref::<Self>().is_none() {
            let name = || match self.source {
                "" => key.to_owned(),
                source => format!("{source}.{key}"),
            };
            self.names.note(name, &value);
        }
        Some(value)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }
}

/// Returns a value for minijinja. A fault becomes a value that is an error wherever it is used.
pub fn or_invalid(value: Result<Value, Fault>) -> Value {
    value.unwrap_or_else(|fault| {
        let error = Error::new(ErrorKind::InvalidOperation, fault.to_string());
        Value::from(error.with_source(Cause::new(fault)))
    })
}
