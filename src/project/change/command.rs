//! Runs git commands about a change: how long one may take, the error for one that fails.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use super::terms::Unknown;
use crate::project::git::{self, failure, output_within};

/// How long each git command may take. It reads all files that have changed.
const LIMIT: Duration = Duration::from_secs(120);

/// Returns why a command of git has failed that works on the work tree.
pub(super) fn failed(why: String) -> Unknown {
    Unknown::new(why, "see what `git status` says")
}

/// Runs a git command. Returns what it prints.
pub(super) fn run(git: &mut Command) -> Result<Vec<u8>, Unknown> {
    let output = output(git)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(failed(failure(git, &output))),
    }
}

/// Returns what a git command has printed as text.
pub(super) fn text(printed: &[u8]) -> String {
    String::from_utf8_lossy(printed).trim_end().to_owned()
}

/// Runs a git command, which may fail.
pub(super) fn output(git: &mut Command) -> Result<Output, Unknown> {
    output_within(git, LIMIT).map_err(|why| Unknown::new(why, "run it by hand"))
}

/// Returns a command of git in the work tree at `root`.
pub(super) fn git(root: &Path, args: &[&str]) -> Result<Command, Unknown> {
    let mut git = git::git(root).map_err(|why| Unknown::new(why, "install git"))?;
    git.args(args);
    Ok(git)
}

/// Returns an input for a command.
pub(super) fn input(text: &[u8]) -> Result<File, Unknown> {
    let file = tempfile::tempfile().and_then(|mut file| {
        file.write_all(text)?;
        file.rewind()?;
        Ok(file)
    });
    file.map_err(no_temporary)
}

/// Returns the error for a temporary file that cannot be created.
pub(super) fn no_temporary(error: io::Error) -> Unknown {
    let folder = std::env::temp_dir();
    let message = format!("{} cannot be written: {error}", folder.display());
    Unknown::new(message, "check its permissions")
}
