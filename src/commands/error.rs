//! Why a command failed.

use std::fmt::Display;

use miette::MietteDiagnostic;

use crate::diagnostic::flaw::ChartError;
use crate::engine::fault::Fault;
use crate::preview::RenderError;
use crate::run::stuck::Stuck;

/// What to do where nothing but the cause is known.
const AGAIN: &str = "fix the cause, and run the command again";

/// The exit code for wrong usage, the same as clap's.
pub(crate) const WRONG_USAGE: u8 = 2;

/// What to do about a file of the user's.
pub(crate) const FIX: &str = "fix the file, or restore an earlier version of it";

/// A command that failed, and what the user sees.
#[derive(Debug)]
pub(crate) enum CliError {
    /// The chart cannot be used.
    Chart(ChartError),
    /// An error with a place in a file.
    Report(miette::Report),
    /// Any other error: a sentence, what to do, and the exit code if it is another one than usual.
    Message { message: String, help: Option<String>, code: Option<u8> },
}

impl CliError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Message { message: message.into(), help: None, code: None }
    }

    pub(crate) fn with_help(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Message { message: message.into(), help: Some(help.into()), code: None }
    }

    /// Returns the same with an exit code, unless it has one of its own.
    pub(crate) fn with_code(mut self, usual: u8) -> Self {
        if let Self::Message { code, .. } = &mut self {
            code.get_or_insert(usual);
        }
        self
    }

    /// Returns the exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Message { code, .. } => code.unwrap_or(1),
            Self::Chart(_) | Self::Report(_) => 1,
        }
    }

    /// Returns it as one line, for a program.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Chart(error) => error.to_string(),
            Self::Report(report) => report.to_string(),
            Self::Message { message, help, .. } => match help {
                Some(help) => format!("{message} ({help})"),
                None => message.clone(),
            },
        }
    }

    /// Returns what makes an error of what went wrong, for `map_err`: `what` is the sentence before it.
    pub(crate) fn because<E: Display>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |error| Self::with_help(format!("{what}: {error}"), AGAIN)
    }
}

impl From<Stuck> for CliError {
    fn from(stuck: Stuck) -> Self {
        match stuck {
            Stuck::Fault(fault) => fault.into(),
            Stuck::Broken(why) => Self::with_help(why, FIX),
            Stuck::Io { ref error, .. } if error.raw_os_error().is_some() => {
                Self::with_help(stuck.to_string(), AGAIN)
            }
            // The others say what to do, or leave nothing to do.
            other => Self::new(other.to_string()),
        }
    }
}

impl From<Fault> for CliError {
    fn from(fault: Fault) -> Self {
        let help = match (&fault, fault.place()) {
            (Fault::File(_), _) => FIX.to_owned(),
            (Fault::Argument { .. }, _) => "add --help to see what the options mean".to_owned(),
            (_, Some(place)) => format!("check {place} in the chart"),
            (_, None) => AGAIN.to_owned(),
        };
        Self::with_help(fault.to_string(), help)
    }
}

impl From<ChartError> for CliError {
    fn from(error: ChartError) -> Self {
        Self::Chart(error)
    }
}

impl From<RenderError> for CliError {
    fn from(error: RenderError) -> Self {
        let RenderError { message, help, excerpt } = error;
        match excerpt {
            Some(excerpt) => {
                let mut diagnostic = MietteDiagnostic::new(message);
                diagnostic.help = help;
                Self::Report(excerpt.report(diagnostic))
            }
            None => Self::Message { message, help, code: None },
        }
    }
}
