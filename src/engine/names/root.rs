//! The names as minijinja sees them: one record for all of them, and one for each name before a dot.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, Value};
use minijinja::{Error, ErrorKind};

use super::values::{Lookup, source};
use super::{Looked, Names};
use crate::engine::context;
use crate::engine::fault::Fault;
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
        Value::from_object(Record { names: Arc::clone(self), it, source: None })
    }
}

/// A record whose fields are looked up when they are needed.
struct Record {
    names: Arc<Names>,
    /// Set inside `each` and while a phase is entered.
    it: Option<Value>,
    /// The name before the dot, and how its fields are looked up; `None` for the root.
    source: Option<(&'static str, FieldLookup)>,
}

type FieldLookup = fn(&Arc<Names>, &str) -> Looked;

impl Record {
    /// Looks up a name that stands alone or before a dot. No field and no let has the name of a source.
    fn name(&self, key: &str) -> Looked {
        let names = &self.names;
        let Some((name, source)) = source(key) else {
            return match names.known_field(key) {
                Some(field) => Some(Ok(context::to_value(&field))),
                None => names.let_value(key),
            };
        };
        match source {
            Lookup::It => self.it.clone().map(Ok),
            Lookup::One(value) => Some(value(names)),
            Lookup::Fields(field) => Some(Ok(Value::from_object(Self {
                names: Arc::clone(names),
                it: None,
                source: Some((name, field)),
            }))),
        }
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
        let value = match self.source {
            None => self.name(key),
            Some((_, field)) => field(&self.names, key),
        };
        let value = value.map(or_invalid)?;
        // A name before a dot has no value of its own yet.
        if value.downcast_object_ref::<Self>().is_none() {
            let name = || match self.source {
                None => key.to_owned(),
                Some((source, _)) => format!("{source}.{key}"),
            };
            self.names.note(name, &value);
        }
        Some(value)
    }

    /// Returns the record's name as its only key, so that two records can be compared: minijinja panics when it orders
    /// maps that list no keys.
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let name = self.source.map_or("", |(name, _)| name);
        Enumerator::Values(vec![Value::from(name)])
    }
}

/// Returns a value for minijinja. A fault becomes a value that is an error wherever it is used.
pub fn or_invalid(value: Result<Value, Fault>) -> Value {
    value.unwrap_or_else(|fault| {
        let error = Error::new(ErrorKind::InvalidOperation, fault.to_string());
        Value::from(error.with_source(Cause::new(fault)))
    })
}
