//! Asks git about the project: for a rule, at most once per event and only if one looks at it, and around a review, what has
//! changed while it ran.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;
use std::{fs, io};

use walkdir::WalkDir;

use crate::hash::Hash;
use crate::os;
use crate::os::file::Version;
use crate::process::program;
use crate::project::home::user_folder;
use crate::store::{self, git_dir};
use crate::text::shown;

/// How long git may take. A host gives a hook as little as a minute, and nobody would learn why a stop was cut off.
const LIMIT: Duration = Duration::from_secs(30);

/// A file that is larger is not read: one that git does not track, and one that it does. What the file system says of it shows
/// which version is there.
pub(super) const LARGE: u64 = 1024 * 1024;
pub(super) const LARGE_TRACKED: u64 = 16 * LARGE;

/// How long git may take in a process in which it has once not ended in time: what it waits for is still there.
const AGAIN: Duration = Duration::from_secs(1);

/// Git has not ended in time in this process.
static HANGS: AtomicBool = AtomicBool::new(false);

/// The mode of a submodule in an index.
pub(super) const GITLINK: &[u8] = b"160000";

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

/// The settings that name such a file, and what it is called in the user's folder if they are not set.
const NAMING: [(&str, &str); 2] =
    [("core.excludesfile", "git/ignore"), ("core.attributesfile", "git/attributes")];

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
    git.args(["status", "--porcelain", "--", ":/"]).args(without(home));
    let output = output_within(&mut git, LIMIT).map_err(|why| format!("`git status` {why}"))?;
    if output.status.success() {
        return Ok(!output.stdout.is_empty());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().find(|line| !line.trim().is_empty());
    Err(format!(
        "`git status` failed: {}",
        last.map_or_else(|| output.status.to_string(), |line| shown(line).into_owned())
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
    /// The files that differ from it, or that git passes over.
    changed: BTreeMap<Vec<u8>, Numbered>,
}

/// What says what git passes over, and what it starts: each file, with a number for what it says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rules(BTreeMap<Vec<u8>, Option<u64>>);

impl Rules {
    /// Reads them; `None` if they are unknown, as outside git.
    pub(crate) fn read(root: &Path) -> Option<Self> {
        if !is_in_git(root) {
            return None;
        }
        let mut paths = git(root).ok()?;
        paths.arg("rev-parse");
        for name in RULES {
            paths.args(["--git-path", name]);
        }
        let paths = answer(&mut paths)?;
        let paths = paths.split(|byte| *byte == b'\n');
        let mut files: Vec<Vec<u8>> = paths.map(<[u8]>::to_vec).collect();
        let mut list = git(root).ok()?;
        list.args(["config", "--list", "--show-origin", "-z"]);
        let list = answer(&mut list)?;
        let mut settings = list.split(|byte| *byte == 0);
        let mut named = NAMING.map(|(key, default)| {
            let default = user_folder("XDG_CONFIG_HOME", ".config").map(|dir| dir.join(default));
            (key, default)
        });
        let mut said: BTreeMap<Vec<u8>, Hash> = BTreeMap::new();
        while let (Some(origin), Some(setting)) = (settings.next(), settings.next()) {
            let Some(file) = origin.strip_prefix(b"file:") else {
                continue;
            };
            said.entry(file.to_vec()).or_default().add(setting);
            let setting = String::from_utf8_lossy(setting);
            let (key, value) = setting.split_once('\n').unwrap_or((&setting, ""));
            for (_, path) in named.iter_mut().filter(|(name, _)| *name == key) {
                *path = Some(at_home(value));
            }
        }
        let named = named.into_iter().filter_map(|(_, path)| path);
        files.extend(named.map(|path| path.into_os_string().into_encoded_bytes()));
        files.retain(|file| !file.is_empty());
        let said = said.into_iter().map(|(file, said)| (file, Some(said.number())));
        let mut rules: BTreeMap<Vec<u8>, Option<u64>> = said.collect();
        rules.extend(files.into_iter().map(|file| {
            // git follows a link, as users have to where they keep their settings.
            let path = root.join(os::file::path(&file)).canonicalize();
            let real = path.map(|path| path.into_os_string().into_encoded_bytes());
            let number = number(root, real.as_ref().unwrap_or(&file), LARGE_TRACKED);
            (file, number)
        }));
        Some(Self(rules))
    }

    /// Returns the files that say something else in `now`, which was read later.
    pub(crate) fn changed(&self, now: &Self) -> Vec<PathBuf> {
        let names: BTreeSet<&[u8]> =
            (self.0.keys().chain(now.0.keys())).map(Vec::as_slice).collect();
        let is_changed = |name: &&[u8]| self.0.get(*name) != now.0.get(*name);
        let changed = names.into_iter().filter(is_changed);
        changed.map(os::file::path).collect()
    }
}

/// Returns what git prints; `None` if it fails.
fn answer(git: &mut Command) -> Option<Vec<u8>> {
    let output = output_within(git, LIMIT).ok()?;
    output.status.success().then_some(output.stdout)
}

/// Returns the path that git means by a value: `~` is the user's home.
fn at_home(value: &str) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match (value.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(value),
    }
}

/// A file of a work tree.
#[derive(Debug)]
struct Numbered {
    /// How much of it is read.
    limit: u64,
    /// A number for its content; `None` if there is no such number.
    number: Option<u64>,
}

impl Numbered {
    fn of(root: &Path, name: &[u8], limit: u64) -> Self {
        let number = number(root, name, limit);
        Self { limit, number }
    }
}

/// Returns what `git ls-files -z --stage -v` says of each file, and its name.
pub(super) fn entries(index: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let lines = index.split(|byte| *byte == 0);
    lines.filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        Some((&line[..tab], &line[tab + 1..]))
    })
}

