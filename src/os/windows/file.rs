//! What a file is: which one, whose, and who may do what with it. Access control lists are not read.

use std::env::consts::EXE_SUFFIX;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use winapi_util::file::information;

/// Names of files that differ only in case are those of different files.
pub(crate) const CASE_MATTERS: bool = false;

/// The variable with the user's folder.
pub(crate) const HOME: &str = "USERPROFILE";

/// Opens a symbolic link itself, not its target.
pub(super) const OPEN_LINK: u32 = 0x0020_0000;

/// Opens a directory too.
const OPEN_FOLDER: u32 = 0x0200_0000;

/// Returns the number of an open file, which no other file on its file system has.
pub(crate) fn number(file: &File, _: &Metadata) -> io::Result<u64> {
    Ok(information(file)?.file_index())
}

/// Returns whether `path` is this very file, and no link to it.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let id = |file: &File| {
        let found = information(file).ok()?;
        Some((found.volume_serial_number(), found.file_index()))
    };
    let there = OpenOptions::new().access_mode(0).custom_flags(OPEN_LINK | OPEN_FOLDER).open(path);
    there.is_ok_and(|there| id(file) == id(&there))
}

/// Identifies one version of a file.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Version {
    pub(crate) len: u64,
    created: u64,
    modified: u64,
}

impl Version {
    /// Returns the version of the file with this metadata.
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self { len: meta.len(), created: meta.creation_time(), modified: meta.last_write_time() }
    }

    /// Returns when the file was changed last; never, because that can be hidden.
    pub(crate) fn changed_at(&self) -> Option<SystemTime> {
        None
    }
}

/// Returns whether the file belongs to the user: taken for granted.
pub(crate) fn is_ours(_: &Metadata) -> bool {
    true
}

/// Returns the number of the user to whom the file belongs: the same for all files.
pub(crate) fn owner(_: &Metadata) -> u32 {
    user()
}

/// Returns the number of the user.
pub(crate) fn user() -> u32 {
    0
}

/// Returns whether every user of this machine may write to the file: taken to be false.
pub(crate) fn is_open_to_all(_: &Metadata) -> bool {
    false
}

/// Returns whether the file may be run as a program: its name says so.
pub(crate) fn is_executable(_: &Metadata) -> bool {
    true
}

/// Returns whether the user may write to the file or directory at `path`.
pub(crate) fn is_writable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_dir() || !meta.permissions().readonly())
}

/// Leaves a new file with the permissions that it has from its folder.
pub(crate) fn copy_permissions(_old: &Metadata, _new: &File) -> io::Result<()> {
    Ok(())
}

/// Lets a temporary file have the permissions of any other file, as it has anyway.
pub(crate) fn share<'b, 'p>(
    builder: &'b mut tempfile::Builder<'p, 'p>,
) -> &'b mut tempfile::Builder<'p, 'p> {
    builder
}

/// Creates a temporary folder. That of a user is theirs alone here.
pub(crate) fn private_tempdir(prefix: &str) -> io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix(prefix).tempdir()
}

/// Creates a folder, with those above it: in the user's own folder, nobody else may look into it.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Renames a file; an error if the new name exists. The write lock keeps our own processes apart.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match to.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Fills `bytes` with the file's contents from `offset` on, as far as there are any; returns how many there are. The
/// file's own position stays.
pub(crate) fn read_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let before = file.stream_position()?;
    file.seek(SeekFrom::Start(offset))?;
    let count = file.read(bytes)?;
    file.seek(SeekFrom::Start(before))?;
    Ok(count)
}

/// Writes `bytes` at `offset`.
pub(crate) fn write_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// Returns a path as texts write it, with slashes.
pub(crate) fn slashed(path: PathBuf) -> PathBuf {
    PathBuf::from(path.to_string_lossy().replace('\\', "/"))
}

/// Returns a path that another program printed.
pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Lets the program `exe` also be started under the name `name` in `folder`. It is a copy: only some users may create
/// links.
pub(crate) fn stand_in(exe: &Path, folder: &Path, name: &str) -> io::Result<()> {
    let file = folder.join(format!("{name}{EXE_SUFFIX}"));
    fs::copy(exe, file).map(|_| ())
}
