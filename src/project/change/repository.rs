//! Git in a work tree: its commands, and what differs between two trees.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::command::{failed, git, input, output, run, text};
use super::index::Index;
use super::terms::{Changed, Content, NO_FILE, Unknown};
use crate::os::regular::open_to_read;
use crate::store::git_dir;
use crate::text::shown;

/// The tree without any file, by the two kinds of ids.
pub(super) const EMPTY: [&str; 2] = [
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
];

/// How much of a file git looks at to find out whether it is text.
const START: u64 = 8000;

/// The command that lists what differs between two trees.
const DIFF: [&str; 9] = [
    "diff",
    "--raw",
    "--numstat",
    "-z",
    "--no-abbrev",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=none",
];

/// The mode of a repository in the repository.
pub(super) const GITLINK: &str = "160000";

/// The ends of the names of files that programs write to pin versions.
const LOCKS: [&str; 5] = [".lock", "-lock.json", "-lock.yaml", ".lockb", "go.sum"];

/// The branch that the remote repository names as its default, and those that are called as default branches are: the first
/// that exists counts.
const DEFAULTS: [&str; 5] = [
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];

/// What git says of a repository's commits at once.
pub(super) struct Heads {
    /// The commit of HEAD; the empty tree where there is none.
    pub(super) head: String,
    /// The tree that was asked for; `None` if git does not have it.
    pub(super) tree: Option<String>,
    /// The branch that others are merged into, and its commit. (A tag of the same name is no branch.)
    pub(super) default: Option<(String, String)>,
}

/// Git in one work tree.
pub(super) struct Repository {
    /// The top of the work tree.
    pub(super) root: PathBuf,
}

impl Repository {
    /// Returns the commit of HEAD, the default branch, and the tree of the commit or tree of this id.
    pub(super) fn heads(&self, id: &str) -> Result<Heads, Unknown> {
        let tree = format!("{id}^{{tree}}");
        let names = [&["HEAD^{commit}", EMPTY[0], EMPTY[1], &tree], &DEFAULTS[..]].concat();
        let mut git = git(&self.root, &["cat-file", "--batch-check=%(objectname)"])?;
        let printed = text(&run(git.stdin(input(names.join("\n").as_bytes())?))?);
        // Of a name that names nothing, it says so in words.
        let ids = printed.lines().map(|line| Some(line).filter(|line| !line.contains(' ')));
        let ids: Vec<_> = ids.collect();
        if let [head, sha_1, sha_256, tree, defaults @ ..] = &*ids
            && let Some(head) = head.or(*sha_1).or(*sha_256)
        {
            let mut defaults = DEFAULTS.into_iter().zip(defaults);
            let default = defaults.find_map(|(name, id)| {
                let id = (*id)?.to_owned();
                let (_, common) = git_dir::of(&self.root)?;
                let file = fs::read_to_string(common.join(name)).unwrap_or_default();
                let name = file.strip_prefix("ref: ").unwrap_or(name).trim_end();
                Some((name.splitn(3, '/').last()?.to_owned(), id))
            });
            return Ok(Heads { head: head.to_owned(), tree: tree.map(str::to_owned), default });
        }
        Err(failed(format!("`git cat-file` printed {printed:?}")))
    }

    /// Returns the commit that the user has named.
    pub(super) fn commit(&self, name: &str) -> Result<String, Unknown> {
        let commit = format!("{name}^{{commit}}");
        let id = self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
        id.ok_or_else(|| {
            let help = "name a branch, a tag or a commit; in CI, it has to be fetched first";
            Unknown::new(format!("there is no commit `{}`", shown(name)), help)
        })
    }

    /// Returns what a command prints; `None` if it fails.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Option<String>, Unknown> {
        let output = output(&mut git(&self.root, args)?)?;
        Ok(output.status.success().then(|| text(&output.stdout)))
    }

    /// Returns a tree without the files of these names.
    pub(super) fn without(&self, tree: &str, names: &[&str]) -> Result<String, Unknown> {
        let index = Index::new(&self.root, None)?;
        index.run(&["read-tree", tree])?;
        index.update("--force-remove", names.join("\0").as_bytes())?;
        // What a partial clone lacks, it need not have for this.
        index.run(&["write-tree", "--missing-ok"])
    }

    /// Returns the files that differ between two trees.
    pub(super) fn files(&self, trees: [&str; 2]) -> Result<Vec<Changed>, Unknown> {
        if trees[0] == trees[1] {
            return Ok(Vec::new());
        }
        let mut git = git(&self.root, &DIFF)?;
        let help = "in a partial clone, `git diff` by hand fetches what it lacks";
        let listed = run(git.args(trees).arg("--"));
        let listed = text(&listed.map_err(|unknown| Unknown { help, ..unknown })?);
        // Each entry of the first list is followed by its path.
        let mut lines = listed.split('\0').filter(|line| !line.is_empty()).peekable();
        let mut objects = HashMap::new();
        while let Some(entry) = lines.next_if(|line| line.starts_with(':')) {
            let words: Vec<&str> = entry[1..].split(' ').collect();
            if let ([old_mode, mode, old, new, ..], Some(path)) = (&*words, lines.next()) {
                objects.insert(path, [format!("{old_mode} {old}"), format!("{mode} {new}")]);
            }
        }
        let files = lines.filter_map(|line| {
            let mut parts = line.splitn(3, '\t');
            let (added, removed, path) = (parts.next()?, parts.next()?, parts.next()?);
            let lines = added.parse().ok().zip(removed.parse().ok());
            let objects = objects.remove(path);
            let is_now =
                |mode: &str| objects.as_ref().is_some_and(|[_, now]| now.starts_with(mode));
            let is_submodule = is_now(GITLINK);
            let content = match lines {
                _ if is_submodule => Content::Unknown(match self.root.join(path).is_file() {
                    true => "larger than 4 MB",
                    false => "a repository of its own",
                }),
                None if is_now(NO_FILE) => Content::Removed,
                None if self.is_text(Path::new(path)) => Content::InFile,
                None => Content::Unknown("binary"),
                Some(_) if LOCKS.iter().any(|end| path.ends_with(end)) => Content::Generated,
                Some(_) => Content::InDiff,
            };
            let lines = lines.filter(|_| !is_submodule);
            Some(Changed { path: path.to_owned(), lines, content, objects })
        });
        Ok(files.collect())
    }

    /// Returns whether a file is text, whatever attributes and settings say of it.
    fn is_text(&self, path: &Path) -> bool {
        let mut start = Vec::new();
        let read = open_to_read(&self.root.join(path))
            .and_then(|(file, _)| file.take(START).read_to_end(&mut start));
        read.is_ok() && !start.contains(&0)
    }
}
