//! Asks git about the project, at most once per event, and only if a rule looks at it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;
use std::{fs, io};

use crate::hash::Hash;
use crate::os;
use crate::process::program;
use crate::store::{self, git_dir};
use crate::text::shown;

/// How long git may take. A host gives a hook as little as a minute, and nobody would learn why a stop was cut off.
const LIMIT: Duration = Duration::from_secs(30);

/// A changed file of this size is not read.
const LARGE: u64 = 16 * 1024 * 1024;

/// Variables that would change the meaning of the paths below, or the repository: it is that of the folder.
const OTHERS: [&str; 8] = [
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
];

/// The files in the git directory that say what git passes over.
const RULES: [&str; 3] = ["config", "info/exclude", "info/attributes"];

/// The answer of git, once it has been asked.
#[derive(Debug, Default)]
pub(crate) struct Git {
    dirty: OnceLock<Result<bool, String>>,
}

impl Git {
    /// Returns whether there are uncommitted changes outside `home`; false outside git. The error says why git cannot
    /// tell.
    pub(crate) fn is_dirty(&self, root: &Path, home: &str) -> Result<bool, &str> {
        let dirty = self.dirty.get_or_init(|| ask(root, home));
        dirty.as_ref().copied().map_err(String::as_str)
    }
}

fn ask(root: &Path, home: &str) -> Result<bool, String> {
    // Outside git, there is no need to start a process.
    if !is_in_git(root) {
        return Ok(false);
    }
    let mut git = git(root).map_err(|why| format!("`git status` cannot be run: {why}"))?;
    git.args(["status", "--porcelain", "--", ":/"])
        .args(without(home));
    let output = output_within(&mut git, LIMIT).map_err(|why| format!("`git status` {why}"))?;
    if output.status.success() {
        return Ok(!output.stdout.is_empty());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().find(|line| !line.trim().is_empty());
    Err(format!(
        "`git status` failed: {}",
        last.map_or_else(
            || output.status.to_string(),
            |line| shown(line).into_owned()
        )
    ))
}

/// Returns what leaves out a chart's home, unless that is no part of the work tree anyway.
fn without(home: &str) -> Option<String> {
    let is_in_git = Path::new(home).is_absolute() || home.starts_with(".git/");
    (!is_in_git).then(|| format!(":(exclude,literal){home}"))
}

/// The work tree outside a chart's home.
#[derive(Debug)]
pub(crate) struct Tree {
    /// What the index has, as git lists it.
    index: Vec<u8>,
    /// The files that differ from it, or that git passes over, each with a number for its content; `None` if nobody
    /// wants to read that.
    changed: BTreeMap<Vec<u8>, Option<u64>>,
    /// The same for git's own rules: what they let it pass over may have changed.
    rules: BTreeMap<Vec<u8>, Option<u64>>,
}

/// Returns what `git ls-files -z --stage -v` says of each file, and its name.
pub(super) fn entries(index: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let lines = index.split(|byte| *byte == 0);
    lines.filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        Some((&line[..tab], &line[tab + 1..]))
    })
}

/// Returns whether a file is marked as unchanged in the index, whatever is in it.
pub(super) fn is_passed_over(entry: &[u8]) -> bool {
    entry
        .first()
        .is_some_and(|sign| sign.is_ascii_lowercase() || *sign == b'S')
}

impl Tree {
    /// Reads the work tree around `root`, without `home`; `None` if it is unknown, as outside git.
    pub(crate) fn read(root: &Path, home: &str) -> Option<Self> {
        if !is_in_git(root) {
            return None;
        }
        let list = |options: &[&str]| {
            let mut git = git(root).ok()?;
            git.args(["ls-files", "-z"])
                .args(options)
                .args(["--", ":/"])
                .args(without(home));
            let output = output_within(&mut git, LIMIT).ok()?;
            output.status.success().then_some(output.stdout)
        };
        let index = list(&["--stage", "-v"])?;
        let changed = list(&["--modified", "--others", "--exclude-standard"])?;
        let numbered = |name: &[u8]| (name.to_vec(), number(root, name));
        let names = changed.split(|byte| *byte == 0);
        let passed_over = entries(&index).filter(|(line, _)| is_passed_over(line));
        let names = names.chain(passed_over.map(|(_, name)| name));
        let changed = names.filter(|name| !name.is_empty()).map(numbered);
        let mut rules = git(root).ok()?;
        rules.arg("rev-parse");
        for name in RULES {
            rules.args(["--git-path", name]);
        }
        let rules = output_within(&mut rules, LIMIT).ok()?.stdout;
        let rules = rules.split(|byte| *byte == b'\n');
        let rules = rules.filter(|name| !name.is_empty()).map(numbered);
        Some(Self {
            changed: changed.collect(),
            rules: rules.collect(),
            index,
        })
    }

