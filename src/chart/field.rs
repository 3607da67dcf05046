//! What a field of the context, a setting or an option may hold, and what it holds where nobody set it.

use serde_json::Value as Json;

use super::Chart;
use super::model::{Field, FieldType};
use crate::expr::source::Literal;

/// A field's value where its key is absent: its default, else null, else the initial phase.
pub fn default_of(chart: &Chart, field: &Field) -> Json {
    match &field.default {
        Some(Literal::Boolean(value)) => Json::from(*value),
        Some(Literal::Integer(value)) => Json::from(*value),
        Some(Literal::Text(text)) => Json::from(text.0.as_str()),
        Some(Literal::List(items)) => Json::from(items.clone()),
        Some(Literal::Null) => Json::Null,
        None if field.kind == FieldType::Phase && !field.nullable => {
            Json::from(chart.initial.as_str())
        }
        None => Json::Null,
    }
}

/// The largest integer that every JSON reader keeps exact; no field holds a larger one.
pub const LARGEST_INTEGER: i64 = 9_007_199_254_740_991;

/// Whether `field` may hold `value`; the error says what it may hold.
pub fn admit(chart: &Chart, field: &Field, value: &Json) -> Result<(), String> {
    let fits = match (field.kind, value) {
        (_, Json::Null) => field.nullable,
        (FieldType::Boolean, Json::Bool(_)) => true,
        (FieldType::Integer, Json::Number(number)) => number.as_i64().is_some_and(|number| {
            number <= LARGEST_INTEGER && field.minimum.is_none_or(|least| number >= least)
        }),
        (FieldType::String, Json::String(text)) => {
            (field.pattern.is_none() || crate::files::pattern::is_slug(text))
                && (field.one_of.as_ref()).is_none_or(|words| words.contains(text))
        }
        (FieldType::List, Json::Array(items)) => {
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            items.iter().all(Json::is_string) && field.minimum.is_none_or(|least| length >= least)
        }
        (FieldType::Phase, Json::String(text)) => chart.phases.contains_key(text),
        _ => false,
    };
    if fits {
        Ok(())
    } else {
        Err(wanted(field, value))
    }
}

/// What `field` may hold instead of `value`, in words.
pub fn wanted(field: &Field, value: &Json) -> String {
    match value.as_f64() {
        Some(number) if field.kind == FieldType::Integer && number > LARGEST_INTEGER as f64 => {
            format!("an integer of at most {LARGEST_INTEGER}")
        }
        _ => describe(field),
    }
}

/// A field's type in words: `an integer of at least 0, or null`.
pub fn describe(field: &Field) -> String {
    let mut words = match field.kind {
        FieldType::Boolean => "a boolean".to_owned(),
        FieldType::Integer => match field.minimum {
            Some(least) => format!("an integer of at least {least}"),
            None => "an integer".to_owned(),
        },
        FieldType::String => match (&field.pattern, &field.one_of) {
            (_, Some(words)) => format!("one of {}", words.join(", ")),
            (Some(pattern), None) => format!("a string that fits {pattern}"),
            (None, None) => "a string".to_owned(),
        },
        FieldType::List => match field.minimum {
            Some(least @ 1..) => format!("a list of at least {least} string(s)"),
            _ => "a list of strings".to_owned(),
        },
        FieldType::Phase => "a phase of the chart".to_owned(),
    };
    if field.nullable {
        words.push_str(", or null");
    }
    words
}
