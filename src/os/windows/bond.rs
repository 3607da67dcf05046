//! Starts a program that ends with this process: the [job](super::supervisor) sees to that.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Whether a program ends with this process, however this process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bond {
    /// It ends if this process ends it.
    Loose,
    /// It ends in any case.
    Tight,
}

impl Bond {
    /// Returns the command that starts `file`. It sees the path of its file as its name.
    pub(crate) fn command(self, file: &Path, _name: &str) -> Command {
        Command::new(file)
    }
}

/// Returns nothing: this process is never started in a program's place.
pub(crate) fn become_program(_: &[OsString]) -> Option<ExitCode> {
    None
}
