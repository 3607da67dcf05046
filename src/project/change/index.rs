//! An index of its own, in which git puts together the tree of what is there now.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::command::{self, bytes, failed, failure, output, run, unwritable};
use super::terms::Unknown;
use crate::os::file::path;
use crate::store::git_dir;

/// Marks in the index hide nothing that is there.
const PRESENT: [&str; 4] =
    ["-c", "core.sparseCheckout=true", "-c", "sparse.expectFilesOutsideOfPatterns=false"];

/// Lists the files of an index with a letter and what is in it, then those that differ from it.
const LIST: [&str; 10] = [
    "ls-files",
    "-z",
    "-v",
    "--stage",
    "--cached",
    "--others",
    "--modified",
    "--exclude-standard",
    "--",
    ":/",
];

/// An index of its own, in which git puts together a tree. It is removed with this value.
#[derive(Debug)]
pub(super) struct Index {
    /// The top of the work tree.
    root: PathBuf,
    folder: TempDir,
    /// The tree whose attributes count; those of the work tree if it is not set.
    attributes: OnceCell<String>,
}

impl Index {
    /// Returns a new one without any file.
    pub(super) fn new(root: &Path) -> Result<Self, Unknown> {
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|error| unwritable(&std::env::temp_dir(), &error))?;
        Ok(Self { root: root.to_owned(), folder, attributes: OnceCell::new() })
    }

    /// Begins with what git's own index has: its stat data saves reading what has not changed.
    pub(super) fn copy(&self, own: &Path) -> Result<(), Unknown> {
        let copied = if own.exists() { copy_with_time(own, &self.path()) } else { Ok(()) };
        copied.map_err(|error| failed(format!("git's index cannot be copied: {error}")))
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// Returns a command that works on it.
    fn git(&self, args: &[&str]) -> Result<Command, Unknown> {
        let mut git = command::git(&self.root, args)?;
        git.env("GIT_INDEX_FILE", self.path())
            .envs(self.attributes.get().map(|tree| ("GIT_ATTR_SOURCE", tree)));
        Ok(git)
    }

    pub(super) fn list(&self) -> Result<Vec<u8>, Unknown> {
        bytes(self.git(&PRESENT)?.args(LIST))?.map_err(failed)
    }

    /// Returns the names of the files of which git's `ident` may hide something, if any attributes of these files say so.
    pub(super) fn hiding<'n>(
        &self,
        names: impl Iterator<Item = &'n [u8]>,
    ) -> Result<Vec<u8>, Unknown> {
        let attributes = names.filter(|name| name.ends_with(b".gitattributes"));
        let attributes = attributes.map(|name| self.root.join(path(name)));
        let own = git_dir::of(&self.root).map(|(_, common)| common.join("info/attributes"));
        let says_so = |file: PathBuf| fs::read_to_string(file).is_ok_and(|it| it.contains("ident"));
        if !attributes.chain(own).any(says_so) {
            return Ok(Vec::new());
        }
        let mut list = self.git(&["ls-files", "-z", "--", ":(top,attr:ident)"])?;
        bytes(&mut list)?.map_err(failed)
    }

    /// Runs a command that works on it. Returns what it prints.
    pub(super) fn run(&self, args: &[&str]) -> Result<String, Unknown> {
        let printed = run(&mut self.git(args)?)?.map_err(failed)?;
        Ok(printed.trim_end().to_owned())
    }

    /// Adds what these pathspecs name, with a zero byte between two of them. Returns whether git could store all of it.
    pub(super) fn add(
        &self,
        specs: &[u8],
        empty_tree: impl FnOnce() -> Result<String, Unknown>,
    ) -> Result<bool, Unknown> {
        let paths = self.folder.path().join("paths");
        fs::write(&paths, specs).map_err(|error| unwritable(&paths, &error))?;
        let paths = format!("--pathspec-from-file={}", paths.display());
        let add = || {
            let mut add = self.git(&PRESENT)?;
            add.args(["add", "--all", "--sparse", "--ignore-errors", "--pathspec-file-nul"]);
            let added = output(add.arg(&paths))?;
            let why = (!matches!(added.status.code(), Some(0 | 1))).then(|| failure(&add, &added));
            why.map_or(Ok(Ok(added.status.success())), |why| Ok(Err(failed(why))))
        };
        add()?.or_else(|_| {
            // The program of a filter is missing, or an encoding is another one: files are stored as they are.
            let _ = self.attributes.set(empty_tree()?);
            add()?
        })
    }

    /// Changes it as an option of `git update-index` says, which gets these names or entries, with a zero byte between two.
    pub(super) fn update(&self, option: &str, names: &[u8]) -> Result<(), Unknown> {
        if names.is_empty() {
            return Ok(());
        }
        let list = self.folder.path().join("names");
        let written = fs::write(&list, names).and_then(|()| fs::File::open(&list));
        let list = written.map_err(|error| unwritable(&list, &error))?;
        let mut git = self.git(&["update-index", "-z", "--add", "--replace", option])?;
        git.args((option != "--index-info").then_some("--stdin"));
        run(git.stdin(list))?.map(drop).map_err(failed)
    }
}

/// Copies a file with the time of its last change. Git reads a file that is not older than its index, since its stat data
/// may hide a change made in the same second; a copy that seems newer would hide it for good.
fn copy_with_time(from: &Path, to: &Path) -> std::io::Result<()> {
    let time = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    fs::File::options().write(true).open(to)?.set_modified(time)
}
