//! An index of its own, in which git puts together the tree of what is there now.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::command::{self, OBJECTS, failed, run, unwritable, with};
use super::terms::Unknown;

/// An index of its own, which is removed with this value.
pub(super) struct Index<'r> {
    root: &'r Path,
    /// Where the objects of the change are.
    objects: &'r Path,
    pub(super) folder: TempDir,
    /// Where the repository has its objects.
    stored: PathBuf,
    /// The tree whose attributes count; those of the work tree if it is not set.
    pub(super) attributes: OnceCell<String>,
}

impl<'r> Index<'r> {
    /// Returns a new one without any file, whose objects are stored in `objects`.
    pub(super) fn new(root: &'r Path, objects: &'r Path, stored: PathBuf) -> Result<Self, Unknown> {
        let folder = tempfile::Builder::new()
            .prefix(".index-")
            .tempdir_in(objects)
            .map_err(|error| unwritable(objects, &error))?;
        Ok(Self { root, objects, folder, stored, attributes: OnceCell::new() })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// Returns a command that works on it.
    pub(super) fn git(&self, args: &[&str]) -> Result<Command, Unknown> {
        let mut git = command::git(self.root, self.objects, args)?;
        git.env("GIT_INDEX_FILE", self.path())
            .env("GIT_OBJECT_DIRECTORY", self.objects)
            .env(OBJECTS, with(&self.stored))
            .envs(self.attributes.get().map(|tree| ("GIT_ATTR_SOURCE", tree)));
        Ok(git)
    }

    /// Runs a command that works on it. Returns what it prints.
    pub(super) fn write(&self, args: &[&str]) -> Result<String, Unknown> {
        let printed = run(&mut self.git(args)?)?.map_err(failed)?;
        Ok(printed.trim_end().to_owned())
    }

    /// Changes it as an option of `git update-index` says, which gets these names or entries. A zero byte is between two of them.
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