    /// Passes each part to `add`, which hashes it; `None` if a part is unknown. (A commit of changes that were not staged
    /// counts as a change.)
    pub(crate) fn hash(&self, mut add: impl FnMut(&[u8])) -> Option<()> {
        add(&self.index);
        for (name, number) in &self.changed {
            add(name);
            add(&(*number)?.to_le_bytes());
        }
        Some(())
    }

    /// Returns the files whose content is another one in `now`, which was read later.
    pub(crate) fn changed(&self, now: &Self, root: &Path) -> Vec<PathBuf> {
        let (old, new) = (self.staged(), now.staged());
        let staged = old.keys().chain(new.keys()).copied();
        let differing = self.changed.keys().chain(now.changed.keys());
        let names: BTreeSet<&[u8]> = staged.chain(differing.map(Vec::as_slice)).collect();
        let is_changed = |name: &&[u8]| match (self.changed.get(*name), now.changed.get(*name)) {
            (Some(before), Some(after)) => before != after,
            // It was added or committed, perhaps as it was.
            (Some(before), None) => number(root, name) != *before,
            (None, Some(_)) => true,
            (None, None) => old.get(name) != new.get(name),
        };
        let changed = names.into_iter().filter(is_changed);
        let rules = self.rules.keys().map(Vec::as_slice);
        let rules = rules.filter(|name| self.rules.get(*name) != now.rules.get(*name));
        changed.chain(rules).map(os::file::path).collect()
    }

    /// Returns what the index has of each file.
    fn staged(&self) -> HashMap<&[u8], &[u8]> {
        entries(&self.index)
            .map(|(entry, name)| (name, entry))
            .collect()
    }
}

/// Returns a number for what git would keep of a file that it names so; `None` if nobody wants to read it: a repository in the
/// repository, or a very large file.
fn number(root: &Path, name: &[u8]) -> Option<u64> {
    let path = root.join(os::file::path(name));
    let (kind, content) = match path.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => {
            let target = fs::read_link(&path).ok()?.into_os_string();
            ("link", target.into_encoded_bytes())
        }
        Ok(meta) if meta.is_file() && meta.len() < LARGE => {
            let kind = match os::file::is_executable(&meta) {
                true => "program",
                false => "file",
            };
            (kind, fs::read(&path).ok()?)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => ("none", Vec::new()),
        _ => return None,
    };
    let mut hash = Hash::default();
    hash.add(kind);
    hash.add(content);
    Some(hash.number())
}

/// Returns a git command for the directory `root` that only reads.
pub(super) fn git(root: &Path) -> Result<Command, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut git = Command::new(program::locate("git", &path, root)?);
    for other in OTHERS {
        git.env_remove(other);
    }
    if let Some(tree) = git_dir::around(root) {
        git.env("GIT_WORK_TREE", tree.top);
    }
    // A replaced object or a graft would show another history than the one that everybody else gets.
    git.env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_GRAFT_FILE", "/dev/null");
    // A lock taken for a mere look could make the agent's own `git commit` fail. A repository inside the project,
    // which can be part of a clone as ordinary files, has a configuration that nobody here wrote: it must not name a
    // program.
    git.arg("--no-optional-locks")
        .args(["-c", "core.fsmonitor=false"])
        // What looks unchanged is unchanged, in the folder of the project.
        .args(["-c", "core.ignoreStat=false"])
        .args(["-c", "core.trustctime=true"])
        .args(["-c", "core.checkStat=default"])
        .args(["-c", "safe.bareRepository=explicit"])
        .current_dir(root);
    Ok(git)
}

