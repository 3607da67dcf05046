//! Finds the git directory of a work tree without starting git.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::disk;
use crate::os::file::path;
use crate::os::regular::open_to_read;

/// What the file `.git` of a linked work tree or a submodule starts with; the path of its git directory follows.
const LINK: &[u8] = b"gitdir:";

/// The most bytes of such a file.
const LIMIT: u64 = 8 * 1024;

/// The work tree around a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkTree {
    pub(crate) top: PathBuf,
    /// Its own git directory, which it shares with no other work tree; `None` if there is none that is only the user's.
    pub(crate) git_dir: Option<PathBuf>,
}

/// Returns the work tree around `dir`; `None` outside git.
pub(crate) fn around(dir: &Path) -> Option<WorkTree> {
    let tree = named(dir)?;
    let is_safe = |dir: &PathBuf| disk::distrust(dir).is_none();
    Some(WorkTree { git_dir: tree.git_dir.filter(is_safe), ..tree })
}

/// Returns the git directory of the work tree around `dir`, and the one that all its work trees share.
pub(crate) fn of(dir: &Path) -> Option<(PathBuf, PathBuf)> {
    let own = around(dir)?.git_dir?;
    let shared = fs::read(own.join("commondir")).unwrap_or_default();
    let shared = own.join(path(shared.trim_ascii()));
    Some((own, shared))
}

/// Returns why there is no git directory of a work tree around `dir` that is only the user's; `None` if there is one.
pub(crate) fn absent(dir: &Path) -> Option<String> {
    match named(dir) {
        Some(WorkTree { git_dir: Some(dir), .. }) => {
            disk::distrust(&dir).map(|why| format!("{} is not used: {why}", dir.display()))
        }
        Some(WorkTree { top, .. }) => {
            Some(format!("{}/.git names no git directory", top.display()))
        }
        None => Some(format!(
            "{} is in no git repository: no folder above it has a `.git`",
            dir.display()
        )),
    }
}

/// Returns the git directory of the work tree around `dir`, if it is not used because it is not only the user's.
pub(crate) fn unused(dir: &Path) -> Option<PathBuf> {
    let git_dir = named(dir)?.git_dir?;
    disk::distrust(&git_dir).is_some().then_some(git_dir)
}

/// Returns the work tree around `dir`, also if others may write to its git directory.
fn named(dir: &Path) -> Option<WorkTree> {
    dir.ancestors().find_map(|top| {
        let entry = top.join(".git");
        let meta = entry.metadata().ok()?;
        let git_dir = match meta.is_dir() {
            true => Some(entry),
            // Any folder can be named; git's own has this file.
            false => linked(top, &entry).filter(|dir| dir.join("HEAD").is_file()),
        };
        Some(WorkTree { top: top.to_owned(), git_dir })
    })
}

/// Returns the git directory that a file names.
fn linked(top: &Path, file: &Path) -> Option<PathBuf> {
    let (file, _) = open_to_read(file).ok()?;
    let mut text = Vec::new();
    file.take(LIMIT).read_to_end(&mut text).ok()?;
    let line = text.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
    let named = line.strip_prefix(LINK)?.trim_ascii();
    (!named.is_empty()).then(|| top.join(path(named)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn git(dir: &Path, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=e"])
            .args(["-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(dir);
        let output = git.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Git itself says the same, in each kind of work tree.
    #[test]
    fn git_agrees() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let main = folder.join("main");
        fs::create_dir_all(main.join("a/b")).unwrap();
        git(&main, &["init", "-q"]);
        git(&main, &["commit", "-q", "--allow-empty", "-m", "one"]);
        git(&main, &["worktree", "add", "-q", "../tree"]);
        let elsewhere = ["init", "-q", "--separate-git-dir", "apart.git", "apart"];
        git(&folder, &elsewhere);
        git(&main, &["submodule", "--quiet", "add", "../main", "part"]);
        let dirs = ["main", "main/a/b", "main/part", "tree", "apart"];
        for dir in dirs.map(|dir| folder.join(dir)) {
            let found = around(&dir).unwrap();
            let named = |what| PathBuf::from(git(&dir, &["rev-parse", what]));
            assert_eq!(found.top, named("--show-toplevel"));
            let git_dir = found.git_dir.unwrap().canonicalize().unwrap();
            assert_eq!(git_dir, named("--absolute-git-dir"), "{}", dir.display());
        }
    }

    #[test]
    fn a_link_to_no_git_directory() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("other")).unwrap();
        for text in
            ["", "gitdir:", "gitdir: missing\n", "something else", "gitdir: .git", "gitdir: other"]
        {
            fs::write(folder.path().join(".git"), text).unwrap();
            let found = around(folder.path()).unwrap();
            assert_eq!(found.git_dir, None, "{text}");
        }
    }
}
