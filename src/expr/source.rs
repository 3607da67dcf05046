//! Expressions, texts and values as a chart declares them. This is data; nothing is evaluated here. The reference and
//! the schema call each type by its title.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// A bare expression: `next_phase == 'complete'`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "expression")]
pub struct Expr(pub String);

/// A text with holes: `Task {{ current_task }}`. One that is a single `{{ … }}` keeps its type.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "text")]
pub struct Text(pub String);

impl AsRef<str> for Expr {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// A value to assign, or a default.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum Literal {
    Boolean(bool),
    Integer(i64),
    Text(Text),
    /// A list of strings, as written.
    List(Vec<String>),
    /// Null, which `clear` assigns. No literal in a chart is parsed as this.
    #[schemars(skip)]
    Null,
}

impl Literal {
    /// Returns the text, if it is one.
    pub fn text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Written by hand: serde's own code would try each kind and format an error for each that does not fit, at every stop.
impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneKind)
    }
}

/// Reads a [`Literal`].
struct OneKind;

impl<'de> Visitor<'de> for OneKind {
    type Value = Literal;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a boolean, an integer, a string or a list of strings")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Literal, E> {
        Ok(Literal::Boolean(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Literal, E> {
        Ok(Literal::Integer(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Literal, E> {
        i64::try_from(value)
            .map(Literal::Integer)
            .map_err(|_| E::custom(format_args!("{value} is too large")))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Literal, E> {
        Ok(Literal::Text(Text(value.to_owned())))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Literal, E> {
        Ok(Literal::Text(Text(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Literal, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Literal::List(list))
    }
}
