//! An index of its own, in which git puts together the tree of what is there now.

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
}

impl<'r> Index<'r> {
    /// Returns a new one without any file, whose objects are stored in `objects`.
    pub(super) fn new(root: &'r Path, objects: &'r Path, stored: PathBuf) -> Result<Self, Unknown> {
        let folder = tempfile::Builder::new()
            .prefix(".index-")
            .tempdir_in(objects)
            .map_err(|error| unwritable(objects, &error))?;
        Ok(Self { root, objects, folder, stored })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// Returns a command that works on it.
    pub(super) fn git(&self, args: &[&str]) -> Result<Command, Unknown> {
        let mut git = command::git(self.root, self.objects, args)?;
        git.env("GIT_INDEX_FILE", self.path())
            .env("GIT_OBJECT_DIRECTORY", self.objects)
            .env(OBJECTS, with(&self.stored));
        Ok(git)
    }

    /// Runs a command that works on it. Returns what it prints.
    pub(super) fn write(&self, args: &[&str]) -> Result<String, Unknown> {
        let printed = run(&mut self.git(args)?)?.map_err(failed)?;
        Ok(printed.trim_end().to_owned())
    }

    /// Takes these names out of it, whatever it says of them. A zero byte is between two of them.
    pub(super) fn remove(&self, names: &[u8]) -> Result<(), Unknown> {
        let list = self.folder.path().join("names");
        let written = fs::write(&list, names).and_then(|()| fs::File::open(&list));
        let list = written.map_err(|error| unwritable(&list, &error))?;
        let mut git = self.git(&["update-index", "-z", "--force-remove", "--stdin"])?;
        run(git.stdin(list))?.map(drop).map_err(failed)
    }
}
