//! Opens files in folders that others may write to.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens a regular file, and returns it with its metadata. A symbolic link is not followed, and a FIFO does not block.
pub fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<(File, Metadata)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(|error| {
            if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
                io::Error::other("it is a symbolic link")
            } else {
                error
            }
        })?;
    let meta = file.metadata()?;
    if meta.is_file() {
        Ok((file, meta))
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}
