//! Why a command failed.

use std::fmt::Display;

use crate::diagnostic::flaw::ChartError;
use crate::engine::fault::Fault;
use crate::run::stuck::Stuck;

/// A command that failed, and what the user sees.
#[derive(Debug)]
pub(crate) enum CliError {
    /// The chart cannot be used.
    Chart(ChartError),
    /// An error with a place in a file.
    Report(miette::Report),
    /// Any other error: a sentence, and what to do.
    Message {
        message: String,
        help: Option<String>,
    },
}

impl CliError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Message {
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn with_help(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Message {
            message: message.into(),
            help: Some(help.into()),
        }
    }

    /// Returns what makes an error of what went wrong, for `map_err`: `what` is the sentence before it.
    pub(crate) fn because<E: Display>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |error| Self::new(format!("{what}: {error}"))
    }
}

impl From<Stuck> for CliError {
    fn from(stuck: Stuck) -> Self {
        match stuck {
            Stuck::Fault(fault) => fault.into(),
            other => Self::new(other.to_string()),
        }
    }
}

impl From<Fault> for CliError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::File(why) => {
                Self::with_help(why, "fix the file, or restore an earlier version of it")
            }
            other => Self::new(other.to_string()),
        }
    }
}

impl From<ChartError> for CliError {
    fn from(error: ChartError) -> Self {
        Self::Chart(error)
    }
}
