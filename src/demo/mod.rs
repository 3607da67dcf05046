//! `taskie demo`: an instance of a chart from its first phase to its last, in a temporary project.
//!
//! Everything that decides is the real thing, run as the host and the agent run it: `taskie hook stop` with
//! the host's JSON on stdin, `taskie enter` and the chart's commands as the agent calls them. Played are
//! only the agent, who does what a [`scenario`] says, and the reviewer, a [`reviewer`] that stands in for
//! the program that the chart invokes. [`stage`] is the temporary project with what runs in it, [`page`]
//! what a person sees of it. Nothing here knows a workflow: that is the chart's and its scenario's.

mod player;
pub(crate) mod reviewer;
mod scenario;
mod stage;

use std::fmt;
use std::path::Path;

pub(crate) use player::play;

/// Why the demo did not come to its end.
#[derive(Debug)]
pub(crate) enum DemoError {
    /// The scenario cannot be played.
    Scenario(String),
    /// The file system is in the way.
    Io { what: String, error: std::io::Error },
    /// Something went otherwise than the scenario says. `details`: what was run and what it said.
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

/// Says what could not be done.
fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> DemoError {
    let what = what.into();
    move |error| DemoError::Io { what, error }
}

/// Says which file it was about.
fn at(path: &Path) -> impl FnOnce(std::io::Error) -> DemoError {
    io(path.display().to_string())
}