/// Returns what git has as its configuration of something; `None` if nothing.
pub(crate) fn configured(root: &Path, name: &str) -> Option<String> {
    let mut git = git(root).ok()?;
    git.args(["config", "--type=path", "--get", name]);
    let output = output_within(&mut git, LIMIT).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Returns whether git tracks a file in `folder`, which is inside `root`; false if git cannot tell.
fn is_tracked(root: &Path, folder: &Path) -> bool {
    if !is_in_git(root) {
        return false;
    }
    let Ok(mut git) = git(root) else {
        return false;
    };
    git.args(["ls-files", "--"])
        .arg(format!(":(literal){}", folder.display()));
    output_within(&mut git, LIMIT).is_ok_and(|output| !output.stdout.is_empty())
}

/// Returns why the lock folder of a project cannot say who drives a plan, as a sentence that ends without a stop: if it is
/// part of the repository, it says nothing about this machine.
pub(crate) fn untrusted_locks(root: &Path, home: &str) -> Option<String> {
    let folder = Path::new(home).join(store::LOCKS);
    is_tracked(root, &folder).then(|| {
        let folder = folder.display();
        format!(
            "{folder} is tracked by git, so its records of sessions are not trusted. `git rm -rf --cached {folder}` removes it from the repository"
        )
    })
}

/// Returns whether the project at `root` is in a git repository.
pub(crate) fn is_in_git(root: &Path) -> bool {
    root.ancestors().any(|dir| dir.join(".git").exists())
}

/// Returns the output of `command`. It is killed if it takes longer than `limit`; the error is a message about that.
pub(super) fn output_within(command: &mut Command, limit: Duration) -> Result<Output, String> {
    let unrun = |error| format!("cannot be run: {error}");
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(unrun)?;
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new()
        .spawn(move || sender.send(child.wait_with_output()))
        .map_err(unrun)?;
    match receiver.recv_timeout(limit) {
        // Half an answer is none.
        Ok(Ok(output)) if output.status.code().is_none() => {
            Err(format!("was killed ({})", output.status))
        }
        Ok(output) => output.map_err(unrun),
        Err(_) => {
            // It may have ended just now. Nothing waits for the thread: a process that git started may keep its pipes
            // open.
            os::process::kill(id);
            Err(format!("did not end within {} s", limit.as_secs()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_command_that_does_not_end_is_killed() {
        let start = Instant::now();
        let slow = output_within(Command::new("sleep").arg("60"), Duration::from_secs(1));
        assert_eq!(slow.err().as_deref(), Some("did not end within 1 s"));
        let killed = output_within(
            Command::new("sh").args(["-c", "echo half; kill -9 $$"]),
            LIMIT,
        );
        let why = killed.unwrap_err();
        assert!(why.starts_with("was killed"), "{why}");
        assert!(start.elapsed() < Duration::from_secs(30));
        let fast = output_within(Command::new("echo").arg("x"), LIMIT);
        assert_eq!(fast.map(|output| output.stdout), Ok(b"x\n".to_vec()));
    }

    /// A clone can contain the files of a repository in a folder, and git would treat it as one.
    #[test]
    fn the_configuration_of_a_repository_inside_the_project_is_not_used() {
        let project = tempfile::tempdir().unwrap();
        let init = Command::new("git")
            .args(["init", "-q"])
            .current_dir(project.path())
            .status();
        assert!(init.unwrap().success());
        let folder = project.path().join("folder");
        for inner in ["objects", "refs"] {
            fs::create_dir_all(folder.join(inner)).unwrap();
        }
        fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = \"touch ran; false\"\n";
        fs::write(folder.join("config"), config).unwrap();
        let by_itself = Command::new("git")
            .args(["ls-files", "--", "."])
            .current_dir(&folder)
            .output();
        assert!(by_itself.is_ok());
        assert!(folder.join("ran").exists(), "git runs what it names");
        fs::remove_file(folder.join("ran")).unwrap();

        assert!(!is_tracked(&folder, Path::new("refs")));
        let dirty = ask(&folder, ".taskie").unwrap_err();
        assert!(dirty.contains("safe.bareRepository"), "{dirty}");
        assert!(!folder.join("ran").exists());
    }
}
