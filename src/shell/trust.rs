//! What a project may run on this machine, because the user has agreed.
//!
//! A repository may contain a chart of its own, whose `argv` names programs, and settings that give a reviewer more
//! rights. They have no effect until the user has seen them and agreed (`taskie trust`). A hash of them is kept in
//! the user's state directory, outside every project, so after a change taskie asks again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::find::{is_inside, user_folder};
use crate::chart::embedded::CHARTS;
use crate::disk;
use crate::hash::{self, Hash};

/// The name of a project's own chart, in the home.
pub(crate) const CHART: &str = "statechart.toml";

/// The most files that may belong to a chart.
const MAX_FILES: usize = 1000;

/// A file, or a setting, that needs trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its path from the project's root, or a setting's name.
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
}

/// A project's own chart.
#[derive(Debug)]
pub(crate) enum OwnChart {
    /// There is none.
    Absent,
    /// The user trusts it in its present form.
    Trusted(PathBuf),
    /// It is ignored.
    Ignored {
        /// The reason, in a line for the user.
        why: String,
        /// The user trusts something in this project, or did.
        has_trust: bool,
    },
}

/// Returns the project's own chart at `root`, for commands without `--chart`.
pub(crate) fn own_chart(root: &Path) -> OwnChart {
    let shown = Path::new(CHARTS[0].home()).join(CHART);
    let why = match chart_parts(root) {
        Ok(parts) if parts.is_empty() => return OwnChart::Absent,
        Ok(parts) if is_trusted(root, &parts) => return OwnChart::Trusted(root.join(shown)),
        Ok(_) => {
            "ignored until you run `taskie trust`: it is this project's own chart, and it is new or has changed"
                .to_owned()
        }
        Err(why) => format!("ignored: {why}"),
    };
    OwnChart::Ignored {
        why: format!("{} is {why}.", shown.display()),
        has_trust: ledger(root).is_some_and(|file| file.is_file()),
    }
}

/// Returns the project's own chart at `root`, with its templates and the files of the project that its `argv` names;
/// nothing if there is none. The error says why it cannot be used.
pub(crate) fn chart_parts(root: &Path) -> Result<Vec<Part>, String> {
    let home = Path::new(CHARTS[0].home());
    let chart = home.join(CHART);
    if root.join(&chart).symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    let mut parts = vec![read(root, &chart)?];
    let text = String::from_utf8_lossy(&parts[0].content).into_owned();
    // A chart with a flaw adds nothing more, because it does not run.
    let Ok(table) = text.parse::<toml::Table>() else {
        return Ok(parts);
    };
    let folders = match table.get("templates").and_then(toml::Value::as_array) {
        Some(folders) => folders.iter().filter_map(toml::Value::as_str).collect(),
        None => vec!["templates"],
    };
    for folder in folders {
        let walk = WalkDir::new(root.join(home).join(folder)).sort_by_file_name();
        for entry in walk.into_iter().flatten() {
            if entry.file_type().is_dir() {
                continue;
            }
            let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
            parts.push(read(root, path)?);
            if parts.len() > MAX_FILES {
                return Err(format!("it uses more than {MAX_FILES} files"));
            }
        }
    }
    let invocations = table.get("invoke").and_then(toml::Value::as_table);
    let invocations = invocations.into_iter().flat_map(toml::Table::values);
    for invocation in invocations.chain(table.get("invocation")) {
        let argv = invocation.get("argv").and_then(toml::Value::as_array);
        for file in argv.into_iter().flatten().filter_map(toml::Value::as_str) {
            // An argument is a file name, or has one as the value of an option.
            let file = file.split_once('=').map_or(file, |(_, value)| value);
            if root.join(file).is_file() && !Path::new(file).is_absolute() {
                parts.push(read(root, Path::new(file))?);
            }
        }
    }
    Ok(parts)
}

