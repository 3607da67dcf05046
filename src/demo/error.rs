//! Why the demo failed.

use std::fmt;
use std::path::Path;

/// Why the demo failed.
#[derive(Debug)]
pub(crate) enum DemoError {
    /// The scenario cannot be played.
    Scenario(String),
    /// The file system refused something.
    Io { what: String, error: std::io::Error },
    /// Something did not happen as the scenario says. `details` has the command and its output.
    Unexpected { what: String, details: String },
}

impl fmt::Display for DemoError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(why) => write!(out, "the demo's scenario cannot be played: {why}"),
            Self::Io { what, error } => write!(out, "{what}: {error}"),
            Self::Unexpected { what, .. } => write!(out, "the demo went wrong: {what}"),
        }
    }
}

impl std::error::Error for DemoError {}

/// Returns a conversion that says what could not be done.
pub(super) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> DemoError {
    let what = what.into();
    move |error| DemoError::Io { what, error }
}

/// Returns a conversion that names the file.
pub(super) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> DemoError {
    io(path.display().to_string())
}
