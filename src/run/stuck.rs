//! Why an event could not be carried out.

use crate::engine::fault::Fault;
use crate::process::End;

/// Why an event could not be carried out. Nothing was written.
#[derive(Debug)]
pub(crate) enum Stuck {
    /// No decision could be made.
    Fault(Fault),
    /// The file system refused something.
    Io { what: String, error: std::io::Error },
    /// The state is unusable, and the decision would write it.
    Broken(String),
    /// This process was asked to end during a run, and the run was killed.
    Interrupted { signal: i32 },
    /// The host went away during a run, and the run was killed.
    Abandoned,
}

impl Stuck {
    /// Returns why nothing more can be done after a run, if it ended because this process has to end.
    pub(crate) fn after(end: &End) -> Option<Self> {
        match end {
            End::Interrupted { signal } => Some(Self::Interrupted { signal: *signal }),
            End::Abandoned => Some(Self::Abandoned),
            _ => None,
        }
    }
}

impl std::fmt::Display for Stuck {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fault(fault) => write!(out, "{fault}"),
            Self::Io { what, error } => write!(out, "{what}: {error}"),
            Self::Broken(why) => write!(out, "{why}"),
            // Which signal it was says nothing to a user.
            Self::Interrupted { .. } => out.write_str(
                "interrupted by Ctrl-C, Esc, a closed terminal, or the host's time limit",
            ),
            Self::Abandoned => write!(out, "the host is gone"),
        }
    }
}

impl From<Fault> for Stuck {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Wraps an I/O error, saying what could not be done because of it.
pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Stuck {
    let what = what.into();
    move |error| Stuck::Io { what, error }
}
