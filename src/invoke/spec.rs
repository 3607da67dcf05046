//! What to run, and in which environment: data only.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

/// A run to be started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec<'a> {
    /// The program and its arguments, passed on unchanged: there is no shell. A program without a slash is looked up
    /// on PATH (that of `env`, if it sets one).
    pub(crate) argv: &'a [String],
    /// The working directory.
    pub(crate) cwd: &'a Path,
    /// Variables added to the inherited environment.
    pub(crate) env: &'a [(String, String)],
    /// The file for stderr: created or emptied. A symbolic link in its place is refused.
    pub(crate) log: &'a Path,
    /// Stdout goes to the log too, and is not captured.
    pub(crate) logs_stdout: bool,
    /// Counted from the start of the program.
    pub(crate) timeout: Duration,
    /// The program is killed when the other end of this is closed.
    pub(crate) owner: Option<BorrowedFd<'a>>,
}
