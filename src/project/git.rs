//! Asks git about the project: for a rule, only if one looks at it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::os;
use crate::process::program;
use crate::store::git_dir;
use crate::text::shown;

/// How long git may take. A host gives a hook as little as a minute, and nobody would learn why a stop was cut off.
const LIMIT: Duration = Duration::from_secs(30);

/// Variables that would change the meaning of the paths below, or the repository: it is that of the folder.
const OTHERS: [&str; 6] = [
    "GIT_LITERAL_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
];

/// Settings that hold whatever the configuration of the repository says.
const SETTINGS: [&str; 8] = [
    // A repository inside the project, which can be part of a clone as ordinary files, has a configuration that nobody here
    // wrote: it must not name a program, and no hook of the repository has a part in this.
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "safe.bareRepository=explicit",
    // What looks unchanged is unchanged, in the folder of the project.
    "core.ignoreStat=false",
    "core.trustctime=true",
    "core.checkStat=default",
    // Line ends do not count here.
    "core.safecrlf=false",
    // A split index would leave a part of each copy in the git directory.
    "core.splitIndex=false",
];

/// Returns whether there are uncommitted changes outside `home`; false outside git. The error says why git cannot
/// tell.
pub(crate) fn is_dirty(root: &Path, home: &str) -> Result<bool, String> {
    // Outside git, there is no need to start a process.
    if !is_in_git(root) {
        return Ok(false);
    }
    let mut git = git(root).map_err(|why| format!("`git status` cannot be run: {why}"))?;
    git.args(["status", "--porcelain", "--", ":/"]).args(without(home));
    let output = output_within(&mut git, LIMIT)?;
    match output.status.success() {
        true => Ok(!output.stdout.is_empty()),
        false => Err(failure(&git, &output)),
    }
}

/// Returns what leaves out a chart's home, unless that is no part of the work tree anyway.
fn without(home: &str) -> Option<String> {
    let is_in_git = Path::new(home).is_absolute() || home.starts_with(".git/");
    (!is_in_git).then(|| format!(":(exclude,literal){home}"))
}

/// Returns a git command for the directory `root` that only reads.
pub(super) fn git(root: &Path) -> Result<Command, String> {
    let mut git = Command::new(program::locate("git", root)?);
    for other in OTHERS {
        git.env_remove(other);
    }
    if let Some(tree) = git_dir::around(root) {
        git.env("GIT_WORK_TREE", tree.top);
    }
    // A replaced object or a graft would show another history than the one that everybody else gets.
    git.env("GIT_NO_REPLACE_OBJECTS", "1")
        // What a partial clone lacks would be fetched, by a program that its configuration names.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_GRAFT_FILE", "/dev/null");
    // A lock taken for a mere look could make the agent's own `git commit` fail.
    git.arg("--no-optional-locks").stdin(Stdio::null()).current_dir(root);
    for setting in SETTINGS {
        git.args(["-c", setting]);
    }
    if os::file::CASE_MATTERS {
        git.args(["-c", "core.ignoreCase=false"]);
    }
    Ok(git)
}

/// Returns whether the project at `root` is in a git repository.
pub(crate) fn is_in_git(root: &Path) -> bool {
    git_dir::around(root).is_some()
}

/// Returns why a git command failed, by its output.
pub(super) fn failure(git: &Command, output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines = || stderr.lines().filter(|line| !line.trim().is_empty());
    let is_error = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
    // What follows the error is advice.
    let last = lines().find(is_error).or_else(|| lines().next_back());
    let why = last.map_or_else(|| output.status.to_string(), |line| shown(line).into_owned());
    format!("`git {}` failed: {why}", name(git))
}

/// Returns the name of a git command.
fn name(git: &Command) -> String {
    let args = git.get_args().map(OsStr::to_string_lossy);
    let mut name = args.skip_while(|arg| arg.starts_with('-') || arg.contains('='));
    name.next().unwrap_or_default().into_owned()
}

/// Returns the output of a git command. It is killed if it takes longer than `limit`; the error is a message about that.
pub(super) fn output_within(git: &mut Command, limit: Duration) -> Result<Output, String> {
    let name = name(git);
    let unrun = |error| format!("`git {name}` cannot be run: {error}");
    let child = git.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(unrun)?;
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().spawn(move || sender.send(child.wait_with_output())).map_err(unrun)?;
    match receiver.recv_timeout(limit) {
        // Half an answer is none.
        Ok(Ok(output)) if output.status.code().is_none() => {
            Err(format!("`git {name}` was killed ({})", output.status))
        }
        Ok(output) => output.map_err(unrun),
        Err(_) => {
            // It may have ended just now. Nothing waits for the thread: a process that git started may keep its pipes
            // open.
            os::group::kill(id);
            Err(format!("`git {name}` did not end within {} s", limit.as_secs()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_command_that_does_not_end_is_killed() {
        let start = Instant::now();
        let slow = output_within(Command::new("sleep").arg("60"), Duration::from_secs(1));
        assert_eq!(slow.err().as_deref(), Some("`git 60` did not end within 1 s"));
        let killed = output_within(Command::new("sh").args(["-c", "echo half; kill -9 $$"]), LIMIT);
        let why = killed.unwrap_err();
        assert!(why.contains("was killed"), "{why}");
        assert!(start.elapsed() < Duration::from_secs(30));
        let fast = output_within(Command::new("echo").arg("x"), LIMIT);
        assert_eq!(fast.map(|output| output.stdout), Ok(b"x\n".to_vec()));
    }

    /// A clone can contain the files of a repository in a folder, and git would treat it as one.
    #[test]
    fn the_configuration_of_a_repository_inside_the_project_is_not_used() {
        let project = tempfile::tempdir().unwrap();
        let init = Command::new("git").args(["init", "-q"]).current_dir(project.path()).status();
        assert!(init.unwrap().success());
        let folder = project.path().join("folder");
        for inner in ["objects", "refs"] {
            fs::create_dir_all(folder.join(inner)).unwrap();
        }
        fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = \"touch ran; false\"\n";
        fs::write(folder.join("config"), config).unwrap();
        let by_itself =
            Command::new("git").args(["ls-files", "--", "."]).current_dir(&folder).output();
        assert!(by_itself.is_ok());
        assert!(folder.join("ran").exists(), "git runs what it names");
        fs::remove_file(folder.join("ran")).unwrap();

        let dirty = is_dirty(&folder, ".taskie").unwrap_err();
        assert!(dirty.contains("safe.bareRepository"), "{dirty}");
        assert!(!folder.join("ran").exists());
    }
}