/// Reads a file of the project. Neither the file nor any folder on the way may be a symbolic link.
pub(crate) fn read(root: &Path, path: &Path) -> Result<Part, String> {
    let shown = path.display();
    let mut at = root.to_owned();
    for step in path.components() {
        at.push(step);
        if at.is_symlink() {
            return Err(format!("{shown} is a symbolic link, or is inside one"));
        }
    }
    let unreadable = |why: &dyn std::fmt::Display| format!("{shown} cannot be read: {why}");
    match disk::read(root, &at) {
        Ok(Some(content)) => Ok(Part {
            name: shown.to_string(),
            content,
        }),
        Ok(None) => Err(unreadable(&"it does not exist")),
        Err(error) => Err(unreadable(&error)),
    }
}

/// Returns whether the user has agreed to exactly these parts of the project at `root`.
pub(crate) fn is_trusted(root: &Path, parts: &[Part]) -> bool {
    let hash = hash_of(parts);
    ledger(root)
        .and_then(|file| fs::read_to_string(file).ok())
        .is_some_and(|text| text.lines().any(|line| line == hash))
}

/// Records that the user has agreed to each of `lists` of the project at `root`, and to nothing else in it. Returns
/// the file with that record.
pub(crate) fn keep(root: &Path, lists: &[Vec<Part>]) -> Result<PathBuf, String> {
    let file = ledger(root).ok_or(
        "there is no state directory outside the project: set XDG_STATE_HOME or HOME to an absolute path",
    )?;
    let mut text = format!("# what {} may run\n", root.display());
    for list in lists.iter().filter(|list| !list.is_empty()) {
        text.push_str(&hash_of(list));
        text.push('\n');
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    match fs::create_dir_all(folder).and_then(|()| disk::replace(&file, text.as_bytes())) {
        Ok(()) => Ok(file),
        Err(error) => Err(format!("{} cannot be written: {error}", file.display())),
    }
}

/// Removes the record of what the user has agreed to in the project at `root`; returns false if there was none.
pub(crate) fn forget(root: &Path) -> Result<bool, String> {
    let Some(file) = ledger(root) else {
        return Ok(false);
    };
    match fs::remove_file(&file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(format!("{} cannot be removed: {error}", file.display())),
    }
}

/// Returns the file that records what the user trusts in the project at `root`. It is in the user's state directory,
/// which no repository can fill. `None` if there is no such directory, or if it is inside the project.
fn ledger(root: &Path) -> Option<PathBuf> {
    let state = user_folder("XDG_STATE_HOME", ".local/state")?;
    let root = root.canonicalize().ok()?;
    if is_inside(&state, &root) {
        return None;
    }
    let name = hash::of(root.as_os_str().as_encoded_bytes());
    Some(state.join("taskie/trust").join(name))
}

/// Returns a hash of names and contents; no two lists of parts have the same hash.
fn hash_of(parts: &[Part]) -> String {
    let mut hash = Hash::default();
    for part in parts {
        hash.add(&part.name);
        hash.add(&part.content);
    }
    hash.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_all_processes_share_is_part_of_the_chart() {
        let project = tempfile::tempdir().unwrap();
        let home = project.path().join(CHARTS[0].home());
        fs::create_dir(&home).unwrap();
        let argv = |script: &str| format!("argv = [\"sh\", \"{script}\"]\n");
        let (own, shared) = (argv("own.sh"), argv("shared.sh"));
        let chart = format!("[invocation]\n{shared}[invoke.a]\n{own}");
        fs::write(home.join(CHART), chart).unwrap();
        for script in ["own.sh", "shared.sh"] {
            fs::write(project.path().join(script), "").unwrap();
        }
        let parts = chart_parts(project.path()).unwrap();
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        let chart = Path::new(CHARTS[0].home()).join(CHART);
        assert_eq!(names, [chart.to_str().unwrap(), "own.sh", "shared.sh"]);
    }
}
