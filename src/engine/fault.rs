//! The reasons why a decision could not be made, as data; `Display` has the wording.

use std::fmt;

use crate::expr::ExprError;

/// Why a decision could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An expression or a text of the chart failed.
    Expression { place: String, error: ExprError },
    /// An assignment gives a field a value that it may not have.
    Assignment { place: String, field: String, value: String, expected: String },
    /// A cycle ends, but none of its advance targets is open.
    NowhereToAdvance { cycle: String },
    /// `advance` or `invoke` while no cycle is running.
    NoCycle { place: String },
    /// An option has a value that the chart forbids.
    Argument { name: String, detail: String },
    /// A file written by the user cannot be used.
    File(String),
    /// The world could not be read.
    World(String),
}

impl Fault {
    /// Returns the place in the chart, where it is one.
    pub fn place(&self) -> Option<String> {
        match self {
            Self::Expression { place, .. }
            | Self::Assignment { place, .. }
            | Self::NoCycle { place } => Some(place.clone()),
            Self::NowhereToAdvance { cycle } => Some(format!("cycles.{cycle}.advance")),
            Self::Argument { name, .. } => Some(format!("args.{name}")),
            Self::File(_) | Self::World(_) => None,
        }
    }

    /// Adds the place in the chart where an expression failed.
    pub fn at(place: impl fmt::Display) -> impl FnOnce(ExprError) -> Self {
        move |error| match Self::of_the_user(&error) {
            Some(fault) => fault.clone(),
            None => Self::Expression { place: place.to_string(), error },
        }
    }

    /// Returns the fault for which an expression failed, where the user made it: the user who gave a wrong option or
    /// setting doesn't need to know which expression used it.
    pub fn of_the_user(error: &ExprError) -> Option<&Self> {
        let fault = error.cause.as_ref()?.downcast_ref()?;
        matches!(fault, Self::Argument { .. } | Self::File(_)).then_some(fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expression { place, error } => write!(out, "{place}: {error}"),
            Self::Assignment { place, field, value, expected } => {
                write!(out, "{place} assigns {value} to `{field}`, which is {expected}")
            }
            Self::NowhereToAdvance { cycle } => write!(
                out,
                "`{cycle}` ends, but none of its advance targets is open: remove the guard of the last one"
            ),
            Self::NoCycle { place } => write!(
                out,
                "{place} needs a running cycle, and none is: `advance` ends one, and `invoke` runs a review of it"
            ),
            Self::Argument { name, detail } => write!(out, "--{name}: {detail}"),
            Self::File(detail) | Self::World(detail) => out.write_str(detail),
        }
    }
}

impl std::error::Error for Fault {}
