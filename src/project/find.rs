//! Finds the project and the instance: the home is searched upward, and below it the instance that was modified last.
//! A directory's name is checked before it becomes part of a path or a prompt.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::thread;

use crate::chart::{IN_GIT, InstanceChoice, Scope};
use crate::files::Warnings;
use crate::files::pattern::{Pattern, name_flaw};
use crate::os::file::{HOME, is_ours, slashed};
use crate::os::folder::{Entry, Folder, Modified};
use crate::store::git_dir::{self, WorkTree};
use crate::text::shown;

/// The most threads that look at directories.
const THREADS: usize = 4;

/// A thread is worth its start if it looks at this many directories.
const SHARE: usize = 32;

/// An instance of a chart: one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// The directory's name.
    pub(crate) name: String,
    /// The directory, relative to the project's root.
    pub(crate) dir: PathBuf,
}

impl Instance {
    /// Returns the name of its lock and journal, which it shares with others if each session has its own instance.
    pub(crate) fn shared_name(&self, scope: &Scope) -> Cow<'_, str> {
        match scope.is_per_session() {
            true => scope.folder.replace('/', "-").into(),
            false => self.name.as_str().into(),
        }
    }
}

/// The result of a search for the newest instance.
#[derive(Debug, Default)]
pub(crate) struct Newest {
    /// The instance that was modified last, if there is one that can be used.
    pub(crate) instance: Option<Instance>,
    /// Why a directory was skipped, or why the newest one cannot be used.
    pub(crate) warnings: Vec<String>,
}

impl From<Result<Instance, String>> for Newest {
    fn from(found: Result<Instance, String>) -> Self {
        let (instance, warning) = match found {
            Ok(instance) => (Some(instance), None),
            Err(warning) => (None, Some(warning)),
        };
        Self {
            instance,
            warnings: warning.into_iter().collect(),
        }
    }
}

/// The directories that the environment of a run names.
struct Surroundings {
    /// The user's home directory: neither it nor any directory above it is searched.
    user_home: Option<PathBuf>,
    /// The session's project, according to the host.
    project_dir: Option<PathBuf>,
}

impl Surroundings {
    fn from_env() -> Self {
        Self {
            user_home: named_by(HOME),
            project_dir: host_project(),
        }
    }

    /// Returns the directories that are searched for a home, from `dir` upward to the git root; outside git, as far as
    /// they belong to the user and are below the user's home directory. The latter and those above it are not searched.
    fn searched<'d>(&self, dir: &'d Path) -> Vec<&'d Path> {
        let above = self.above(dir);
        let count = match git_root(&above) {
            Some(at) => at + 1,
            None => above.iter().take(1).count().max(self.own(&above)),
        };
        above.into_iter().take(count).collect()
    }

    /// Returns how many of these directories, from the first one upward, belong to the user and are below the user's home
    /// directory.
    fn own(&self, above: &[&Path]) -> usize {
        let homes = self.homes();
        let is_own = |dir: &&&Path| {
            homes.iter().any(|home| dir.starts_with(home))
                && dir.metadata().is_ok_and(|meta| is_ours(&meta))
        };
        above.iter().take_while(is_own).count()
    }

    /// Returns `dir` and the directories above it, without the user's home directory and those above that.
    fn above<'d>(&self, dir: &'d Path) -> Vec<&'d Path> {
        let homes = self.homes();
        dir.ancestors()
            .take_while(|dir| !homes.iter().any(|home| home.starts_with(dir)))
            .collect()
    }

    /// Returns the user's home directory, as it is given and with links followed.
    fn homes(&self) -> Vec<PathBuf> {
        // A relative path would mean a different directory in each place.
        let given = self.user_home.as_ref().filter(|home| home.is_absolute());
        let is_other = |home: &&PathBuf| {
            home.components().any(|part| part == Component::ParentDir)
                || home
                    .ancestors()
                    .any(|dir| dir.parent().is_some() && dir.is_symlink())
        };
        let other = given.filter(is_other);
        let real = other.and_then(|home| home.canonicalize().ok());
        given.cloned().into_iter().chain(real).collect()
    }

    /// Returns the host's project directory if `cwd` is in it: then it doesn't matter which directory the agent is in
    /// now.
    fn project_around(&self, cwd: &Path) -> Option<&Path> {
        let project = self.project_dir.as_deref()?;
        let is_inside = cwd.starts_with(project)
            || matches!((cwd.canonicalize(), project.canonicalize()), (Ok(cwd), Ok(project)) if cwd.starts_with(&project));
        is_inside.then_some(project)
    }
}

