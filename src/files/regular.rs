//! Opens files in folders that others may write to.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, retry_on_intr};

/// Opens a regular file, and returns it with its metadata. A symbolic link is not followed, and a FIFO does not block.
/// (With [`std::fs::OpenOptions`], each file would take one system call more.)
pub fn open_regular(path: &Path, flags: OFlags) -> io::Result<(File, Metadata)> {
    create_regular(path, flags, 0o666)
}

/// Does the same; a file that it creates gets these permissions.
pub fn create_regular(path: &Path, flags: OFlags, mode: u16) -> io::Result<(File, Metadata)> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode.into());
    let file = retry_on_intr(|| open(path, flags, mode)).map_err(|error| match error {
        Errno::LOOP => io::Error::other("it is a symbolic link"),
        error => error.into(),
    })?;
    let file = File::from(file);
    let meta = file.metadata()?;
    if meta.is_file() {
        Ok((file, meta))
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}
