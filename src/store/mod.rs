//! What this machine keeps about the instances of a project: who drives them, the locks, the journal, and the records. None
//! of it is part of the project, and no file here is believed that was not made on this machine.
//!
//! It is kept in the git directory of the work tree, where neither `git clean` nor a clone reaches it. Outside git, and
//! where that directory cannot be written, such as in a sandbox, it is kept beside the instances. Both are always read,
//! because the agent's shell may be in a sandbox while the hook is not. The locks are beside the instances, where
//! everyone can take them.

use std::io;
use std::path::{Path, PathBuf};

use crate::hash::Hash;
use crate::os::signals;
use git_dir::WorkTree;

pub(crate) mod driver;
pub(crate) mod git_dir;
pub(crate) mod journal;
mod lines;
pub(crate) mod lock;
pub(crate) mod owed;
pub(crate) mod postponed;
mod record;
pub(crate) mod running;

/// The folder of this program in a git directory.
const FOLDER: &str = "taskie";

/// Where this machine keeps what it knows about the instances in one home.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    home: PathBuf,
    /// The home's own folder in the git directory.
    private: Option<PathBuf>,
    /// The lock folder, beside the instances.
    beside: PathBuf,
}

impl Store {
    /// Returns the store of the home called `home` in the project at `root`.
    pub(crate) fn of(root: &Path, home: &str) -> Self {
        Self::within(git_dir::around(root).as_ref(), root, home)
    }

    /// Does the same if the work tree around `root` is known.
    fn within(tree: Option<&WorkTree>, root: &Path, home: &str) -> Self {
        let home = root.join(home);
        let git_dir = tree.and_then(|tree| tree.git_dir.as_deref());
        Self {
            private: git_dir.map(|dir| dir.join(FOLDER).join(key(&home))),
            beside: home.join(lock::FOLDER),
            home,
        }
    }

    /// Returns the folders that are read; the first one that can be written is written.
    fn folders(&self) -> impl Iterator<Item = &Path> {
        self.private
            .iter()
            .chain([&self.beside])
            .map(PathBuf::as_path)
    }

    /// Calls `write` with the folder that is written.
    fn write<T>(&self, mut write: impl FnMut(&Path) -> io::Result<T>) -> io::Result<T> {
        let kept = self.private.as_deref().map(|folder| {
            make_private(folder)?;
            write(folder)
        });
        match kept {
            Some(Ok(written)) => Ok(written),
            _ => {
                lock::make_folder(&self.home)?;
                write(&self.beside)
            }
        }
    }

    /// Returns the folder that is written, and why it is not the one in the git directory, if there is one.
    pub(crate) fn place(&self) -> (&Path, Option<String>) {
        match self
            .private
            .as_deref()
            .map(|folder| (folder, try_out(folder)))
        {
            Some((folder, Ok(()))) => (folder, None),
            Some((_, Err(why))) => (&self.beside, Some(why.to_string())),
            None => (&self.beside, None),
        }
    }
}

/// Returns the name of a home's folder: two work trees that share a git directory, such as copies of one, share nothing.
fn key(home: &Path) -> String {
    // A home that is gone may still be known.
    let real = home.canonicalize().or_else(|_| {
        let name = home.file_name().unwrap_or_default();
        let parent = home.parent().unwrap_or(home).canonicalize();
        parent.map(|parent| parent.join(name))
    });
    let real = real.unwrap_or_else(|_| home.to_owned());
    let mut hash = Hash::default();
    hash.add(real.as_os_str().as_encoded_bytes());
    format!("{:016x}", hash.number())
}

/// Creates a folder in a git directory. A link is never followed.
fn make_private(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        lock::refuse_link(parent)?;
    }
    lock::refuse_link(folder)?;
    signals::report_file_size();
    match folder.is_dir() {
        true => Ok(()),
        false => std::fs::create_dir_all(folder),
    }
}

/// Returns why nothing can be written to a folder. Leaves nothing there.
fn try_out(folder: &Path) -> io::Result<()> {
    let existing = folder.ancestors().find(|dir| dir.exists());
    tempfile::tempfile_in(existing.unwrap_or(folder)).map(drop)
}
