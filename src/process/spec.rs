//! What to run, and in which environment: data only.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A run to be started. A path is no `PathBuf`: not every path is text in JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// The program and its arguments, passed on unchanged: there is no shell. A program without a slash is looked up
    /// on PATH.
    pub(crate) argv: Vec<String>,
    /// The working directory.
    pub(crate) cwd: OsString,
    /// Variables added to the inherited environment.
    pub(crate) env: Vec<(String, String)>,
    /// The file for stderr: created or emptied. A symbolic link in its place is refused.
    pub(crate) log: OsString,
    /// Stdout goes to the log too, and is not captured.
    pub(crate) logs_stdout: bool,
    /// Counted from the start of the program.
    pub(crate) timeout: Duration,
    /// The program is killed when there is a file with this name.
    pub(crate) cancel: Option<OsString>,
}

impl Spec {
    /// Returns the working directory.
    pub(super) fn dir(&self) -> &Path {
        Path::new(&self.cwd)
    }
}
