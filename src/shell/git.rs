//! What git says of the project, asked at most once for each event, and only where a rule looks at it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// git's answer, once it was asked.
#[derive(Debug, Default)]
pub(crate) struct Git {
    dirty: OnceLock<Result<bool, String>>,
}

impl Git {
    /// Whether there are changes that are not committed, those below `home` aside; false outside git. The error says
    /// why git cannot tell.
    pub(crate) fn is_dirty(&self, root: &Path, home: &str) -> Result<bool, &str> {
        let dirty = self.dirty.get_or_init(|| ask(root, home));
        dirty.as_ref().copied().map_err(String::as_str)
    }
}

fn ask(root: &Path, home: &str) -> Result<bool, String> {
    // Outside git there is nothing to start a process for.
    if !root.ancestors().any(|dir| dir.join(".git").exists()) {
        return Ok(false);
    }
    let output = Command::new("git")
        // A lock taken for a mere look could make the agent's own `git commit` fail.
        .args(["--no-optional-locks", "status", "--porcelain", "--", ":/"])
        .arg(format!(":(exclude,literal){home}"))
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`git status` cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(!output.stdout.is_empty());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().find(|line| !line.trim().is_empty());
    Err(format!(
        "`git status` failed: {}",
        last.map_or_else(
            || output.status.to_string(),
            |line| line.escape_debug().to_string()
        )
    ))
}
