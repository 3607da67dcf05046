//! What a file is: which one, whose, and who may do what with it.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Access, CWD, RenameFlags, access, renameat_with};
use rustix::io::Errno;

/// Names of files that differ only in case are those of different files.
pub(crate) const CASE_MATTERS: bool = cfg!(target_os = "linux");

/// Returns whether `path` is this very file, and no link to it.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let id = |meta: io::Result<Metadata>| meta.ok().map(|meta| (meta.dev(), meta.ino()));
    id(file.metadata()) == id(path.symlink_metadata())
}

/// Identifies one version of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Version {
    inode: u64,
    pub(crate) len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Version {
    /// Returns the version of the file with this metadata.
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            inode: meta.ino(),
            len: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

/// Returns whether the file belongs to the user.
pub(crate) fn is_ours(meta: &Metadata) -> bool {
    meta.uid() == user()
}

/// Returns the number of the user.
pub(crate) fn user() -> u32 {
    static USER: OnceLock<u32> = OnceLock::new();
    *USER.get_or_init(|| rustix::process::geteuid().as_raw())
}

/// Returns whether every user of this machine may write to the file.
pub(crate) fn is_open_to_all(meta: &Metadata) -> bool {
    meta.mode() & 0o002 != 0
}

/// Returns whether the file may be run as a program.
pub(crate) fn is_executable(meta: &Metadata) -> bool {
    meta.mode() & 0o111 != 0
}

/// Returns whether the user may write to the file or directory at `path`.
pub(crate) fn is_writable(path: &Path) -> bool {
    access(path, Access::WRITE_OK).is_ok()
}

/// Creates a folder, with those above it, that nobody else may look into, whatever the umask is.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true).mode(0o700).create(path)
}

/// Renames a file; an error if the new name exists.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every file system can do this in one step; the write lock keeps our own processes apart.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match to.symlink_metadata() {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(from, to),
        },
        other => Ok(other?),
    }
}

/// Returns a path that another program printed.
pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
