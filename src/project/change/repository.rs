//! Git in a work tree: its commands, and the tree of what is there now.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::command::{self, bytes, failed, failure, output, run, unwritable};
use super::index::Index;
use super::terms::{Changed, Unknown};
use crate::os::file::path;
use crate::os::regular::open_to_read;
use crate::project::git::{GITLINK, LARGE, LARGE_TRACKED, open_submodules};
use crate::text::shown;

/// How many of the newest commits can be those of a reviewer.
const NEWEST: usize = 50;

/// How many digits a hash has in a repository with the newer format.
const SHA256: usize = 64;

/// How much of a file git looks at to find out whether it is text.
const START: u64 = 8000;

/// How many files a command line names: it has an end.
const CHUNK: usize = 500;

/// The ends of the names of files that programs write to pin versions.
const LOCKS: [&str; 5] = [".lock", "-lock.json", "-lock.yaml", ".lockb", "go.sum"];

/// Git in one work tree.
pub(super) struct Repository<'r> {
    pub(super) root: &'r Path,
    /// Where the objects of the change are.
    objects: &'r Path,
    /// What is in no tree of the change, as lists of pathspecs.
    left_out: Vec<Vec<String>>,
}

impl<'r> Repository<'r> {
    /// Returns that of the work tree at `root`; `objects` is where the objects of the change are.
    pub(super) const fn of(root: &'r Path, objects: &'r Path) -> Self {
        Self { root, objects, left_out: Vec::new() }
    }

    /// Limits the trees of the change to these files and folders, if there are any, and leaves out what fits the patterns
    /// `without`.
    pub(super) fn limited(self, paths: &[String], without: &[String]) -> Self {
        let without = without.iter().map(|pattern| format!(":(top,glob){pattern}")).collect();
        let paths = paths.iter().map(|path| format!(":(top,exclude,literal){path}"));
        let mut others: Vec<String> = paths.collect();
        if !others.is_empty() {
            others.push(":/".to_owned());
        }
        let left_out = [without, others].into_iter().filter(|specs| !specs.is_empty());
        Self { left_out: left_out.collect(), ..self }
    }

    /// Returns the commit of HEAD; the empty tree where there is none.
    pub(super) fn head(&self) -> Result<String, Unknown> {
        let head = self.id("HEAD^{commit}")?;
        head.map_or_else(|| self.empty_tree(), Ok)
    }

    /// Returns the commit that the user has named.
    pub(super) fn commit(&self, name: &str) -> Result<String, Unknown> {
        self.id(&format!("{name}^{{commit}}"))?.ok_or_else(|| {
            let help = "name a branch, a tag or a commit; in CI, it has to be fetched first";
            Unknown::new(format!("there is no commit `{}`", shown(name)), help)
        })
    }

    /// Returns whether the clone has only a part of the history.
    pub(super) fn is_shallow(&self) -> Result<bool, Unknown> {
        let said = self.ask(&["rev-parse", "--is-shallow-repository"])?;
        Ok(said.as_deref() == Some("true"))
    }

    /// Returns whether git has a tree with all that is in it.
    pub(super) fn is_whole(&self, id: &str) -> Result<bool, Unknown> {
        let tree = format!("{id}^{{tree}}");
        let found = self.ask(&["rev-list", "--objects", "--quiet", &tree])?;
        Ok(found.is_some())
    }

    /// Returns a tree without any file.
    pub(super) fn empty_tree(&self) -> Result<String, Unknown> {
        let empty = self.git(&["hash-object", "-t", "tree", "--stdin"])?;
        let empty =
            { empty }.output().map_err(|error| Unknown::new(error.to_string(), "install git"))?;
        Ok(String::from_utf8_lossy(&empty.stdout).trim_end().to_owned())
    }

    /// Returns a command that sees the objects of the change.
    pub(super) fn git(&self, args: &[&str]) -> Result<Command, Unknown> {
        command::git(self.root, self.objects, args)
    }

