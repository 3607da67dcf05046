//! Opens files in folders that others may write to. A symbolic link is not followed.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::Path;

use super::file::OPEN_LINK;

/// Opens a regular file for reading, and returns it with its metadata.
pub(crate) fn open_to_read(path: &Path) -> io::Result<(File, Metadata)> {
    open(path, OpenOptions::new().read(true))
}

/// Does the same for reading and appending.
pub(crate) fn open_to_append(path: &Path) -> io::Result<(File, Metadata)> {
    open(path, OpenOptions::new().read(true).append(true))
}

/// Does the same for reading and writing; creates the file if necessary.
pub(crate) fn open_to_write(path: &Path) -> io::Result<(File, Metadata)> {
    open(path, OpenOptions::new().read(true).write(true).create(true))
}

/// Creates or empties a regular file. Whoever may read the folder's files may read it.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    // Emptied only when it is known to be no link.
    let (file, _) = open_to_write(path)?;
    file.set_len(0)?;
    Ok(file)
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<(File, Metadata)> {
    let file = options.custom_flags(OPEN_LINK).open(path)?;
    let meta = file.metadata()?;
    match meta.file_type() {
        kind if kind.is_file() => Ok((file, meta)),
        kind if kind.is_symlink() => Err(io::Error::other("it is a symbolic link")),
        _ => Err(io::Error::other("it is not a regular file")),
    }
}
