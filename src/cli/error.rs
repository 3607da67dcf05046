//! Why a command failed.

use crate::diagnostic::flaw::ChartError;

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
}

impl From<ChartError> for CliError {
    fn from(error: ChartError) -> Self {
        Self::Chart(error)
    }
}
