//! What a project may run on this machine, because the user has agreed.
//!
//! A repository may contain a chart of its own, whose `argv` names programs, and settings that give a reviewer more
//! rights. They have no effect until the user has seen them and agreed (`taskie config trust`). A hash of them is kept in
//! the user's state directory, outside every project, so after a change taskie asks again.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use crate::chart::choice::CHARTS;
use crate::chart::merge;
use crate::disk;
use crate::hash::{self, Hash};
use crate::os::file::create_private_folder;
use crate::os::regular::create_private;
use crate::project::home::{is_inside, user_folder};

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
    /// It is ignored, for this reason: the chart that is compiled in decides.
    Ignored(String),
    /// The user trusts it in another form, for this reason. No other chart decides in its place: a chart of one's own may
    /// be stricter.
    Changed(String),
}

/// What the user agrees to at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustedPart {
    /// The project's own chart.
    Chart,
    /// Its settings.
    Settings,
}

impl TrustedPart {
    /// How a line of the record begins.
    fn mark(self) -> &'static str {
        match self {
            Self::Chart => "chart ",
            Self::Settings => "settings ",
        }
    }
}

/// Returns the project's own chart at `root`, for commands without `--chart`.
pub(crate) fn own_chart(root: &Path) -> OwnChart {
    let path = Path::new(CHARTS[0].home()).join(CHART);
    let parts = chart_parts(root);
    let mark = TrustedPart::Chart.mark();
    let was_trusted = record(root).lines().any(|line| line.starts_with(mark));
    let trust = "run `taskie config trust`";
    let (why, remedy) = match parts {
        Ok(parts) if parts.is_empty() && !was_trusted => return OwnChart::Absent,
        Ok(parts) if parts.is_empty() => (
            "is gone, and you trusted it".to_owned(),
            "restore it, or run `taskie config trust --revoke`",
        ),
        Ok(parts) if is_trusted(root, TrustedPart::Chart, &parts) => {
            return OwnChart::Trusted(root.join(path));
        }
        Ok(_) if was_trusted => ("has changed since you trusted it".to_owned(), trust),
        Ok(_) => ("is not a chart that you have trusted".to_owned(), trust),
        Err(why) => (format!("cannot be used: {why}"), trust),
    };
    let shown = path.display();
    match was_trusted {
        true => OwnChart::Changed(format!(
            "{shown} {why}. No other chart decides in its place: {remedy}."
        )),
        false => OwnChart::Ignored(format!("{shown} is ignored: it {why}; {remedy}.")),
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
    let mut parts: Vec<Part> = Vec::new();
    let mut open = vec![chart];
    while let Some(chart) = open.pop() {
        let part = read(root, &chart)?;
        if parts.contains(&part) {
            continue;
        }
        let text = String::from_utf8_lossy(&part.content).into_owned();
        parts.push(part);
        let beside = chart.parent().unwrap_or(Path::new(""));
        add_named(root, beside, &text, &mut parts)?;
        for (base, _) in merge::extended(&text).into_iter().filter(|(it, _)| merge::is_file(it)) {
            let path = beside.join(&base);
            let outside = || format!("it extends {}, which is outside the project", path.display());
            open.push(inside(&path).ok_or_else(outside)?);
        }
    }
    Ok(parts)
}

/// Returns a path below the project's root without `..`; `None` if it leads out of the project.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    for step in path.components() {
        match step {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::ParentDir if inside.pop() => {}
            _ => return None,
        }
    }
    Some(inside)
}

/// Adds the templates of a chart in the folder `beside`, and the files of the project that its `argv` names.
fn add_named(root: &Path, beside: &Path, text: &str, parts: &mut Vec<Part>) -> Result<(), String> {
    // A chart with a flaw adds nothing more, because it does not run.
    let Ok(chart) = text.parse::<toml::Table>() else {
        return Ok(());
    };
    let texts = |value: Option<&toml::Value>| {
        let items = value.and_then(toml::Value::as_array)?.iter();
        Some(items.filter_map(|it| it.as_str().map(str::to_owned)).collect::<Vec<_>>())
    };
    let folders = texts(chart.get("templates")).unwrap_or_else(|| vec!["templates".to_owned()]);
    for folder in folders {
        let walk = WalkDir::new(root.join(beside).join(folder)).sort_by_file_name();
        for entry in walk.into_iter().flatten().filter(|entry| !entry.file_type().is_dir()) {
            let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
            parts.push(read(root, path)?);
            if parts.len() > MAX_FILES {
                return Err(format!("it uses more than {MAX_FILES} files"));
            }
        }
    }
    let reviewers = chart.get("reviewers").and_then(toml::Value::as_table);
    let reviewers = reviewers.into_iter().flat_map(toml::Table::values);
    for reviewer in reviewers.chain(chart.get("reviewer")) {
        for word in texts(reviewer.get("argv")).into_iter().flatten() {
            // An argument is a file name, or has one as the value of an option.
            let file = Path::new(word.split_once('=').map_or(&*word, |(_, value)| value));
            if root.join(file).is_file() && !file.is_absolute() {
                parts.push(read(root, file)?);
            }
        }
    }
    Ok(())
}

