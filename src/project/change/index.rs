//! An index of its own, in which git puts together the tree of what is there now.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use tempfile::TempDir;

use super::command::{self, failed, input, no_temporary, output, run, text};
use super::terms::Unknown;
use crate::disk;
use crate::project::git::failure;
use crate::store::git_dir;

/// The command that lists the files of an index.
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

/// The command that adds what is in the work tree.
const ADD: [&str; 6] = [
    "add",
    "--all",
    "--sparse",
    "--ignore-errors",
    "--pathspec-file-nul",
    "--pathspec-from-file=-",
];

/// An index of its own, in which git puts together a tree. It is removed with this value.
#[derive(Debug)]
pub(super) struct Index {
    /// The top of the work tree.
    root: PathBuf,
    folder: TempDir,
}

/// What is in the file of an index, and the time of its last change. Git reads a file that is not older than its index, since
/// its stat data may hide a change made in the same second; a copy that seems newer would hide it for good.
#[derive(Debug)]
pub(super) struct Entries {
    text: Vec<u8>,
    time: SystemTime,
}

impl Entries {
    /// Returns those of git's own index: their stat data saves reading what has not changed.
    pub(super) fn own(root: &Path) -> Result<Option<Self>, Unknown> {
        let own = git_dir::of(root).map(|(own, _)| own.join("index"));
        let read = own.map_or(Ok(None), |own| Self::read(&own));
        read.map_err(|error| failed(format!("git's index cannot be read: {error}")))
    }

    fn read(index: &Path) -> io::Result<Option<Self>> {
        let Some(time) = disk::modified(index)? else {
            return Ok(None);
        };
        Ok(Some(Self { text: fs::read(index)?, time }))
    }

    fn write(&self, index: &Path) -> io::Result<()> {
        fs::write(index, &self.text)?;
        File::options().write(true).open(index)?.set_modified(self.time)
    }
}

impl Index {
    /// Returns a new one with these entries.
    pub(super) fn new(root: &Path, entries: Option<&Entries>) -> Result<Self, Unknown> {
        let folder = tempfile::tempdir().map_err(no_temporary)?;
        let index = Self { root: root.to_owned(), folder };
        entries.map_or(Ok(()), |it| it.write(&index.path())).map_err(no_temporary)?;
        Ok(index)
    }

    /// Returns its entries.
    pub(super) fn entries(&self) -> Result<Option<Entries>, Unknown> {
        Entries::read(&self.path()).map_err(no_temporary)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// Returns a command that works on it.
    fn git(&self, args: &[&str]) -> Result<Command, Unknown> {
        let mut git = command::git(&self.root, args)?;
        git.env("GIT_INDEX_FILE", self.path());
        Ok(git)
    }

    /// Lists its files, each with a letter and what is in it, and what is in the work tree and not in it.
    pub(super) fn list(&self) -> Result<Vec<u8>, Unknown> {
        run(&mut self.git(&LIST)?)
    }

    /// Runs a command that works on it. Returns what it prints.
    pub(super) fn run(&self, args: &[&str]) -> Result<String, Unknown> {
        Ok(text(&run(&mut self.git(args)?)?))
    }

    /// Adds all that is in the work tree but these files. Returns whether git could store all of it.
    pub(super) fn add_all_but(&self, names: &[&[u8]]) -> Result<bool, Unknown> {
        let excluded = names.iter().map(|name| [b"\0:(exclude,literal,top)", *name].concat());
        let specs = [&b":/"[..], &excluded.collect::<Vec<_>>().concat()].concat();
        let mut add = self.git(&ADD)?;
        let added = output(add.stdin(input(&specs)?))?;
        match added.status.code() {
            Some(0 | 1) => Ok(added.status.success()),
            _ => Err(failed(failure(&add, &added))),
        }
    }

    /// Changes it as an option of `git update-index` says, which gets these names or entries, with a zero byte between two.
    pub(super) fn update(&self, option: &str, names: &[u8]) -> Result<(), Unknown> {
        if names.is_empty() {
            return Ok(());
        }
        let mut git = self.git(&["update-index", "-z", "--add", "--replace", option])?;
        git.args((option != "--index-info").then_some("--stdin"));
        run(git.stdin(input(names)?)).map(drop)
    }
}
