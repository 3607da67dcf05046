//! Reads and writes files of a project as if the project came from a stranger.
//!
//! Reading stops at a limit, and no link out of the project is followed. A file that is written appears completely or
//! not at all, and keeps only the permission bits of the file that it replaces.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::os::file::{is_open_to_all, is_ours, user};
use crate::os::folder::{self, Entry};
use crate::os::regular::open_to_read;
use crate::os::signals;

/// The most bytes that are read from a file.
const LIMIT: u64 = 16 * 1024 * 1024;

/// The name of a new file before it gets its final name starts with this.
const NEW: &str = ".new-";

/// A new file that a killed process has left behind is removed when it is this old.
const LEFT_BEHIND: Duration = Duration::from_secs(60);

/// Returns the contents of a file in the project at `root`; `None` if it does not exist.
pub(crate) fn read(root: &Path, path: &Path) -> io::Result<Option<Vec<u8>>> {
    match read_regular(path) {
        Err(_) if path.is_symlink() => {}
        result => return result,
    }
    let target = path.canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            io::Error::other("it is a symbolic link to a file that does not exist")
        }
        _ => error,
    })?;
    if !target.starts_with(root.canonicalize()?) {
        return Err(io::Error::other("it is a symbolic link out of the project"));
    }
    read_regular(&target)
}

/// Does the same, but follows no symbolic link.
pub(crate) fn read_regular(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some((file, meta)) = found(open_to_read(path))? else { return Ok(None) };
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len().min(LIMIT)).unwrap_or(0));
    // One that says how long it is need not be asked whether that was all.
    file.take(meta.len().wrapping_sub(1).min(LIMIT) + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT {
        return Err(too_large());
    }
    Ok(Some(bytes))
}

/// Returns the text of a file that a chart names, or that is next to one. A link is followed.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    match fs::metadata(path)?.is_file() {
        true => named_text(path),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Returns the text of a file that the user has named, which may be a pipe.
pub(crate) fn named_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(LIMIT + 1).read_to_string(&mut text)?;
    match read as u64 > LIMIT {
        true => Err(too_large()),
        false => Ok(text),
    }
}

fn too_large() -> io::Error {
    io::Error::other("it is larger than 16 MiB")
}

/// Returns what is directly in a folder; nothing if it does not exist.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    Ok(found(folder::entries(folder))?.unwrap_or_default())
}

/// Returns when a file was modified; `None` if it does not exist. The target of a link does not count.
pub(crate) fn modified(path: &Path) -> io::Result<Option<SystemTime>> {
    found(fs::symlink_metadata(path).and_then(|meta| meta.modified()))
}

/// Returns what was found; `None` if it does not exist.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Returns whether an answer and its review exist and the answer is not older, by when they were modified, or by when the
/// review `ended` if that is known: git writes files in any order.
pub(crate) fn is_as_new(
    answer: Option<SystemTime>,
    review: Option<SystemTime>,
    ended: impl FnOnce() -> Option<SystemTime>,
) -> bool {
    let (Some(answer), Some(review)) = (answer, review) else {
        return false;
    };
    answer >= review || ended().is_some_and(|ended| answer >= ended)
}

/// Replaces the contents of `path` with `text`. The caller holds the lock that covers the file. After a power failure, the
/// file may have its old contents, but never a part of the new ones.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    signals::report_file_size();
    let (mut file, new) = open_new(path)?;
    let written = keep_permissions(path, &file)
        .and_then(|()| file.write_all(text))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&new);
    }
    written
}

/// Returns an error if the contents of `path` cannot be replaced. The caller holds the lock that covers the file.
pub(crate) fn try_to_replace(path: &Path) -> io::Result<()> {
    let (mut file, new) = open_new(path)?;
    // A disk that is full still makes an empty one: this is the least that a file with something in it takes on most disks.
    let written = file.write_all(&[0; 4096]);
    fs::remove_file(new)?;
    written
}

/// Opens the file that is to replace `path`.
fn open_new(path: &Path) -> io::Result<(File, PathBuf)> {
    let new = beside(path);
    // Left behind by a process that was killed while writing; whatever it is, it is neither kept nor followed.
    found(fs::remove_file(&new))?;
    let file = OpenOptions::new().write(true).create_new(true).open(&new)?;
    Ok((file, new))
}

/// Creates a file; an error if it exists.
pub(crate) fn create(path: &Path, text: &[u8]) -> io::Result<()> {
    create_for_now(path, |file| file.write_all(text).and_then(|()| file.sync_all()))
}

/// Does the same with a file that `fill` writes, but does not wait until the disk has it.
pub(crate) fn create_for_now(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    signals::report_file_size();
    let folder = path.parent().unwrap_or(Path::new("."));
    // What killed processes have left behind.
    sweep(folder, LEFT_BEHIND, |name| name.as_encoded_bytes().starts_with(NEW.as_bytes()));
    // The user's umask is applied, as to any other file.
    let shared = Permissions::from_mode(0o666);
    let mut new = tempfile::Builder::new().permissions(shared).prefix(NEW).tempfile_in(folder)?;
    fill(new.as_file_mut())?;
    new.persist_noclobber(path)?;
    Ok(())
}

