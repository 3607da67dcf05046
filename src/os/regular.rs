//! Opens files in folders that others may write to. A symbolic link is not followed, and a FIFO does not block.
//! (With [`std::fs::OpenOptions`], each file would take one system call more.)

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

/// Opens a regular file for reading, and returns it with its metadata.
pub(crate) fn open_to_read(path: &Path) -> io::Result<(File, Metadata)> {
    open(path, OFlags::RDONLY, 0)
}

/// Does the same for reading and appending.
pub(crate) fn open_to_append(path: &Path) -> io::Result<(File, Metadata)> {
    open(path, OFlags::RDWR | OFlags::APPEND, 0)
}

/// Does the same for reading and writing; creates the file if necessary.
pub(crate) fn open_to_write(path: &Path) -> io::Result<(File, Metadata)> {
    open(path, OFlags::RDWR | OFlags::CREATE, 0o666)
}

/// Creates or empties a regular file. Only the user may read it, if it is new. One that has a second name is replaced:
/// under that name it may be any file of the user's.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE;
    let (file, meta) = open(path, flags, 0o600)?;
    if meta.nlink() > 1 {
        fs::remove_file(path)?;
        return open(path, flags | OFlags::EXCL, 0o600).map(|(file, _)| file);
    }
    file.set_len(0)?;
    Ok(file)
}

fn open(path: &Path, flags: OFlags, mode: u16) -> io::Result<(File, Metadata)> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode.into());
    let opened = retry_on_intr(|| rustix::fs::open(path, flags, mode));
    let file = opened.map_err(|error| match error {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_two_names_keeps_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let [precious, log] = ["precious", "log"].map(|name| folder.path().join(name));
        fs::write(&precious, "precious").unwrap();
        fs::hard_link(&precious, &log).unwrap();
        create_private(&log).unwrap();
        let read = |path| fs::read_to_string(path).unwrap();
        assert_eq!((read(&precious), read(&log)), ("precious".into(), String::new()));
        fs::write(&log, "of the last run").unwrap();
        create_private(&log).unwrap();
        assert_eq!(read(&log), "");
    }
}
