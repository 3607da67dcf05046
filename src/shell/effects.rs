//! Carries out what a decision does to files.
//!
//! Files come first and the state after them: a process that is killed in between leaves files that the next command
//! or stop finds where they are. A file appears whole or not at all, nothing is written over, no symbolic link is
//! followed, and only an instance's own directory is ever removed.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::chart::Scope;
use crate::engine::decision::Effect;
use crate::shell::find::{self, name_flaw};

/// An effect that could not be carried out.
#[derive(Debug)]
pub(crate) struct Failed {
    /// What was to be done, and what was done before.
    pub(crate) what: String,
    pub(crate) error: io::Error,
}

/// Carries out `effects`, in order; the first that fails ends it. The caller holds the write lock.
pub(crate) fn carry_out(root: &Path, scope: &Scope, effects: &[Effect]) -> Result<(), Failed> {
    let place = Files { root, scope };
    let mut done: Vec<String> = Vec::new();
    for effect in effects {
        let (what, result) = match effect {
            Effect::Write { path, text } => {
                (format!("{path} cannot be written"), place.write(path, text))
            }
            Effect::Ensure { path, line } => (
                format!("{path} cannot be written"),
                place.ensure(path, line),
            ),
            Effect::Rename { from, to } => (
                format!("{from} cannot be renamed to {to}"),
                place.rename(from, to),
            ),
            Effect::Remove { path } => (format!("{path} cannot be removed"), place.remove(path)),
        };
        if let Err(error) = result {
            let before = if done.is_empty() {
                String::new()
            } else {
                format!(" (after {})", done.join(", "))
            };
            return Err(Failed {
                what: format!("{what}{before}"),
                error,
            });
        }
        done.push(in_words(effect));
    }
    Ok(())
}

/// What an effect does.
pub(super) fn in_words(effect: &Effect) -> String {
    match effect {
        Effect::Write { path, .. } => format!("writing {path}"),
        Effect::Ensure { path, .. } => format!("completing {path}"),
        Effect::Rename { from, to } => format!("renaming {from} to {to}"),
        Effect::Remove { path } => format!("removing {path}"),
    }
}

struct Files<'p> {
    root: &'p Path,
    scope: &'p Scope,
}

impl Files<'_> {
    /// The whole path of a file. No folder on the way is a link: a project may come from anywhere.
    fn path(&self, path: &str) -> io::Result<PathBuf> {
        let folders = Path::new(path).ancestors().skip(1);
        for folder in folders.filter(|folder| !folder.as_os_str().is_empty()) {
            if self.root.join(folder).is_symlink() {
                let why = format!("{} is a symbolic link", folder.display());
                return Err(io::Error::other(why));
            }
        }
        Ok(self.root.join(path))
    }

    /// The same, with its folder made.
    fn new_path(&self, path: &str) -> io::Result<(PathBuf, PathBuf)> {
        let path = self.path(path)?;
        let folder = path.parent().unwrap_or(self.root).to_owned();
        fs::create_dir_all(&folder)?;
        Ok((path, folder))
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let (path, folder) = self.new_path(path)?;
        new_file(&folder, text)?.persist_noclobber(path)?;
        Ok(())
    }

    fn ensure(&self, path: &str, line: &str) -> io::Result<()> {
        let (path, folder) = self.new_path(path)?;
        let old = match fs::symlink_metadata(&path) {
            Ok(meta) if !meta.is_file() => return Err(io::Error::other("it is no regular file")),
            Ok(meta) => Some((fs::read(&path)?, meta.permissions())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let (mut text, permissions) = match old {
            Some((text, permissions)) => (text, Some(permissions)),
            None => (Vec::new(), None),
        };
        let is_there = |known: &[u8]| known.strip_suffix(b"\r").unwrap_or(known) == line.as_bytes();
        if text.split(|byte| *byte == b'\n').any(is_there) {
            return Ok(());
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        let new = new_file(&folder, &text)?;
        if let Some(permissions) = permissions {
            new.as_file().set_permissions(permissions)?;
        }
        new.persist(path)?;
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let from = self.path(from)?;
        let (to, _) = self.new_path(to)?;
        match renameat_with(CWD, &from, CWD, &to, RenameFlags::NOREPLACE) {
            // Not every file system can do this in one; the write lock keeps our own processes apart.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if to.symlink_metadata().is_err() => {
                fs::rename(&from, &to)
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            other => Ok(other?),
        }
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let name = Path::new(path)
            .strip_prefix(find::folder(self.scope))
            .ok()
            .and_then(Path::to_str);
        if name.is_none_or(|name| name_flaw(name).is_some()) {
            let why = format!("it is not the directory of a {}", self.scope.noun);
            return Err(io::Error::other(why));
        }
        let path = self.path(path)?;
        if !path.symlink_metadata()?.is_dir() {
            return Err(io::Error::other("it is no directory"));
        }
        // This follows no link: where it meets one, it removes the link.
        fs::remove_dir_all(path)
    }
}

/// A file with this text that has no name that counts yet.
fn new_file(folder: &Path, text: impl AsRef<[u8]>) -> io::Result<tempfile::NamedTempFile> {
    let mut new = tempfile::Builder::new()
        .prefix(".new-")
        // Less what the user's umask takes away, as with any file.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    new.write_all(text.as_ref())?;
    new.as_file().sync_all()?;
    Ok(new)
}
