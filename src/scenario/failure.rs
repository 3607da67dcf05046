//! Why a scenario failed.

use std::fmt;
use std::path::Path;

/// Why a scenario failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The scenario cannot be played.
    Script(String),
    /// The file system refused something.
    Io { what: String, error: std::io::Error },
    /// A command does not apply, and why.
    Refused(String),
    /// Something did not happen as the scenario says. `details` has the command and its output.
    Unexpected { what: String, details: String },
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script(why) => write!(out, "the scenario cannot be played: {why}"),
            Self::Io { what, error } => write!(out, "{what}: {error}"),
            Self::Refused(why) => out.write_str(why),
            Self::Unexpected { what, .. } => out.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}

/// Returns a conversion that says what could not be done.
pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Failure {
    let what = what.into();
    move |error| Failure::Io { what, error }
}

/// Returns a conversion that names the file.
pub(crate) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    io(path.display().to_string())
}