/// Returns the session's project, according to the host.
pub(crate) fn host_project() -> Option<PathBuf> {
    named_by("CLAUDE_PROJECT_DIR")
}

/// Returns the directory that a variable names.
fn named_by(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// Returns the project's root: the nearest directory upward that contains `home`. The search starts at the host's
/// project directory if `cwd` is in it, otherwise at `cwd`; if that finds nothing, it starts at the host's project
/// directory.
pub(crate) fn project_root(cwd: &Path, home: &str) -> Option<PathBuf> {
    if Path::new(home).is_absolute() {
        let tree = git_dir::around(cwd).filter(|_| Path::new(home).is_dir());
        return tree.map(|tree| tree.top);
    }
    let around = Surroundings::from_env();
    let start = around.project_around(cwd).unwrap_or(cwd);
    let starts = [Some(start), around.project_dir.as_deref()];
    starts
        .into_iter()
        .flatten()
        .flat_map(|start| around.searched(start))
        .find(|dir| dir.join(home).is_dir())
        .map(Path::to_owned)
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
    let home = slashed(dir.join(below)).to_string_lossy().into_owned();
    Some((top, home))
}

/// Returns all directories that may be the root of the project in which a session has claimed an instance, whatever
/// directory the agent is in now.
pub(crate) fn roots(cwd: &Path) -> Vec<PathBuf> {
    let around = Surroundings::from_env();
    let starts = [Some(cwd), around.project_dir.as_deref()];
    starts
        .into_iter()
        .flatten()
        .flat_map(|start| around.searched(start))
        .map(Path::to_owned)
        .collect()
}

/// Returns the index of the first directory that is the root of a git repository.
fn git_root(dirs: &[&Path]) -> Option<usize> {
    dirs.iter().position(|dir| dir.join(".git").exists())
}

/// Returns where to create a new home: the git root above the project directory or `cwd`, or else that directory
/// itself. `None` if the home would not be found there later.
pub(crate) fn new_root(cwd: &Path) -> Option<PathBuf> {
    let around = Surroundings::from_env();
    let start = around.project_around(cwd).unwrap_or(cwd);
    let above = around.above(start);
    let at = git_root(&above).unwrap_or(0);
    above.get(at).map(|root| (*root).to_owned())
}

/// Returns the nearest directory above `root` that contains `home` and belongs to the user, also outside the repository
/// of `root`.
pub(crate) fn home_above(root: &Path, home: &str) -> Option<PathBuf> {
    let around = Surroundings::from_env();
    let above = around.above(root);
    let own = around.own(&above);
    let mut above = above.into_iter().take(own).skip(1);
    above
        .find(|dir| dir.join(home).is_dir())
        .map(Path::to_owned)
}

/// Returns a folder of the user's own: the one that the variable names, else `default` in the user's home directory.
pub(crate) fn user_folder(variable: &str, default: &str) -> Option<PathBuf> {
    let [named, at_home] = user_folders(variable, default);
    named.or(at_home)
}

/// Returns both of these folders, as far as they are known.
pub(crate) fn user_folders(variable: &str, default: &str) -> [Option<PathBuf>; 2] {
    let absolute = |name: &str| named_by(name).filter(|path| path.is_absolute());
    [
        absolute(variable),
        absolute(HOME).map(|home| home.join(default)),
    ]
}

/// Returns whether a folder, which need not exist, is inside the directory `root`, also through a symbolic link.
pub(crate) fn is_inside(folder: &Path, root: &Path) -> bool {
    let real = folder.ancestors().find_map(|dir| dir.canonicalize().ok());
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let paths = [Some(folder.to_owned()), real];
    let mut paths = paths.iter().flatten();
    paths.any(|path| path.starts_with(root) || path.starts_with(&real_root))
}

/// Finds the instance in which a matching file was modified last; of several, the last by name.
pub(crate) fn newest(root: &Path, scope: &Scope) -> Newest {
    let Scope { noun, .. } = scope;
    let folder = folder(scope);
    if leads_outside(root, &folder) {
        return Newest::from(Err(not_followed(&folder)));
    }
    let (mut outside, mut unreadable) = (Warnings::default(), Warnings::default());
    let mut dirs: Vec<OsString> = Vec::new();
    let mut found: Vec<(Modified, &OsString)> = Vec::new();
    let listed = Folder::open(&root.join(&folder)).and_then(|mut opened| {
        let entries = opened.entries()?;
        Ok((opened, entries))
    });
    let (opened, entries) = match listed {
        Ok(listed) => listed,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Newest::default(),
        Err(error) => {
            let warning = format!("{} cannot be read: {error}.", folder.display());
            return Newest::from(Err(warning));
        }
    };
    for Entry { name, kind } in entries {
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_symlink() {
            let path = root.join(&folder).join(&name);
            if !path.is_dir() {
                continue;
            }
            if !stays_inside(&path, root) {
                outside.push(|| {
                    let name = name.to_string_lossy();
                    let name = shown(&name);
                    format!("{noun} `{name}` is a symbolic link out of the project, which is not followed.")
                });
                continue;
            }
        } else if !kind.is_dir() {
            continue;
        }
        dirs.push(name);
    }
    // If there is only one, it does not matter when it was last modified.
    let is_alone = dirs.len() == 1;
    let touched = |names: &[OsString]| -> Vec<io::Result<Option<Modified>>> {
        let names = names.iter();
        names
            .map(|name| touched(&opened, name, &scope.choice, is_alone))
            .collect()
    };
    for (name, touched) in dirs.iter().zip(in_parallel(&dirs, touched)) {
        match touched {
            Ok(touched) => found.extend(touched.map(|touched| (touched, name))),
            Err(error) => unreadable.push(|| {
                let name = name.to_string_lossy();
                format!("{noun} `{}` cannot be read: {error}.", shown(&name))
            }),
        }
    }
    let mut warnings = outside.into_texts(|more| {
        format!("And {more} more symbolic links out of the project are not followed.")
    });
    warnings.extend(unreadable.into_texts(|more| format!("And {more} more cannot be read.")));
    let best = found.into_iter().max();
    let instance = best.and_then(|(_, name)| {
        usable(name, noun)
            .map_err(|warning| warnings.push(warning))
            .ok()
            .map(|name| Instance {
                dir: slashed(folder.join(&name)),
                name,
            })
    });
    Newest { instance, warnings }
}

/// Finds the instance of that name, if it exists.
pub(crate) fn of_name(root: &Path, scope: &Scope, name: &str) -> Newest {
    let found = of_session(root, scope, Some(name));
    let Some(instance) = &found.instance else {
        return found;
    };
    match root.join(&instance.dir).metadata() {
        Ok(meta) if meta.is_dir() => found,
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let dir = instance.dir.display();
            Newest::from(Err(format!("{dir} cannot be read: {error}.")))
        }
        _ => Newest::default(),
    }
}

