//! What to run, and in which environment: data only.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A run to be started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// The program and its arguments, passed on unchanged: there is no shell. A program without a slash is looked up
    /// on PATH (that of `env`, if it sets one).
    pub(crate) argv: Vec<String>,
    /// The working directory.
    #[serde(with = "bytes")]
    pub(crate) cwd: PathBuf,
    /// Variables added to the inherited environment.
    pub(crate) env: Vec<(String, String)>,
    /// The file for stderr: created or emptied. A symbolic link in its place is refused.
    #[serde(with = "bytes")]
    pub(crate) log: PathBuf,
    /// Stdout goes to the log too, and is not captured.
    pub(crate) logs_stdout: bool,
    /// Counted from the start of the program.
    pub(crate) timeout: Duration,
    /// The program is killed when there is a file with this name.
    pub(crate) cancel: Option<Cancel>,
}

/// The name of a file whose presence ends a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Cancel(#[serde(with = "bytes")] pub(crate) PathBuf);

/// A path in JSON: not every path is text.
mod bytes {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::os::file::path;

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().as_encoded_bytes().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Vec::deserialize(from).map(|bytes: Vec<u8>| path(&bytes))
    }
}