    /// Returns what a command prints; `None` if it fails.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Option<String>, Unknown> {
        let output = run(&mut self.git(args)?)?;
        Ok(output.ok().map(|text| text.trim_end().to_owned()))
    }

    /// Returns the id of what `name` names; `None` if it names nothing.
    pub(super) fn id(&self, name: &str) -> Result<Option<String>, Unknown> {
        self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", name])
    }

    /// Returns a new index without any file, whose objects are stored apart.
    fn index(&self) -> Result<Index<'r>, Unknown> {
        Index::new(self.root, self.objects, self.stored()?)
    }

    /// Returns where the repository has its objects.
    fn stored(&self) -> Result<PathBuf, Unknown> {
        let objects = self.ask(&["rev-parse", "--git-path", "objects"])?;
        let objects = objects.map(|path| self.root.join(path));
        objects.ok_or_else(|| Unknown::new("this is no git repository", "run `git init`"))
    }

    /// Copies into the repository what its index and its newest commits refer to, but which is only among the objects of the
    /// change: a program that sees those stores nothing that is there already.
    pub(super) fn keep_what_is_referred_to(&self) -> Result<(), Unknown> {
        let newest = format!("--max-count={NEWEST}");
        let mut list = self.git(&["rev-list", "--objects", "--missing=allow-any"])?;
        list.args(["--indexed-objects", "--all", &newest]);
        let listed = run(&mut list)?.map_err(failed)?;
        let stored = self.stored()?;
        let ids = listed.lines().filter_map(|line| line.split(' ').next());
        for (folder, name) in ids.filter_map(|id| id.split_at_checked(2)) {
            let (apart, own) = (self.objects.join(folder), stored.join(folder));
            if !apart.join(name).is_file() || own.join(name).exists() {
                continue;
            }
            let copied = fs::create_dir_all(&own).and_then(|()| {
                let new = tempfile::Builder::new().prefix("tmp_obj_").tempfile_in(&own)?;
                fs::copy(apart.join(name), &new)?;
                new.persist(own.join(name)).map_err(io::Error::from)
            });
            copied.map_err(|error| unwritable(&own, &error))?;
        }
        Ok(())
    }

    /// Writes what is in the work tree as a tree. Returns it, and the files that differ from git's index and were not read: none of
    /// these is in the tree.
    pub(super) fn write_tree(&self) -> Result<(String, Vec<Changed>), Unknown> {
        let index = self.index()?;
        let own = self.ask(&["rev-parse", "--git-path", "index"])?;
        let own = own.map(|path| self.root.join(path));
        // Its own stat data saves reading what has not changed.
        if let Some(own) = own.filter(|own| own.exists()) {
            copy_with_time(&own, &index.path())
                .map_err(|error| failed(format!("git's index cannot be copied: {error}")))?;
        }
        let differing = || {
            let mut git = index.git(&["ls-files", "-z", "-t", "--others", "--modified"])?;
            bytes(git.args(["--exclude-standard", "--", ":/"]))?.map_err(failed)
        };
        let listed = differing()?;
        let mut unread: Vec<(&[u8], &'static str)> = Vec::new();
        let mut specs = b":/".to_vec();
        for line in listed.split(|byte| *byte == 0) {
            // Of a file, git says first whether it is tracked.
            let (name, limit, why) = match line.split_at_checked(2) {
                Some((b"? ", name)) => (name, LARGE, "untracked and larger than 1 MB"),
                Some((_, name)) => (name, LARGE_TRACKED, "larger than 16 MB"),
                None => continue,
            };
            let meta = self.root.join(path(name)).symlink_metadata();
            let is_large = meta.is_ok_and(|meta| meta.is_file() && meta.len() > limit);
            // A repository in the repository has a slash.
            let (name, why) = match name.strip_suffix(b"/") {
                Some(name) => (name, "a repository of its own"),
                None if is_large => (name, why),
                None => continue,
            };
            specs.extend([b"\0:(exclude,literal,top)", name].concat());
            unread.push((name, why));
        }
        let list = index.folder.path().join("paths");
        fs::write(&list, specs).map_err(|error| unwritable(&list, &error))?;
        let list = format!("--pathspec-from-file={}", list.display());
        let mut add =
            index.git(&["add", "--all", "--ignore-errors", "--pathspec-file-nul", &list])?;
        let added = output(&mut add)?;
        // One file that git cannot store, such as `.GIT/x`, hides none of the others.
        let refused = match added.status.code() {
            Some(0) => Vec::new(),
            Some(1) => differing()?,
            _ => return Err(failed(failure(&add, &added))),
        };
        let refused = refused.split(|byte| *byte == 0).filter_map(|line| line.get(2..));
        let refused = refused.map(|name| name.strip_suffix(b"/").unwrap_or(name));
        let known: HashSet<&[u8]> = unread.iter().map(|(name, _)| *name).collect();
        let refused = refused.filter(|name| !known.contains(name));
        unread.extend(refused.map(|name| (name, "git cannot store it")));
        let names: Vec<&[u8]> = unread.iter().map(|(name, _)| *name).collect();
        index.remove(&names.join(&0))?;
        let tree = index.write(&["write-tree"])?;
        let unread = unread.into_iter();
        let unread = unread.map(|(name, why)| Changed::unread(&String::from_utf8_lossy(name), why));
        Ok((tree, unread.chain(self.open_submodules()?).collect()))
    }

    /// Returns a tree without what is left out of the change.
    pub(super) fn without(&self, tree: String) -> Result<String, Unknown> {
        let index = self.index()?;
        index.write(&["read-tree", &tree])?;
        for specs in &self.left_out {
            let mut list = index.git(&["ls-files", "-z", "--"])?;
            index.remove(&bytes(list.args(specs))?.map_err(failed)?)?;
        }
        // What a partial clone lacks, it need not have for this.
        index.write(&["write-tree", "--missing-ok"])
    }

    /// Returns the submodules in which something is not committed: no tree of this repository has that.
    fn open_submodules(&self) -> Result<Vec<Changed>, Unknown> {
        let open = match self.root.join(".gitmodules").exists() {
            true => open_submodules(&mut self.git(&[])?).map_err(failed)?,
            false => Vec::new(),
        };
        let why = "a submodule in which something is not committed";
        Ok(open.iter().map(|path| Changed::unread(path, why)).collect())
    }

    /// Returns the files that differ between two trees.
    pub(super) fn files(&self, trees: [&str; 2]) -> Result<Vec<Changed>, Unknown> {
        let mut git = self.git(&[
            "diff",
            "--raw",
            "--numstat",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=none",
        ])?;
        let listed = run(git.args(trees).arg("--"))?;
        let listed = listed.map_err(|why| {
            Unknown::new(why, "in a partial clone, `git diff` by hand fetches what it lacks")
        })?;
        // Each entry of the first list is followed by its path.
        let mut lines = listed.split('\0').filter(|line| !line.is_empty()).peekable();
        let mut submodules = HashSet::new();
        while let Some(entry) = lines.next_if(|line| line.starts_with(':')) {
            let path = lines.next();
            let mut modes = entry[1..].split(' ').take(2);
            submodules.extend(path.filter(|_| modes.any(|mode| mode.as_bytes() == GITLINK)));
        }
        let mut files: Vec<Changed> = lines
            .filter_map(|line| {
                let mut parts = line.splitn(3, '\t');
                let (added, removed, path) = (parts.next()?, parts.next()?, parts.next()?);
                let lines = added.parse().ok().zip(removed.parse().ok());
                if submodules.contains(path) {
                    let why = "a submodule: its content is not shown";
                    return Some(Changed { is_named: false, ..Changed::unread(path, why) });
                }
                let is_lock = LOCKS.iter().any(|end| path.ends_with(end));
                Some(Changed {
                    path: path.to_owned(),
                    is_named: false,
                    unread: match lines {
                        None if self.is_text(path) => {
                            Some("not shown by `git diff`: read the file")
                        }
                        None => Some("binary"),
                        Some(_) if is_lock => Some("generated"),
                        Some(_) => None,
                    },
                    lines,
                })
            })
            .collect();
        let generated = self.generated(trees[0], &files)?;
        for file in &mut files {
            if file.unread.is_none() && generated.contains(&file.path) {
                file.unread = Some("generated");
            }
        }
        Ok(files)
    }

    /// Returns whether a file is text, whatever attributes and settings say of it.
    fn is_text(&self, path: &str) -> bool {
        let mut start = Vec::new();
        let read = open_to_read(&self.root.join(path));
        let read = read.and_then(|(file, _)| file.take(START).read_to_end(&mut start));
        read.is_ok() && !start.contains(&0)
    }

    /// Returns the files that the `.gitattributes` of a tree call generated: a change says nothing of itself.
    fn generated(&self, tree: &str, files: &[Changed]) -> Result<HashSet<String>, Unknown> {
        let mut found = HashSet::new();
        if files.is_empty() {
            return Ok(found);
        }
        let index = self.index()?;
        if run(&mut index.git(&["read-tree", tree])?)?.is_err() {
            return Ok(found);
        }
        let apart = index.folder.path().join("apart");
        make_apart(&apart, tree).map_err(|error| unwritable(&apart, &error))?;
        for some in files.chunks(CHUNK) {
            let mut git = index.git(&["-c", "core.attributesFile=/dev/null", "check-attr"])?;
            git.args(["--cached", "-z", "linguist-generated", "--"]);
            git.args(some.iter().map(|file| &file.path))
                .env("GIT_DIR", &apart)
                .env("GIT_ATTR_NOSYSTEM", "1");
            let attributes = run(&mut git)?.unwrap_or_default();
            let words: Vec<&str> = attributes.split('\0').collect();
            let set = words.chunks_exact(3).filter(|row| matches!(row[2], "set" | "true"));
            found.extend(set.map(|row| row[0].to_owned()));
        }
        Ok(found)
    }
}

/// Makes a git directory for whoever reads this tree: no attributes but those in it count there.
fn make_apart(dir: &Path, tree: &str) -> io::Result<()> {
    for folder in ["objects", "refs"] {
        fs::create_dir_all(dir.join(folder))?;
    }
    fs::write(dir.join("HEAD"), "ref: refs/heads/none\n")?;
    if tree.len() == SHA256 {
        let config = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n";
        fs::write(dir.join("config"), config)?;
    }
    Ok(())
}

/// Copies a file with the time of its last change. Git reads a file that is not older than its index, since its stat data
/// may hide a change made in the same second; a copy that seems newer would hide it for good.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let time = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    fs::File::options().write(true).open(to)?.set_modified(time)
}