/// Finds the instance of a session, whether or not it exists; none if no session is known.
pub(crate) fn of_session(root: &Path, scope: &Scope, session: Option<&str>) -> Newest {
    let nameless = || "The event names no session (session_id): nothing is decided.".to_owned();
    let found = session.ok_or_else(nameless);
    let found = found.and_then(|session| named(scope, session));
    let found = found.and_then(|instance| match leads_outside(root, &instance.dir) {
        true => Err(not_followed(&instance.dir)),
        false => Ok(instance),
    });
    Newest::from(found)
}

fn not_followed(dir: &Path) -> String {
    let dir = dir.display();
    format!("{dir} leads out of the project through a symbolic link, which is not followed.")
}

/// Returns the instance called `name`; the error says why that cannot be a name.
pub(crate) fn named(scope: &Scope, name: &str) -> Result<Instance, String> {
    if let Some(flaw) = name_flaw(name) {
        return Err(format!(
            "`{}` cannot be the name of a {}: {flaw}",
            shown(name),
            scope.noun
        ));
    }
    Ok(Instance {
        dir: slashed(folder(scope).join(name)),
        name: name.to_owned(),
    })
}

/// Returns the folder of all instances, relative to the project's root.
pub(crate) fn folder(scope: &Scope) -> PathBuf {
    Path::new(&scope.home).join(&scope.folder)
}

/// Returns the names of all instances, sorted. A symbolic link is not an instance.
pub(crate) fn names(root: &Path, scope: &Scope) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(root.join(folder(scope))) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name_flaw(name).is_none())
        .collect();
    names.sort();
    Ok(names)
}

/// Returns whether `path`, with links followed, is inside `root`.
fn stays_inside(path: &Path, root: &Path) -> bool {
    matches!((path.canonicalize(), root.canonicalize()), (Ok(path), Ok(root)) if path.starts_with(&root))
}