/// Returns whether an entry, or one without its mark, is a submodule.
pub(super) fn is_submodule(entry: &[u8]) -> bool {
    let mut words = entry.split(|byte| *byte == b' ');
    words.any(|word| word == GITLINK)
}

/// Returns the submodules in which something is not committed: nothing in the repository shows that.
pub(super) fn open_submodules(git: &mut Command) -> Result<Vec<String>, String> {
    git.args(["status", "--porcelain=v2", "-z", "--untracked-files=normal"])
        .arg("--ignore-submodules=none");
    let status = output_within(git, LIMIT)?.stdout;
    let status = String::from_utf8_lossy(&status);
    let open = status.split('\0').filter_map(|line| {
        let mut words = line.strip_prefix("1 ")?.splitn(8, ' ');
        // `S`, and then what is different in it: its commit, a file, a new file.
        let is_open = words.nth(1)?.get(2..)?.contains(['M', 'U']);
        is_open.then_some(words.nth(5)?.to_owned())
    });
    Ok(open.collect())
}

/// Returns a text for the versions of the files at `path`, by what the file system says of them, and how large they are.
pub(super) fn versions(path: &Path) -> (String, u64) {
    // No git looks into another repository: that can name programs of its own.
    let files = WalkDir::new(path).sort_by_file_name();
    let files = files.into_iter().filter_entry(|entry| entry.file_name() != ".git");
    let (mut size, mut versions) = (0, Hash::default());
    for file in files.flatten().filter(|file| !file.file_type().is_dir()) {
        let Ok(meta) = file.metadata() else { continue };
        size += meta.len();
        versions.add(file.path().as_os_str().as_encoded_bytes());
        versions.add(format!(" {:?}\n", Version::of(&meta)));
    }
    (versions.text(), size)
}

/// Returns whether a file is marked as unchanged in the index, whatever is in it.
pub(super) fn is_passed_over(entry: &[u8]) -> bool {
    entry.first().is_some_and(|sign| sign.is_ascii_lowercase() || *sign == b'S')
}

