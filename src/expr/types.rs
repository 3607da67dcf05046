//! The types of expressions: what a chart's names contain, and which of them can be compared.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::hash::IndexMap;

/// What an expression can evaluate to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// Nothing is known, so it is checked when it is evaluated.
    Any,
    None,
    Boolean,
    Integer,
    Text,
    /// One of a known set of strings: a phase, a cycle, a literal.
    Word(Arc<BTreeSet<String>>),
    List(Box<Type>),
    Record(Arc<IndexMap<String, Type>>),
    /// The type, or none.
    Optional(Box<Type>),
}

impl Type {
    /// Returns the type of one of these strings.
    pub fn word<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Self {
        Self::Word(Arc::new(words.into_iter().map(Into::into).collect()))
    }

    /// Returns a record with these fields.
    pub fn record<S: Into<String>>(fields: impl IntoIterator<Item = (S, Self)>) -> Self {
        Self::Record(Arc::new(fields.into_iter().map(|(name, kind)| (name.into(), kind)).collect()))
    }

    /// Returns a list of items of this type.
    pub fn list(item: Self) -> Self {
        Self::List(Box::new(item))
    }

    /// Returns this type, or none.
    pub fn or_none(self) -> Self {
        match self {
            Self::Any | Self::None | Self::Optional(_) => self,
            other => Self::Optional(Box::new(other)),
        }
    }

    /// Returns the type without none.
    pub fn some(&self) -> &Self {
        match self {
            Self::Optional(inner) => inner,
            other => other,
        }
    }

    /// Returns whether this can be the type of a condition: a boolean or a list.
    pub fn is_condition(&self) -> bool {
        matches!(self, Self::Any | Self::Boolean | Self::List(_))
    }

    /// Returns whether this is a string of any kind.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Any | Self::Text | Self::Word(_))
    }

    /// Returns the type of a value that has one of the two types.
    pub fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a.clone(),
            (Self::None, b) => b.clone().or_none(),
            (a, Self::None) => a.clone().or_none(),
            (Self::Optional(a), b) => a.join(b.some()).or_none(),
            (a, Self::Optional(b)) => a.join(b).or_none(),
            (Self::Word(a), Self::Word(b)) => Self::Word(Arc::new(a.union(b).cloned().collect())),
            (a, b) if a.is_text() && b.is_text() => Self::Text,
            (Self::List(a), Self::List(b)) => Self::list(a.join(b)),
            (Self::Record(a), Self::Record(b)) if a.keys().eq(b.keys()) => {
                let fields = a.iter().zip(b.values());
                Self::record(fields.map(|((name, a), b)| (name.clone(), a.join(b))))
            }
            _ => Self::Any,
        }
    }

    /// Returns whether a value of one type can equal one of the other.
    pub fn can_equal(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) | (Self::None, Self::None) => true,
            (Self::Optional(_), Self::None) | (Self::None, Self::Optional(_)) => true,
            (Self::None, _) | (_, Self::None) => false,
            (Self::Optional(_), Self::Optional(_)) => true,
            (Self::Optional(a), b) | (b, Self::Optional(a)) => a.can_equal(b),
            (Self::Word(a), Self::Word(b)) => !a.is_disjoint(b),
            (Self::List(a), Self::List(b)) => a.can_equal(b),
            (a, b) if a.is_text() => b.is_text(),
            (Self::Record(_), Self::Record(_)) => true,
            (a, b) => a == b,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => out.write_str("anything"),
            Self::None => out.write_str("none"),
            Self::Boolean => out.write_str("a boolean"),
            Self::Integer => out.write_str("an integer"),
            Self::Text => out.write_str("a string"),
            Self::Word(words) if words.len() == 1 => {
                write!(out, "the string '{}'", words.iter().next().map_or("", String::as_str))
            }
            Self::Word(words) if words.len() <= 4 => {
                write!(
                    out,
                    "one of {}",
                    words.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
                )
            }
            Self::Word(words) => write!(out, "one of {} known strings", words.len()),
            Self::List(_) => out.write_str("a list"),
            Self::Record(_) => out.write_str("a record"),
            Self::Optional(inner) => write!(out, "{inner}, or none"),
        }
    }
}
