//! The values that a field of the context, a setting or an option may have, and its value if nobody has set it.
//!
//! Only [`Field::accepts`] decides whether a value fits: the loader calls it for defaults and assignments, the engine
//! for what it assigns, the shell for what it reads.

use serde_json::Value as Json;

use super::model::{Direction, Field, FieldType, Looser, setting_in};
use super::{Chart, PhaseEntry};
use crate::command_line;
use crate::expr::source::Literal;
use crate::expr::{has_holes, single_expression};
use crate::files::pattern::{is_id, is_slug};
use crate::hash::IndexMap;

/// The largest integer that every JSON reader keeps exactly; no field accepts a larger one.
pub const LARGEST_INTEGER: i64 = 9_007_199_254_740_991;

/// The phases of a chart, by name.
pub type Phases = IndexMap<String, PhaseEntry>;

impl Field {
    /// Checks whether the field may have `value`; the error says what it may have.
    pub fn accepts(&self, phases: &Phases, value: &Json) -> Result<(), String> {
        let fits = match (self.kind, value) {
            (_, Json::Null) => self.is_nullable(),
            (FieldType::Boolean, Json::Bool(_)) => true,
            (FieldType::Integer, Json::Number(number)) => number.as_i64().is_some_and(|number| {
                number <= self.maximum.unwrap_or(LARGEST_INTEGER)
                    && self.minimum.is_none_or(|least| number >= least)
            }),
            (FieldType::Amount, Json::Number(number)) => {
                number.as_f64().is_some_and(|amount| amount > 0.0)
            }
            (FieldType::String, Json::String(text)) => {
                (!self.is_id() || is_id(text)) && self.has_word(text)
            }
            (FieldType::List, Json::Array(items)) => {
                let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let is_word = |item: &Json| item.as_str().is_some_and(|text| self.has_item(text));
                let is_new =
                    |(at, item): (usize, &Json)| is_word(item) && !items[..at].contains(item);
                items.iter().enumerate().all(is_new)
                    && self.minimum.is_none_or(|least| count >= least)
            }
            (FieldType::Phase, Json::String(text)) => {
                phases.contains_key(text) && self.has_word(text)
            }
            _ => false,
        };
        if fits && let Some(why) = self.broken_command(value) {
            return Err(format!("a list of commands ({why})"));
        }
        let is_too_large = || {
            let number = value.as_f64();
            self.kind == FieldType::Integer
                && self.maximum.is_none()
                && number.is_some_and(|number| number > LARGEST_INTEGER as f64)
        };
        match fits {
            true => Ok(()),
            false if is_too_large() => Err(format!("an integer of at most {LARGEST_INTEGER}")),
            false => Err(self.describe()),
        }
    }

    /// Checks whether the field may have the value of `literal`, as far as that is known before it is evaluated.
    pub fn accepts_literal(&self, phases: &Phases, literal: &Literal) -> Result<(), String> {
        match literal {
            Literal::Text(text) if single_expression(&text.0).is_some() => Ok(()),
            Literal::Text(text) if has_holes(&text.0) => match self.kind {
                FieldType::String | FieldType::Phase => Ok(()),
                _ => Err(self.describe()),
            },
            constant => self.accepts(phases, &constant.json()),
        }
    }

    /// Returns whether another field of the same type accepts each number or word of this one.
    pub fn is_within(&self, other: &Self) -> bool {
        let has_words = other.one_of.as_ref().is_none_or(|known| {
            let own = self.one_of.as_ref();
            own.is_some_and(|own| own.iter().all(|word| known.contains(word)))
        });
        let is_below = other.maximum.is_none_or(|most| self.maximum.is_some_and(|own| own <= most));
        has_words && is_below && self.minimum >= other.minimum
    }

    /// Returns the field's type in words: `an integer of at least 0, or null`.
    pub fn describe(&self) -> String {
        let mut words = match self.kind {
            FieldType::Boolean => "a boolean".to_owned(),
            FieldType::Integer => match (self.minimum, self.maximum) {
                (Some(least), Some(most)) => format!("an integer from {least} to {most}"),
                (Some(least), None) => format!("an integer of at least {least}"),
                (None, Some(most)) => format!("an integer of at most {most}"),
                (None, None) => "an integer".to_owned(),
            },
            FieldType::Amount => "a number above 0".to_owned(),
            FieldType::String => match (&self.one_of, self.is_id()) {
                (Some(words), _) => format!("one of {}", words.join(", ")),
                (None, true) => "a string of letters, digits, _, - and single dots".to_owned(),
                (None, false) => "a string".to_owned(),
            },
            FieldType::List => {
                let count = if self.minimum.is_some() { "one or more " } else { "" };
                match &self.one_of {
                    Some(words) => {
                        format!("a list of {count}different words out of {}", words.join(", "))
                    }
                    None => format!("a list of {count}different strings, none of them empty"),
                }
            }
            FieldType::Phase => "a phase of the chart".to_owned(),
        };
        if let Some(reviewers) = &self.reviewers {
            words.push_str("; an item with a `:` begins with one of ");
            words.push_str(&reviewers.join(", "));
        }
        if self.is_nullable() {
            words.push_str(", or null");
        }
        words
    }

    /// Returns why a command in the list cannot be run without a shell, if one cannot.
    fn broken_command(&self, value: &Json) -> Option<String> {
        let lines = value.as_array().filter(|_| self.is_of_commands())?;
        let mut lines = lines.iter().filter_map(Json::as_str);
        lines.find_map(|line| command_line::words(line).err())
    }

