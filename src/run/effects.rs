//! Carries out the changes to files that a decision asks for.
//!
//! Files come first and the state comes last: a process that is killed in between leaves files where the next command
//! or stop finds them. A file appears completely or not at all, only a line that is to be in a file changes one that
//! exists, no symbolic link is followed, and only an instance's own directory is ever removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk;
use crate::engine::decision::Effect;
use crate::files::pattern::name_flaw;
use crate::os::file::rename_new;
use crate::project::find::{self, Instance};
use crate::run::place::Place;
use crate::run::stuck::{Stuck, io};
use crate::store::running;

/// Carries out `effects`, in order, and stops at the first that fails. The error says what should have been done. The caller
/// holds the write lock.
pub(crate) fn carry_out(place: &Place, effects: &[Effect]) -> Result<(), Stuck> {
    let unwritten = |path: &str| format!("{path} cannot be written");
    for effect in effects {
        let (what, result) = match effect {
            Effect::Write { path, text } => {
                (unwritten(path), put(place, path, |file| disk::create(file, text.as_bytes())))
            }
            Effect::Replace { path, text } => {
                (unwritten(path), put(place, path, |file| replace(file, text.as_bytes())))
            }
            Effect::Ensure { path, line } => {
                (unwritten(path), put(place, path, |file| ensure(&place.root, file, line)))
            }
            Effect::Rename { from, to } => {
                (format!("{from} cannot be renamed to {to}"), rename(place, from, to))
            }
            Effect::Remove { path } => (format!("{path} cannot be removed"), remove(place, path)),
            Effect::Cancel { path } => {
                (format!("the review of {path} cannot be cancelled"), cancel(place, path))
            }
        };
        result.map_err(io(what))?;
    }
    Ok(())
}

/// Returns the full path of a file. No folder on the way may be a link: a project may come from anyone.
fn full_path(place: &Place, path: &str) -> io::Result<PathBuf> {
    let folders = Path::new(path).ancestors().skip(1);
    for folder in folders.filter(|folder| !folder.as_os_str().is_empty()) {
        if place.root.join(folder).is_symlink() {
            let why = format!("{} is a symbolic link", folder.display());
            return Err(io::Error::other(why));
        }
    }
    Ok(place.root.join(path))
}

/// Puts a file there, whose folder is created if necessary.
fn put(place: &Place, path: &str, put: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let path = full_path(place, path)?;
    fs::create_dir_all(path.parent().unwrap_or(&place.root))?;
    put(&path)?;
    // What happens after this, such as a new state, must not reach the disk before the name of the file does.
    path.parent().into_iter().for_each(disk::sync_folder);
    Ok(())
}

fn ensure(root: &Path, file: &Path, line: &str) -> io::Result<()> {
    refuse_link(file)?;
    let mut text = disk::read(root, file)?.unwrap_or_default();
    let is_there = |known: &[u8]| known.strip_suffix(b"\r").unwrap_or(known) == line.as_bytes();
    if text.split(|byte| *byte == b'\n').any(is_there) {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text.extend_from_slice(line.as_bytes());
    text.push(b'\n');
    disk::replace(file, &text)
}

fn rename(place: &Place, from: &str, to: &str) -> io::Result<()> {
    let from = full_path(place, from)?;
    put(place, to, |to| rename_new(&from, to))
}

/// Returns the name of the instance whose directory this is.
fn instance<'e>(place: &Place, path: &'e str) -> io::Result<&'e str> {
    let name =
        Path::new(path).strip_prefix(find::folder(&place.chart.scope)).ok().and_then(Path::to_str);
    name.filter(|name| name_flaw(name).is_none()).ok_or_else(|| {
        let noun = place.chart.scope.noun();
        io::Error::other(format!("it is not the directory of a {noun}"))
    })
}

fn cancel(place: &Place, path: &str) -> io::Result<()> {
    let instance = Instance { name: instance(place, path)?.to_owned(), dir: path.into() };
    let of = Place::new(Arc::clone(&place.chart), place.root.clone(), instance);
    running::cancel(of.journal(), &full_path(place, path)?)
}

fn remove(place: &Place, path: &str) -> io::Result<()> {
    let name = instance(place, path)?;
    let path = full_path(place, path)?;
    if !path.symlink_metadata()?.is_dir() {
        return Err(io::Error::other("it is not a directory"));
    }
    // This follows no link: a link is removed itself.
    fs::remove_dir_all(path)?;
    place.store.forget(name);
    Ok(())
}

fn replace(file: &Path, text: &[u8]) -> io::Result<()> {
    refuse_link(file)?;
    disk::replace(file, text)
}

fn refuse_link(file: &Path) -> io::Result<()> {
    match file.is_symlink() {
        true => Err(io::Error::other("it is a symbolic link")),
        false => Ok(()),
    }
}