impl Tree {
    /// Reads the work tree around `root`, without `home`; `None` if it is unknown, as outside git.
    pub(crate) fn read(root: &Path, home: &str) -> Option<Self> {
        if !is_in_git(root) {
            return None;
        }
        let list = |options: &[&str]| {
            let mut git = git(root).ok()?;
            git.args(["ls-files", "-z"]).args(options).args(["--", ":/"]).args(without(home));
            answer(&mut git)
        };
        let index = list(&["--stage", "-v"])?;
        let changed = list(&["-t", "--modified", "--others", "--exclude-standard"])?;
        let numbered =
            |(name, limit): (&[u8], u64)| (name.to_vec(), Numbered::of(root, name, limit));
        // Of a file, git says first whether it is tracked.
        let names = changed.split(|byte| *byte == 0).filter_map(|line| {
            let limit = match line.starts_with(b"?") {
                true => LARGE,
                false => LARGE_TRACKED,
            };
            Some((line.get(2..)?, limit))
        });
        let tracked = |name| (name, LARGE_TRACKED);
        let passed_over = entries(&index).filter(|(line, _)| is_passed_over(line));
        let names = names.chain(passed_over.map(|(_, name)| tracked(name)));
        let has_submodules = entries(&index).any(|(line, _)| is_submodule(line));
        let open = match has_submodules {
            true => open_submodules(&mut git(root).ok()?).ok()?,
            false => Vec::new(),
        };
        let names = names.chain(open.iter().map(|name| tracked(name.as_bytes())));
        let changed = names.map(numbered);
        Some(Self { changed: changed.collect(), index })
    }

    /// Passes each part to `add`, which hashes it; `None` if a part is unknown. (A commit of changes that were not staged
    /// counts as a change.)
    pub(crate) fn hash(&self, mut add: impl FnMut(&[u8])) -> Option<()> {
        add(&self.index);
        for (name, file) in &self.changed {
            add(name);
            add(&file.number?.to_le_bytes());
        }
        Some(())
    }

    /// Returns the files whose content is another one in `now`, which was read later, and apart from them the new ones.
    pub(crate) fn changed(&self, now: &Self, root: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (old, new) = (self.staged(), now.staged());
        let staged = old.keys().chain(new.keys()).copied();
        let differing = self.changed.keys().chain(now.changed.keys());
        let names: BTreeSet<&[u8]> = staged.chain(differing.map(Vec::as_slice)).collect();
        let is_changed = |name: &&[u8]| match (self.changed.get(*name), now.changed.get(*name)) {
            (Some(before), Some(after)) => before.number != after.number,
            // It was added or committed, perhaps as it was.
            (Some(before), None) => number(root, name, before.limit) != before.number,
            (None, Some(_)) => true,
            (None, None) => old.get(name) != new.get(name),
        };
        let is_old = |name: &&[u8]| old.contains_key(name) || self.changed.contains_key(*name);
        let changed = names.into_iter().filter(is_changed);
        let (changed, new): (Vec<_>, Vec<_>) = changed.partition(is_old);
        let paths = |names: Vec<&[u8]>| names.into_iter().map(os::file::path).collect();
        (paths(changed), paths(new))
    }

    /// Returns what the index has of each file.
    fn staged(&self) -> HashMap<&[u8], &[u8]> {
        entries(&self.index).map(|(entry, name)| (name, entry)).collect()
    }
}

