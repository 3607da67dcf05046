//! What this machine keeps about the instances of a project: the locks and the journals.
//! (`state.json` is the project's: `run::write` writes it.) No file here is believed that was not made on this machine.
//!
//! It is kept in the git directory of the work tree, where neither `git clean` nor a clone reaches it, or outside git beside
//! the instances. Where the git directory cannot be written, as in the sandbox of an agent's shell, what commands say is kept
//! beside the instances, too, and no verdict. The locks are there, where everyone can take them.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::disk;
use crate::hash;
use crate::os::regular::open_to_read;
use crate::os::signals;

pub(crate) mod driver;
pub(crate) mod facts;
pub(crate) mod git_dir;
pub(crate) mod journal;
mod lines;
pub(crate) mod lock;
pub(crate) mod owed;
pub(crate) mod postponed;
pub(crate) mod running;
pub(crate) mod turn;

/// The folder of the lock files, in the chart's home.
pub(crate) const LOCKS: &str = ".locks";

/// The folder of this program in a git directory.
const FOLDER: &str = "taskie";

/// Where this machine keeps what it knows about the instances in one home.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    /// The home's own folder in the git directory.
    pub(crate) private: Option<PathBuf>,
    /// The lock folder, beside the instances.
    pub(crate) beside: PathBuf,
}

impl Store {
    /// Returns the store of the home called `home` in the project at `root`, whose path has no link.
    pub(crate) fn of(root: &Path, home: &str) -> Self {
        let home = root.join(home);
        let git_dir = git_dir::around(root).and_then(|tree| tree.git_dir);
        // Two work trees that share a git directory, such as copies of one, share nothing.
        let key = hash::number(home.as_os_str().as_encoded_bytes());
        Self {
            private: git_dir.map(|dir| dir.join(FOLDER).join(format!("{key:016x}"))),
            beside: home.join(LOCKS),
        }
    }

    /// Returns the folders that are read; the first one that can be written is written.
    fn folders(&self) -> impl Iterator<Item = &Path> {
        self.private.iter().chain([&self.beside]).map(PathBuf::as_path)
    }

    /// Calls `write` with the folder that is written.
    fn write(
        &self,
        is_protected: impl Fn() -> bool,
        write: impl Fn(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(private) = &self.private {
            let written = make_private(private).and_then(|()| write(private));
            if written.is_ok() || is_protected() {
                return written;
            }
        }
        make_folder(&self.beside)?;
        write(&self.beside)
    }

    /// Removes what is kept about an instance that is gone.
    pub(crate) fn forget(&self, instance: &str) {
        let is_of_instance = |name: &OsStr| {
            let name = Path::new(name).file_stem().and_then(OsStr::to_str);
            name == Some(instance)
        };
        for folder in self.folders() {
            disk::sweep(folder, Duration::ZERO, is_of_instance);
        }
    }
}

/// Creates a home's folder in a git directory. A link is never followed, and a git directory that is gone stays gone.
fn make_private(folder: &Path) -> io::Result<()> {
    signals::report_file_size();
    for folder in folder.parent().into_iter().chain([folder]) {
        if !exists(folder)? {
            match fs::create_dir(folder) {
                // Another process was faster.
                Err(_) if folder.is_dir() => {}
                made => made?,
            }
        }
    }
    Ok(())
}

/// Opens a file of a folder of the store for reading, and returns it with its metadata.
fn open_existing(folder: &Path, name: &str, kind: &str) -> io::Result<(File, Metadata)> {
    // Most files don't exist, so the folder comes second.
    let opened = open_to_read(&path(folder, name, kind))?;
    exists(folder)?;
    Ok(opened)
}

/// Returns the path of a file in a folder of the store.
fn path(folder: &Path, name: &str, kind: &str) -> PathBuf {
    folder.join(format!("{name}.{kind}"))
}

/// Makes git ignore the lock folder, also if the file was deleted. An existing file stays as it is.
fn ignore(folder: &Path) -> io::Result<()> {
    let path = folder.join(".gitignore");
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    match disk::create_for_now(&path, |file| file.write_all(b"*\n")) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Returns whether a folder of the store exists. The error says what else is in its place: a project may come from anyone, and a
/// link in it must not make us read or write files of another project.
fn exists(folder: &Path) -> io::Result<bool> {
    let Ok(found) = folder.symlink_metadata() else {
        return Ok(false);
    };
    if found.is_symlink() {
        return Err(io::Error::other("its folder is a symbolic link"));
    }
    match found.is_dir() {
        true => Ok(true),
        false => Err(io::Error::other("its folder is not a directory; remove what is there")),
    }
}

/// Creates the lock folder if it does not exist.
fn make_folder(folder: &Path) -> io::Result<()> {
    signals::report_file_size();
    if !exists(folder)? {
        fs::create_dir_all(folder)?;
    }
    ignore(folder)
}
