//! What `type` says of a field, a setting or an option: `integer from 1 to 570`, `string or null`, `list of commands`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};

/// The type of a context field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FieldType {
    #[default]
    Boolean,
    Integer,
    /// A number above 0, which may have decimals: money.
    Amount,
    String,
    /// A list of strings.
    List,
    /// The name of a phase.
    Phase,
}

/// What each type is called, what it is, and whether each of its values is a line of text with its own meaning.
const NAMES: [(&str, FieldType, Use); 11] = [
    ("boolean", FieldType::Boolean, Use::Plain),
    ("integer", FieldType::Integer, Use::Plain),
    ("amount", FieldType::Amount, Use::Plain),
    ("string", FieldType::String, Use::Plain),
    ("id", FieldType::String, Use::Id),
    ("file", FieldType::String, Use::File),
    ("phase", FieldType::Phase, Use::Plain),
    ("list of commands", FieldType::List, Use::Commands),
    ("list of reviewers", FieldType::List, Use::Reviewers),
    ("list of cycles", FieldType::List, Use::Cycles),
    ("list", FieldType::List, Use::Plain),
];

/// The pattern of all types, for editors.
pub(crate) const PATTERN: &str = "^(boolean|integer( from -?[0-9]+)?( to -?[0-9]+)?|amount|string|id|file|phase|list( of (commands|reviewers|cycles))?)\
    ( or null)?( or absent)?$";

/// What the values of a type are used for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Use {
    #[default]
    Plain,
    /// Part of a file name: letters, digits, `_`, `-` and single dots.
    Id,
    /// The path of a file whose text expressions see.
    File,
    /// Commands that run without a shell.
    Commands,
    /// At least one reviewer, and perhaps a model: `opus`, `codex`, `codex:MODEL`.
    Reviewers,
    /// The names of cycles.
    Cycles,
}

/// A type, with its limits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kind {
    pub kind: FieldType,
    pub used: Use,
    pub minimum: Option<i64>,
    pub maximum: Option<i64>,
    /// It may be null.
    pub nullable: bool,
    /// The key may be absent without a warning.
    pub optional: bool,
}

impl Kind {
    /// Reads a type; `None` if these words are none.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, optional) = without(text, " or absent");
        let (text, nullable) = without(text, " or null");
        // Every stop reads some types, and few have limits.
        let has_limits = text.starts_with("integer ");
        let (text, maximum) = limit(text, " to ", has_limits)?;
        let (text, minimum) = limit(text, " from ", has_limits)?;
        let (_, kind, used) = NAMES.into_iter().find(|(name, ..)| *name == text)?;
        Some(Self {
            kind,
            used,
            minimum: minimum.or((used == Use::Reviewers).then_some(1)),
            maximum,
            nullable,
            optional,
        })
    }

    /// Returns whether it is part of file names: letters, digits, `_`, `-` and single dots.
    pub fn is_id(&self) -> bool {
        self.used == Use::Id
    }

    /// Returns whether it is the path of a file in the project.
    pub fn is_file(&self) -> bool {
        self.used == Use::File
    }

    /// Returns whether its items are commands.
    pub fn is_of_commands(&self) -> bool {
        self.used == Use::Commands
    }
}

fn without<'t>(text: &'t str, end: &str) -> (&'t str, bool) {
    text.strip_suffix(end).map_or((text, false), |text| (text, true))
}

fn limit<'t>(text: &'t str, word: &str, may_have: bool) -> Option<(&'t str, Option<i64>)> {
    match may_have.then(|| text.split_once(word)).flatten() {
        None => Some((text, None)),
        Some((_, number)) if number.starts_with('+') => None,
        Some((text, number)) => Some((text, Some(number.parse().ok()?))),
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| {
            let names = NAMES.map(|(name, ..)| format!("`{name}`")).join(", ");
            D::Error::custom(format!("unknown type `{text}`, expected one of {names}"))
        })
    }
}

impl JsonSchema for Kind {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "type".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": PATTERN })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pattern for editors and the parser accept the same.
    #[test]
    fn types_are_read() {
        let validator =
            jsonschema::draft7::new(&serde_json::json!({ "pattern": PATTERN })).unwrap();
        let names = NAMES.into_iter().flat_map(|(name, ..)| {
            ["", " or null", " or absent", " or null or absent"].map(|end| format!("{name}{end}"))
        });
        let good = names.chain(
            ["integer from 0", "integer from -1 to 3 or null", "integer to 9"].map(str::to_owned),
        );
        for text in good {
            assert!(Kind::parse(&text).is_some(), "{text}");
            assert!(validator.is_valid(&text.clone().into()), "{text}");
        }
        for text in [
            "",
            "phaze",
            "string from 1",
            "list to 3",
            "number",
            "amount from 1",
            "list of words",
            "integer from x",
            "integer from +1",
            "null",
            "id or nil",
            "integer or absent or null",
        ] {
            assert_eq!(Kind::parse(text), None, "{text}");
            assert!(!validator.is_valid(&text.into()), "{text}");
        }
        let kind = Kind::parse("integer from 1 to 570 or null").unwrap();
        assert_eq!(
            (kind.minimum, kind.maximum, kind.nullable, kind.optional),
            (Some(1), Some(570), true, false)
        );
    }
}