/// Reads a file of the project. Neither the file nor any folder on the way may be a symbolic link.
pub(crate) fn read(root: &Path, path: &Path) -> Result<Part, String> {
    let shown = path.display();
    if !path.components().all(|step| matches!(step, Component::Normal(_) | Component::CurDir)) {
        return Err(format!("`{shown}` must be the path of a file inside the project"));
    }
    let mut at = root.to_owned();
    for step in path.components() {
        at.push(step);
        if at.is_symlink() {
            return Err(format!("{shown} is a symbolic link, or is inside one"));
        }
    }
    let unreadable = |why: &dyn std::fmt::Display| format!("{shown} cannot be read: {why}");
    match disk::read(root, &at) {
        Ok(Some(content)) => Ok(Part { name: shown.to_string(), content }),
        Ok(None) => Err(unreadable(&"it does not exist")),
        Err(error) => Err(unreadable(&error)),
    }
}

/// Returns whether the user has agreed to exactly these parts of the project at `root`.
pub(crate) fn is_trusted(root: &Path, subject: TrustedPart, parts: &[Part]) -> bool {
    !parts.is_empty() && record(root).lines().any(|other| other == line(subject, parts))
}

/// Returns the record of what the user has agreed to in the project at `root`; empty if there is none that counts.
fn record(root: &Path) -> String {
    let text = ledger(root).and_then(|file| {
        // Every stop looks here, and finds most projects without a record: whether it can count comes second.
        let text = fs::read_to_string(&file).ok()?;
        flaw_of(&file, root).is_none().then_some(text)
    });
    text.unwrap_or_default()
}

/// Returns the line of the record about these parts: it has a hash of names and contents, and no two lists of parts have the
/// same one.
fn line(subject: TrustedPart, parts: &[Part]) -> String {
    let mut hash = Hash::default();
    for part in parts {
        hash.add(&part.name);
        hash.add(&part.content);
    }
    subject.mark().to_owned() + &hash.text()
}

/// Records that the user has agreed to each of `lists` of the project at `root`, and to nothing else in it. Returns
/// the file with that record.
pub(crate) fn keep(root: &Path, lists: &[(TrustedPart, Vec<Part>)]) -> Result<PathBuf, String> {
    let no_file = "there is no state directory: set XDG_STATE_HOME or HOME to an absolute path";
    let file = ledger(root).ok_or(no_file)?;
    let mut text = format!("# what {} may run\n", root.display());
    for (subject, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
        text.push_str(&line(*subject, list));
        text.push('\n');
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    let cannot = |error: io::Error| format!("{} cannot be written: {error}", file.display());
    if let Some(why) = flaw_of(&file, root) {
        return Err(why);
    }
    create_private_folder(folder).map_err(cannot)?;
    // What replaces it keeps its permissions.
    let made = create_private(&file).and_then(|_| disk::replace(&file, text.as_bytes()));
    made.map_err(cannot)?;
    Ok(file)
}

/// Returns why the record of what the user has agreed to in the project at `root` does not count, if there is one: somebody
/// else may have written it.
pub(crate) fn flaw(root: &Path) -> Option<String> {
    flaw_of(&ledger(root)?, root)
}

/// Returns what is wrong with the file, or with the two folders of this program around it.
fn flaw_of(file: &Path, root: &Path) -> Option<String> {
    let why = |path: &Path| match is_inside(path, root) {
        // The repository could fill it.
        true => Some("it is inside the project; set XDG_STATE_HOME".to_owned()),
        false => disk::distrust_own(path),
    };
    let mut paths = file.ancestors().take(3);
    paths.find_map(|path| Some(format!("{}: {}", path.display(), why(path)?)))
}

/// Removes the record of what the user has agreed to in the project at `root`; returns false if there was none.
pub(crate) fn forget(root: &Path) -> Result<bool, String> {
    let Some(file) = ledger(root) else { return Ok(false) };
    match fs::remove_file(&file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(format!("{} cannot be removed: {error}", file.display())),
    }
}

/// Returns the file, in the user's state directory, that records what the user trusts in the project at `root`.
fn ledger(root: &Path) -> Option<PathBuf> {
    let state = user_folder("XDG_STATE_HOME", ".local/state")?;
    let name = hash::of(root.as_os_str().as_encoded_bytes());
    Some(state.join("taskie/trust").join(name))
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
        let chart = format!("[reviewer]\n{shared}[reviewers.a]\n{own}");
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
