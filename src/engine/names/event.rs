//! `event`: the fields of a hook event.

use std::sync::Arc;

use minijinja::value::Value;
use serde_json::Value as Json;

use super::built_in::{BuiltIn, Lookup};
use super::{Looked, Names};
use crate::engine::context;
use crate::expr::types::Type;
use crate::host::events::{EVENT_DEFAULTS, EVENT_FIELDS, FieldDefault};

pub(super) const SOURCE: BuiltIn =
    BuiltIn { about: EVENT_FIELDS, kind: |_| Some(kind()), value: Lookup::Fields(value) };

fn kind() -> Type {
    Type::record(EVENT_DEFAULTS.iter().map(|(name, default)| {
        let kind = match default {
            FieldDefault::False => Type::Boolean,
            FieldDefault::Text => Type::Text,
            FieldDefault::List => Type::list(Type::Any),
            FieldDefault::Nothing => Type::Integer.or_none(),
            FieldDefault::Amount => Type::Any,
        };
        (*name, kind)
    }))
}

fn value(names: &Arc<Names>, key: &str) -> Looked {
    let given = names.event.fields.get(key).filter(|value| !value.is_null());
    let known = EVENT_DEFAULTS.iter().find(|(name, _)| *name == key);
    let Some((_, default)) = known else {
        return given.map(|value| Ok(context::to_value(value)));
    };
    let (absent, fits): (Value, fn(&Json) -> bool) = match default {
        FieldDefault::False => (Value::from(false), Json::is_boolean),
        FieldDefault::Text => (Value::from(""), Json::is_string),
        FieldDefault::List => (Value::from(Vec::<Value>::new()), Json::is_array),
        FieldDefault::Nothing => (Value::from(()), Json::is_i64),
        FieldDefault::Amount => (Value::from(()), Json::is_number),
    };
    let given = given.filter(|value| fits(value));
    Some(Ok(given.map_or(absent, context::to_value)))
}