/// Returns whether a symbolic link on the way from `root` to `dir`, which is inside it, leads out of the project.
pub(crate) fn leads_outside(root: &Path, dir: &Path) -> bool {
    if dir.is_absolute() {
        // In a git directory outside the work tree, which is the user's own.
        return dir.is_symlink();
    }
    dir.ancestors()
        .map(|dir| root.join(dir))
        .take_while(|dir| dir != root)
        .any(|dir| dir.is_symlink() && !stays_inside(&dir, root))
}

fn usable(name: &OsStr, noun: &str) -> Result<String, String> {
    let text = name.to_string_lossy();
    match name_flaw(&text) {
        None if name.to_str().is_some() => Ok(text.into_owned()),
        None => Err(format!(
            "{noun} `{text}`: its name is not UTF-8. Rename the directory."
        )),
        Some(flaw) => Err(format!(
            "{noun} `{}` is skipped: {flaw}. Rename the directory.",
            shown(&text)
        )),
    }
}

/// Returns what `work` returns for all names. Many are shared between threads, which wait for the disk side by side.
fn in_parallel<T: Send>(names: &[OsString], work: impl Fn(&[OsString]) -> Vec<T> + Sync) -> Vec<T> {
    let share = names.len().div_ceil(THREADS);
    if share < SHARE {
        return work(names);
    }
    let work = &work;
    thread::scope(|scope| {
        let start = |names| {
            let worker = thread::Builder::new().spawn_scoped(scope, move || work(names));
            (names, worker.ok())
        };
        let workers: Vec<_> = names.chunks(share).map(start).collect();
        let results = workers.into_iter().flat_map(|(names, worker)| {
            let result = worker.and_then(|worker| worker.join().ok());
            result.unwrap_or_else(|| work(names))
        });
        results.collect()
    })
}

/// Returns when a matching file in the directory `name` was last modified, or with `any`, some time; `None` if
/// none matches.
fn touched(
    instances: &Folder,
    name: &OsStr,
    choice: &InstanceChoice,
    any: bool,
) -> io::Result<Option<Modified>> {
    let touch: &[Pattern] = match choice {
        InstanceChoice::Newest { touch } => touch,
        InstanceChoice::Session => &[],
    };
    // The state is there as a rule, and is found without a look into the directory.
    let is_there = |pattern: &Pattern| {
        let file = pattern.literal();
        file.is_some_and(|file| instances.modified(&Path::new(name).join(file)).is_ok())
    };
    if any && touch.iter().any(is_there) {
        return Ok(Some(Modified::default()));
    }
    let mut folder = instances.folder(name)?;
    let mut last = None;
    for Entry { name, .. } in folder.entries()? {
        let text = name.to_string_lossy();
        if touch.iter().any(|pattern| pattern.matches(&text).is_some()) {
            match folder.modified(Path::new(&name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                modified => last = last.max(Some(modified?)),
            }
            if any && last.is_some() {
                break;
            }
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_many() {
        let root = tempfile::tempdir().unwrap();
        let touch = ["*.md", "state.json"].map(|pattern| Pattern::parse(pattern).unwrap());
        let scope = Scope {
            settings: None,
            since: None,
            home: ".home".to_owned(),
            noun: "plan".to_owned(),
            folder: "plans".to_owned(),
            choice: InstanceChoice::Newest {
                touch: touch.to_vec(),
            },
        };
        let newest_of = || {
            let found = newest(root.path(), &scope);
            assert_eq!(found.warnings, [""; 0]);
            found.instance.map(|instance| instance.name)
        };
        let write = |plan: u64, file: &str, seconds: u64| {
            let dir = root.path().join(folder(&scope)).join(format!("p{plan:03}"));
            fs::create_dir_all(&dir).unwrap();
            let file = fs::File::create(dir.join(file)).unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            file.set_modified(time).unwrap();
        };
        assert_eq!(newest_of(), None);
        write(7, "other.txt", 9_999);
        assert_eq!(newest_of(), None);
        write(7, "state.json", 1);
        assert_eq!(newest_of().as_deref(), Some("p007"));
        for plan in 0..300 {
            write(plan, "plan.md", 1_000 + plan * 7 % 300);
            write(plan, "state.json", 5);
            write(plan, "other.txt", 9_999 + plan);
        }
        // 257 * 7 = 6 * 300 - 1
        assert_eq!(newest_of().as_deref(), Some("p257"));
        write(30, "task-1.md", 1_299);
        assert_eq!(newest_of().as_deref(), Some("p257"));
        write(30, "task-1.md", 1_300);
        assert_eq!(newest_of().as_deref(), Some("p030"));
    }
}
