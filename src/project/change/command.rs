//! Runs git commands about a change: how long one may take, the error for one that fails.

use std::io;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use super::terms::Unknown;
use crate::project::git::{self, failure, name, output_within};

/// How long each git command may take. It reads all files that have changed.
const LIMIT: Duration = Duration::from_secs(120);

/// Returns why a command of git has failed that works on the work tree.
pub(super) fn failed(why: String) -> Unknown {
    Unknown::new(why, "see what `git status` says")
}

/// Runs a git command. Returns what it prints as text, or why it failed; the outer error says that it could not be run.
pub(super) fn run(git: &mut Command) -> Result<Result<String, String>, Unknown> {
    let printed = bytes(git)?;
    Ok(printed.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Does the same, and returns the bytes.
pub(super) fn bytes(git: &mut Command) -> Result<Result<Vec<u8>, String>, Unknown> {
    let output = output(git)?;
    Ok(match output.status.success() {
        true => Ok(output.stdout),
        false => Err(failure(git, &output)),
    })
}

/// Runs a git command.
pub(super) fn output(git: &mut Command) -> Result<Output, Unknown> {
    let output = output_within(git, LIMIT);
    output.map_err(|why| Unknown::new(format!("`git {}` {why}", name(git)), "run it by hand"))
}

/// Returns a command of git in the work tree at `root`.
pub(super) fn git(root: &Path, args: &[&str]) -> Result<Command, Unknown> {
    let mut git = git::git(root).map_err(|why| Unknown::new(why, "install git"))?;
    git.args(args);
    Ok(git)
}

/// Returns the error for a folder that cannot be written.
pub(super) fn unwritable(folder: &Path, error: &io::Error) -> Unknown {
    let folder = folder.display();
    Unknown::new(format!("{folder} cannot be written: {error}"), "check its permissions")
}

/// Returns the error for a folder that is in no repository.
pub(super) fn no_repository() -> Unknown {
    Unknown::new("this is no git repository", "run `git init`")
}
