//! Why a decision could not be made. Data only; how it reads is its `Display`.

use std::fmt;

use crate::expr::ExprError;

/// Why a decision could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An expression or a text of the chart gave no value.
    Expression { place: String, error: ExprError },
    /// An assignment gives a field a value that its type forbids.
    Assignment {
        place: String,
        field: String,
        value: String,
        expected: String,
    },
    /// A cycle ends and none of its advance targets is open.
    NowhereToAdvance { cycle: String },
    /// `advance` while no cycle is running.
    NoCycle { place: String },
    /// An option has a value that the chart forbids.
    Argument { name: String, detail: String },
    /// A file that a user writes cannot be used.
    File(String),
    /// The world could not be looked at.
    World(String),
}

impl Fault {
    /// Names the place in the chart where an expression failed.
    pub fn at(place: impl fmt::Display) -> impl FnOnce(ExprError) -> Self {
        move |error| match error.cause.as_ref().and_then(|cause| cause.downcast_ref()) {
            // Whoever gave a wrong option or setting need not know which expression looked at it.
            Some(fault @ (Self::Argument { .. } | Self::File(_))) => fault.clone(),
            _ => Self::Expression {
                place: place.to_string(),
                error,
            },
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expression { place, error } => write!(out, "{place}: {error}"),
            Self::Assignment {
                place,
                field,
                value,
                expected,
            } => {
                write!(
                    out,
                    "{place} assigns {value} to `{field}`, which is {expected}"
                )
            }
            Self::NowhereToAdvance { cycle } => write!(
                out,
                "`{cycle}` is over and none of its advance targets is open: remove the guard of the last one"
            ),
            Self::NoCycle { place } => write!(out, "{place} advances, but no cycle is running"),
            Self::Argument { name, detail } => write!(out, "--{name}: {detail}"),
            Self::File(detail) | Self::World(detail) => out.write_str(detail),
        }
    }
}

impl std::error::Error for Fault {}
