//! Finds the instance below a project's home: by name, by session, or the one that was modified last.
//! A directory's name is checked before it becomes part of a path or a prompt.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::chart::Scope;
use crate::disk;
use crate::files::pattern::name_flaw;
use crate::os::folder::{Entry, last_modified};
use crate::project::state_file::FILE;
use crate::text::shown;

/// An instance of a chart: one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// The directory's name.
    pub(crate) name: String,
    /// The directory, relative to the project's root.
    pub(crate) dir: PathBuf,
}

impl Instance {
    /// Returns the name of its lock, which it shares with others if each session has its own instance.
    pub(crate) fn lock_name(&self, scope: &Scope) -> Cow<'_, str> {
        match scope.is_per_session() {
            true => scope.folder().replace('/', "-").into(),
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
        Self { instance, warnings: warning.into_iter().collect() }
    }
}

/// Finds the instance in which a matching file was modified last; of several, the last by name.
pub(crate) fn newest(root: &Path, scope: &Scope) -> Newest {
    let noun = scope.noun();
    let folder = folder(scope);
    let whole = root.join(&folder);
    let entries = match disk::entries(&whole) {
        Ok(entries) => entries,
        Err(error) => {
            let warning = format!("{} cannot be read: {error}.", folder.display());
            return Newest::from(Err(warning));
        }
    };
    let mut skipped: Vec<String> = Vec::new();
    let mut last = None;
    for Entry { name, kind } in entries {
        let path = whole.join(&name);
        let is_link = kind.is_symlink() && path.is_dir();
        if name.as_encoded_bytes().starts_with(b".") || !is_link && !kind.is_dir() {
            continue;
        }
        let mut skip = |why: &str| {
            skipped.push(format!("{noun} `{}` {why}.", shown(&name.to_string_lossy())));
        };
        if is_link {
            skip("is a symbolic link, which is not followed");
            continue;
        }
        // Its state, or a Markdown file.
        match last_modified(&path, |name| name == FILE.as_bytes() || name.ends_with(b".md")) {
            Ok(touched) => last = last.max(touched.map(|touched| (touched, name))),
            Err(error) => skip(&format!("cannot be read: {error}")),
        }
    }
    // One is enough to know what to do.
    let mut warnings: Vec<String> = skipped.into_iter().min().into_iter().collect();
    let instance = last.and_then(|(_, name): (_, OsString)| {
        let name = name.to_string_lossy().into_owned();
        let Some(flaw) = name_flaw(&name) else {
            return Some(Instance { dir: folder.join(&name), name });
        };
        let name = shown(&name);
        warnings.push(format!("{noun} `{name}` is skipped: {flaw}. Rename the directory."));
        None
    });
    Newest { instance, warnings }
}

/// Finds the instance of that name, if it exists.
pub(crate) fn of_name(root: &Path, scope: &Scope, name: &str) -> Newest {
    let found = of_session(scope, Some(name));
    let Some(instance) = &found.instance else {
        return found;
    };
    match root.join(&instance.dir).symlink_metadata() {
        Ok(meta) if meta.is_dir() => found,
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let dir = instance.dir.display();
            Newest::from(Err(format!("{dir} cannot be read: {error}.")))
        }
        _ => Newest::default(),
    }
}

/// Finds the instance of a session, whether or not it exists; none if no session is known.
pub(crate) fn of_session(scope: &Scope, session: Option<&str>) -> Newest {
    let nameless = || "The event names no session (session_id): nothing is decided.".to_owned();
    let found = session.ok_or_else(nameless);
    Newest::from(found.and_then(|session| named(scope, session)))
}

/// Returns why an instance cannot be used: a link leads out of the project, or others can write to its directory or to the home.
pub(crate) fn flaw(root: &Path, home: &str, instance: &Instance) -> Option<String> {
    if leads_outside(root, &instance.dir) {
        let dir = instance.dir.display();
        return Some(format!(
            "{dir} leads out of the project through a symbolic link, which is not followed."
        ));
    }
    [Path::new(home), &instance.dir].into_iter().find_map(|dir| {
        let why = disk::distrust(&root.join(dir))?;
        Some(format!("{} is not used: {why}.", dir.display()))
    })
}

/// Returns the instance called `name`; the error says why that cannot be a name.
pub(crate) fn named(scope: &Scope, name: &str) -> Result<Instance, String> {
    if let Some(flaw) = name_flaw(name) {
        return Err(format!("`{}` cannot be the name of a {}: {flaw}", shown(name), scope.noun()));
    }
    Ok(Instance { dir: folder(scope).join(name), name: name.to_owned() })
}

/// Returns the folder of all instances, relative to the project's root.
pub(crate) fn folder(scope: &Scope) -> PathBuf {
    Path::new(&scope.home).join(scope.folder())
}

/// Returns the names of all instances, sorted. A symbolic link is not an instance.
pub(crate) fn names(root: &Path, scope: &Scope) -> io::Result<Vec<String>> {
    let entries = disk::entries(&root.join(folder(scope)))?.into_iter();
    let dirs = entries.filter(|entry| entry.kind.is_dir());
    let names = dirs.filter_map(|entry| entry.name.into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name_flaw(name).is_none()).collect();
    names.sort();
    Ok(names)
}

/// Returns whether a symbolic link on the way from `root` to `dir`, which is inside it, leads out of the project.
pub(crate) fn leads_outside(root: &Path, dir: &Path) -> bool {
    if dir.is_absolute() {
        // In a git directory outside the work tree, which is the user's own.
        return dir.is_symlink();
    }
    let is_inside = |dir: &Path| matches!((dir.canonicalize(), root.canonicalize()), (Ok(dir), Ok(root)) if dir.starts_with(&root));
    let mut dirs = dir.ancestors().map(|dir| root.join(dir)).take_while(|dir| dir != root);
    dirs.any(|dir| dir.is_symlink() && !is_inside(&dir))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn the_newest_of_many() {
        let root = tempfile::tempdir().unwrap();
        let scope = Scope {
            home: ".home".to_owned(),
            instances: "plans/*".to_owned(),
            is_of_changes: false,
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
            let time = UNIX_EPOCH + std::time::Duration::from_secs(seconds);
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