/// Returns the temporary name of a file. It is always the same, so that killed processes leave at most one.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".new");
    path.with_file_name(name)
}

/// Gives a new file the permissions of the one that it replaces, but only if that file is the user's own, and only
/// the plain permission bits. Otherwise, the maker of the old file could have the user run or share the new one.
fn keep_permissions(old: &Path, new: &File) -> io::Result<()> {
    match old.symlink_metadata() {
        Ok(meta) if meta.is_file() && is_ours(&meta) => {
            new.set_permissions(Permissions::from_mode(meta.mode() & 0o777))
        }
        _ => Ok(()),
    }
}

/// Writes a folder to the disk, so that the names of its files are kept too. Not every file system can do this.
pub(crate) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Removes the files in a folder that are older than `limit` and whose names `is_meant` picks.
pub(crate) fn sweep(folder: &Path, limit: Duration, is_meant: impl Fn(&OsStr) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = || modified(&entry.path()).ok()??.elapsed().ok();
        if is_meant(&entry.file_name()) && age().is_some_and(|age| age > limit) {
            // The next sweep tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns why a directory is not used: it belongs to another user, or others may write to it.
pub(crate) fn distrust(dir: &Path) -> Option<String> {
    let meta = dir.metadata().ok()?;
    if !is_ours(&meta) {
        let (owner, user) = (meta.uid(), user());
        return Some(format!(
            "it belongs to another user (uid {owner}, and you are {user}); `sudo chown -R {user} {}` makes it yours",
            dir.display()
        ));
    }
    is_open_to_all(&meta).then(|| {
        format!(
            "every user of this machine may write to it; `chmod o-w {}` changes that",
            dir.display()
        )
    })
}

/// Returns why what the user keeps outside of projects is not used: the same, but the administrator's is.
pub(crate) fn distrust_own(path: &Path) -> Option<String> {
    let meta = path.metadata().ok()?;
    let is_safe = meta.uid() == 0 && !is_open_to_all(&meta);
    distrust(path).filter(|_| !is_safe)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A process that reads a file while it is replaced sees the old text or the new one.
    #[test]
    fn a_file_is_there_at_every_moment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, b"0").unwrap();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    assert_eq!(fs::read(&path).map(|text| text.len()).ok(), Some(1));
                }
            });
            (0..300).for_each(|n| replace(&path, &[b'0' + n as u8 % 10]).unwrap());
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            reader.join().unwrap();
        });
    }

    #[test]
    fn permission_bits_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (old, new) in [(0o4755, 0o755), (0o2664, 0o664), (0o1600, 0o600)] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(old)).unwrap();
            replace(&path, b"new").unwrap();
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, new);
            assert_eq!(fs::read(&path).unwrap(), b"new");
        }
        // Neither a file of another user nor the target of a link passes on its permissions.
        fs::remove_file(&path).unwrap();
        symlink("/bin/sh", &path).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(path.symlink_metadata().unwrap().mode() & 0o7111, 0);
    }

    #[test]
    fn what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir(&root).unwrap();
        let outside = folder.path().join("outside");
        fs::write(&outside, "secret").unwrap();
        let path = root.join("file");
        let read = || read(&root, &path).map_err(|error| error.to_string());
        assert_eq!(read(), Ok(None));
        fs::write(&path, "four").unwrap();
        assert_eq!(read(), Ok(Some(b"four".to_vec())));
        let large = root.join("large");
        let size = |bytes| File::create(&large).and_then(|file| file.set_len(bytes));
        size(LIMIT).unwrap();
        assert!(read_regular(&large).is_ok());
        size(LIMIT + 1).unwrap();
        assert_eq!(read_regular(&large).unwrap_err().to_string(), "it is larger than 16 MiB");
        fs::rename(&path, root.join("other")).unwrap();
        for (target, expected) in [
            (root.join("other"), Ok(Some(b"four".to_vec()))),
            (PathBuf::from("other"), Ok(Some(b"four".to_vec()))),
            (outside, Err("it is a symbolic link out of the project")),
            (
                PathBuf::from("/proc/self/pagemap"),
                Err(match cfg!(target_os = "linux") {
                    true => "it is a symbolic link out of the project",
                    false => "it is a symbolic link to a file that does not exist",
                }),
            ),
            (PathBuf::from("nowhere"), Err("it is a symbolic link to a file that does not exist")),
        ] {
            symlink(&target, &path).unwrap();
            assert_eq!(read(), expected.map_err(str::to_owned), "{target:?}");
            fs::remove_file(&path).unwrap();
        }
        fs::create_dir(&path).unwrap();
        assert_eq!(read(), Err("it is not a regular file".to_owned()));
    }

    #[test]
    fn leftovers_of_killed_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (old, young) = (folder.path().join(".new-old"), folder.path().join(".new-young"));
        for path in [&old, &young] {
            fs::write(path, "").unwrap();
        }
        let long_ago = SystemTime::now() - 2 * LEFT_BEHIND;
        File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
        create(&folder.path().join("file"), b"text").unwrap();
        assert!(!old.exists() && young.exists());
        assert!(create(&folder.path().join("file"), b"other").is_err());
        assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"text");
    }
}
