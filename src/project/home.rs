//! Finds the home of a project: it is searched upward from a directory. And the folders that are the user's own.

use std::path::{Path, PathBuf};

use crate::chart::{IN_GIT, Scope};
use crate::process::program::repository_around;
use crate::store::git_dir::{self, WorkTree};

/// Returns the directories that are searched for a home, from `dir` upward to the git root. Outside git, those above `dir` are
/// searched only below the user's home directory, which is never searched itself.
fn searched(dir: &Path) -> Vec<&Path> {
    let homes = homes(dir);
    let mut above = above(dir, &homes);
    let count = match git_root(&above) {
        Some(at) => at + 1,
        None if homes.iter().any(|home| dir.starts_with(home)) => above.len(),
        None => 1,
    };
    above.truncate(count);
    above
}

/// Returns `dir` and the directories above it, without the user's home directory and those above that.
fn above<'d>(dir: &'d Path, homes: &[PathBuf]) -> Vec<&'d Path> {
    dir.ancestors().take_while(|dir| !homes.iter().any(|home| home.starts_with(dir))).collect()
}

/// Returns the user's home directory, as it is given and with links followed. For a directory in it, which has none, both are the
/// same.
fn homes(dir: &Path) -> Vec<PathBuf> {
    let given = absolute("HOME");
    let outside = given.as_ref().filter(|home| !dir.starts_with(home));
    let real = outside.and_then(|home| home.canonicalize().ok());
    given.into_iter().chain(real).collect()
}

/// Returns the host's project directory if `cwd` is in it: then it doesn't matter which directory the agent is in
/// now.
fn project_around(cwd: &Path) -> Option<PathBuf> {
    host_project().filter(|project| cwd.starts_with(project))
}

/// Returns the session's project, according to the host, with links followed, as they are in the working directory.
pub(crate) fn host_project() -> Option<PathBuf> {
    named_by("CLAUDE_PROJECT_DIR").map(|dir| dir.canonicalize().unwrap_or(dir))
}

/// Returns the directory that a variable names.
fn named_by(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// Does the same if its path is absolute: a relative one would mean a different directory in each place.
fn absolute(variable: &str) -> Option<PathBuf> {
    named_by(variable).filter(|path| path.is_absolute())
}

/// Returns the project's root: the nearest directory upward that contains `home`. The search starts at the host's
/// project directory if `cwd` is in it, otherwise at `cwd`; if that finds nothing, it starts at the host's project
/// directory.
pub(crate) fn project_root(cwd: &Path, home: &str) -> Option<PathBuf> {
    if Path::new(home).is_absolute() {
        let tree = git_dir::around(cwd).filter(|_| Path::new(home).is_dir());
        return tree.map(|tree| tree.top);
    }
    let start = project_around(cwd).unwrap_or_else(|| cwd.to_owned());
    let starts = [Some(start), host_project()];
    let mut dirs = starts.iter().flatten().flat_map(|start| searched(start));
    dirs.find(|dir| dir.join(home).is_dir()).map(Path::to_owned)
}

/// Finds the home of a chart that is in the git directory of the work tree around `cwd`.
pub(crate) fn settle(scope: &mut Scope, cwd: &Path) {
    if let Some((_, home)) = in_git(&scope.home, cwd) {
        scope.home = home;
    }
}

/// Returns the root of the work tree around `cwd`, and where a `home` in its git directory is: absolute if that directory is
/// outside the work tree. `None` if the home is not in a git directory, or if there is none of the user's own.
pub(crate) fn in_git(home: &str, cwd: &Path) -> Option<(PathBuf, String)> {
    let below = home.strip_prefix(IN_GIT)?;
    let WorkTree { top, git_dir } = git_dir::around(cwd)?;
    let dir = git_dir?;
    let dir = match dir.strip_prefix(&top) {
        Ok(inside) if inside == Path::new(".git") => inside.to_owned(),
        _ => dir.canonicalize().unwrap_or_else(|_| dir.clone()),
    };
    let home = dir.join(below).to_string_lossy().into_owned();
    Some((top, home))
}

/// Returns all directories that may be the root of the project in which a session has claimed an instance, whatever
/// directory the agent is in now.
pub(crate) fn roots(cwd: &Path) -> Vec<PathBuf> {
    let starts = [Some(cwd.to_owned()), host_project()];
    let dirs = starts.iter().flatten().flat_map(|start| searched(start));
    dirs.map(Path::to_owned).collect()
}

/// Returns the index of the first directory that is the root of a git repository.
fn git_root(dirs: &[&Path]) -> Option<usize> {
    dirs.iter().position(|dir| dir.join(".git").exists())
}

/// Returns where to create a new home: the git root above the project directory or `cwd`, or else that directory
/// itself. `None` if the home would not be found there later.
pub(crate) fn new_root(cwd: &Path) -> Option<PathBuf> {
    let start = project_around(cwd).unwrap_or_else(|| cwd.to_owned());
    let above = above(&start, &homes(&start));
    let at = git_root(&above).unwrap_or(0);
    above.get(at).map(|root| (*root).to_owned())
}

/// Returns a folder of the user's own: the one that the variable names, else `default` in the user's home directory.
pub(crate) fn user_folder(variable: &str, default: &str) -> Option<PathBuf> {
    let [named, at_home] = user_folders(variable, default);
    named.or(at_home)
}

/// Returns both of these folders, as far as they are known.
pub(crate) fn user_folders(variable: &str, default: &str) -> [Option<PathBuf>; 2] {
    [absolute(variable), absolute("HOME").map(|home| home.join(default))]
}

/// Returns whether a folder, which need not exist, is part of the project at `root` or of the repository around it, also through
/// a symbolic link.
pub(crate) fn is_inside(folder: &Path, root: &Path) -> bool {
    let real = folder.ancestors().find_map(|dir| dir.canonicalize().ok());
    let repository = repository_around(root);
    let paths = [Some(folder.to_owned()), real];
    let mut paths = paths.iter().flatten();
    paths.any(|path| path.starts_with(root) || path.starts_with(&repository))
}