    /// Returns whether a list may have this item.
    fn has_item(&self, item: &str) -> bool {
        let is_reviewer = |reviewers: &Vec<String>| match item.split_once(':') {
            Some((before, model)) => reviewers.iter().any(|it| it == before) && !model.is_empty(),
            None => true,
        };
        !item.is_empty() && self.reviewers.as_ref().is_none_or(is_reviewer) && self.has_word(item)
    }

    /// Returns whether a text is one of its words, if it has some.
    fn has_word(&self, text: &str) -> bool {
        self.one_of.as_ref().is_none_or(|words| words.iter().any(|word| word == text))
    }

    /// Returns whether `value` lets more through than `other`. Null is the highest number: no limit.
    pub fn is_looser(&self, value: &Json, other: &Json) -> bool {
        let number = |value: &Json| value.as_f64().unwrap_or(f64::INFINITY);
        match &self.looser {
            None => false,
            Some(Looser::Direction(Direction::Higher | Direction::HigherThanDefault)) => {
                number(value) > number(other)
            }
            Some(Looser::Direction(Direction::HigherOr0)) => {
                let number = |value: &Json| match number(value) {
                    0.0 => f64::INFINITY,
                    number => number,
                };
                number(value) > number(other)
            }
            Some(Looser::Direction(Direction::Lower)) => number(value) < number(other),
            Some(Looser::Direction(Direction::Fewer)) => lacks_any(value, other),
            Some(Looser::Direction(Direction::More | Direction::MoreThanDefault)) => {
                lacks_any(other, value)
            }
            Some(Looser::Values(values)) => {
                value != other && values.iter().any(|loose| loose.json() == *value)
            }
        }
    }

    /// Returns whether what is looser than the default needs the user's trust, too.
    pub(crate) fn is_bound(&self) -> bool {
        let bound = [Direction::HigherThanDefault, Direction::MoreThanDefault];
        bound.into_iter().any(|bound| self.looser == Some(Looser::Direction(bound)))
    }

    /// Returns the setting that a context field takes its default from: `default = "{{ config.NAME }}"`.
    pub fn setting(&self) -> Option<&str> {
        setting_in(self.default.as_ref()?.text()?)
    }

    /// Returns whether values of the field can be part of a file name.
    pub fn names_files(&self) -> bool {
        let has_slugs = || {
            let words = self.one_of.as_ref();
            words.is_some_and(|words| words.iter().all(|word| is_slug(word)))
        };
        match self.kind {
            FieldType::Integer | FieldType::Phase => true,
            FieldType::String => self.is_id() || has_slugs(),
            FieldType::Boolean | FieldType::Amount | FieldType::List => false,
        }
    }
}

/// Returns whether a list lacks an item of the list `other`.
fn lacks_any(list: &Json, other: &Json) -> bool {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    let mut others = other.as_array().into_iter().flatten();
    others.any(|item| !items.contains(item))
}

/// Returns a field's value if its key is absent: its default, null, or the initial phase. If the default is a
/// setting, that is the setting's own default here.
pub fn default_of(chart: &Chart, field: &Field) -> Json {
    if let Some(setting) = field.setting().and_then(|name| chart.config.get(name)) {
        return default_of(chart, setting);
    }
    match &field.default {
        Some(default) => default.json(),
        None if field.kind == FieldType::Phase && !field.is_nullable() => {
            Json::from(chart.initial.as_str())
        }
        None => Json::Null,
    }
}

/// Returns a field's value as part of a file name: a number, or an id.
pub fn name_part(value: &Json) -> Option<String> {
    match value {
        Json::Number(number) => Some(number.to_string()),
        Json::String(text) if is_id(text) => Some(text.clone()),
        _ => None,
    }
}

impl Literal {
    /// Returns the literal as JSON; a text is returned as written.
    pub fn json(&self) -> Json {
        match self {
            Self::Boolean(value) => Json::from(*value),
            Self::Integer(value) => Json::from(*value),
            Self::Text(text) => Json::from(text.0.as_str()),
            Self::List(items) => Json::from(items.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_looser_value_lets_more_through() {
        let none = json!(null);
        for (looser, loose, strict) in [
            (json!("higher"), json!(50), json!(10)),
            (json!("higher"), none.clone(), json!(10)),
            (json!("higher-or-0"), json!(50), json!(10)),
            (json!("higher-or-0"), json!(0), json!(50)),
            (json!("lower"), json!(1), json!(2)),
            (json!("lower"), json!(1), none.clone()),
            (json!("fewer"), json!(["a"]), json!(["a", "b"])),
            (json!("fewer"), json!([]), json!(["a"])),
            (json!("more"), json!(["a", "b"]), json!(["a"])),
            (json!([0]), json!(0), json!(3)),
            (json!(["pass", "minor"]), json!("pass"), json!("none")),
        ] {
            let field = Field {
                looser: serde_json::from_value(looser.clone()).unwrap(),
                ..Field::default()
            };
            assert!(field.is_looser(&loose, &strict), "{looser}");
            assert!(!field.is_looser(&strict, &loose), "{looser}");
            assert!(!field.is_looser(&loose, &loose), "{looser}");
            assert!(!Field::default().is_looser(&loose, &strict), "{looser}");
        }
        // Of two loose values, neither is a bound for the other.
        let field = Field {
            looser: serde_json::from_value(json!(["pass", "minor"])).unwrap(),
            ..Field::default()
        };
        assert!(field.is_looser(&json!("pass"), &json!("minor")));
        assert!(field.is_looser(&json!("minor"), &json!("pass")));
    }
}
