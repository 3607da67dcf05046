//! Finds the file for a program's name, and explains why it could not be started.
//!
//! A name without a slash is looked up on PATH here, not by the system: relative elements of PATH and those inside
//! the project, or the repository around it, are skipped, so that nothing in a project runs because of its name.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::spec::Spec;
use crate::os::file::is_executable;

/// Returns the file for `program` in the project at `cwd`; the error is a sentence for the user.
pub(crate) fn locate(program: &str, cwd: &Path) -> Result<PathBuf, String> {
    locate_on(&std::env::var_os("PATH").unwrap_or_default(), program, cwd)
}

pub(super) fn locate_on(path: &OsStr, program: &str, cwd: &Path) -> Result<PathBuf, String> {
    if program.contains('/') {
        return Ok(PathBuf::from(program));
    }
    let project = repository_around(cwd);
    let is_inside = |folder: &Path| {
        folder.starts_with(cwd)
            || folder.canonicalize().is_ok_and(|folder| folder.starts_with(&project))
    };
    let mut passed_over = None;
    for folder in std::env::split_paths(path) {
        let file = folder.join(program);
        let meta = cwd.join(&file).metadata();
        if !meta.is_ok_and(|meta| meta.is_file() && is_executable(&meta)) {
            continue;
        }
        if folder.is_relative() || is_inside(&folder) {
            passed_over.get_or_insert(file);
        } else {
            return Ok(file);
        }
    }
    Err(match passed_over {
        Some(file) => format!(
            "`{program}` is not on PATH; {} was not used, because it is part of the project or relative to it",
            file.display()
        ),
        None => format!("`{program}` is not on PATH"),
    })
}

/// Returns the outermost repository around a project, or the project itself. One that contains the user's own folder is
/// not the project's.
pub(crate) fn repository_around(project: &Path) -> PathBuf {
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    let home = std::env::var_os("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
    let is_of_project = |dir: &&Path| !home.as_ref().is_some_and(|home| home.starts_with(dir));
    let around = project.ancestors().take_while(is_of_project);
    let repository = around.filter(|dir| dir.join(".git").exists()).last();
    repository.unwrap_or(&project).to_owned()
}

/// Returns a sentence that helps the user when starting `file` failed.
pub(super) fn why_not_started(
    spec: &Spec,
    program: &str,
    file: &Path,
    error: &io::Error,
) -> String {
    match error.kind() {
        ErrorKind::NotFound if spec.dir().join(file).is_file() => {
            format!("`{program}` exists, but the interpreter or loader that it asks for does not")
        }
        ErrorKind::NotFound => format!("`{program}` does not exist"),
        _ => format!("`{program}` cannot be started: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_that_may_not_be_run_hides_no_later_one() {
        let temp = tempfile::tempdir().unwrap();
        let folder = |name: &str, mode| {
            let folder = temp.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("tool"), "").unwrap();
            fs::set_permissions(folder.join("tool"), Permissions::from_mode(mode)).unwrap();
            folder
        };
        let (text, tool) = (folder("text", 0o644), folder("tools", 0o755));
        let found = |folders: &[&PathBuf]| {
            let path = std::env::join_paths(folders).unwrap();
            locate_on(&path, "tool", Path::new("/project"))
        };
        assert_eq!(found(&[&text, &tool]), Ok(tool.join("tool")));
        assert_eq!(found(&[&text]), Err("`tool` is not on PATH".to_owned()));
    }
}