/// Returns a number for what git would keep of a file that it names so; for the version that is there of one that is larger
/// than `limit`, or of a repository in the repository. `None` if it is something else.
fn number(root: &Path, name: &[u8], limit: u64) -> Option<u64> {
    let path = root.join(os::file::path(name));
    let (kind, content) = match path.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => {
            let target = fs::read_link(&path).ok()?.into_os_string();
            ("link", target.into_encoded_bytes())
        }
        Ok(meta) if meta.is_dir() || meta.is_file() && meta.len() > limit => {
            ("versions", versions(&path).0.into_bytes())
        }
        Ok(meta) if meta.is_file() => {
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
        // What a partial clone lacks would be fetched, by a program that its configuration names.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_GRAFT_FILE", "/dev/null");
    // A lock taken for a mere look could make the agent's own `git commit` fail. A repository inside the project,
    // which can be part of a clone as ordinary files, has a configuration that nobody here wrote: it must not name a
    // program.
    git.arg("--no-optional-locks")
        .args(["-c", "core.fsmonitor=false"])
        .args(["-c", "log.showSignature=false"])
        // What looks unchanged is unchanged, in the folder of the project.
        .args(["-c", "core.ignoreStat=false"])
        .args(["-c", "core.trustctime=true"])
        .args(["-c", "core.checkStat=default"])
        .args(["-c", "safe.bareRepository=explicit"])
        .stdin(Stdio::null())
        .current_dir(root);
    if os::file::CASE_MATTERS {
        git.args(["-c", "core.ignoreCase=false"]);
    }
    Ok(git)
}

/// Returns whether git tracks a file in `folder`, which is inside `root`; false if git cannot tell.
fn is_tracked(root: &Path, folder: &Path) -> bool {
    if !is_in_git(root) {
        return false;
    }
    let Ok(mut git) = git(root) else {
        return false;
    };
    git.args(["ls-files", "--"]).arg(format!(":(literal){}", folder.display()));
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
    work_tree(root).is_some()
}

/// Returns the top of the work tree that the project at `root` is in.
pub(crate) fn work_tree(root: &Path) -> Option<&Path> {
    root.ancestors().find(|dir| dir.join(".git").exists())
}

/// Returns the output of `command`. It is killed if it takes longer than `limit`; the error is a message about that.
pub(super) fn output_within(command: &mut Command, limit: Duration) -> Result<Output, String> {
    let unrun = |error| format!("cannot be run: {error}");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(unrun)?;
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().spawn(move || sender.send(child.wait_with_output())).map_err(unrun)?;
    let limit = match HANGS.load(Ordering::Relaxed) {
        true => limit.min(AGAIN),
        false => limit,
    };
    match receiver.recv_timeout(limit) {
        // Half an answer is none.
        Ok(Ok(output)) if output.status.code().is_none() => {
            Err(format!("was killed ({})", output.status))
        }
        Ok(output) => output.map_err(unrun),
        Err(_) => {
            HANGS.store(true, Ordering::Relaxed);
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
        let killed = output_within(Command::new("sh").args(["-c", "echo half; kill -9 $$"]), LIMIT);
        let why = killed.unwrap_err();
        assert!(why.starts_with("was killed"), "{why}");
        assert!(start.elapsed() < Duration::from_secs(30));
        let fast = output_within(Command::new("echo").arg("x"), LIMIT);
        assert_eq!(fast.map(|output| output.stdout), Ok(b"x\n".to_vec()));
    }

    /// Of a large file, the version counts, so that nobody reads it; of another one, the content.
    #[test]
    fn a_large_file_is_not_read() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a");
        for (length, limit, is_read) in [
            (LARGE, LARGE, true),
            (LARGE + 1, LARGE, false),
            (LARGE + 1, LARGE_TRACKED, true),
            (1 << 36, LARGE_TRACKED, false),
        ] {
            let made = fs::File::create(&file).unwrap();
            made.set_len(length).unwrap();
            let before = number(root.path(), b"a", limit);
            assert!(before.is_some());
            made.set_modified(std::time::UNIX_EPOCH).unwrap();
            let is_same = number(root.path(), b"a", limit) == before;
            assert_eq!(is_same, is_read, "{length} {limit}");
        }
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

        assert!(!is_tracked(&folder, Path::new("refs")));
        let dirty = ask(&folder, ".taskie").unwrap_err();
        assert!(dirty.contains("safe.bareRepository"), "{dirty}");
        assert!(!folder.join("ran").exists());
    }
}
