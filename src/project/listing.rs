//! What is directly in a directory.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use minijinja::value::Value;

use crate::disk;
use crate::engine::fault::Fault;
use crate::os::folder::Entry;
use crate::text::shown;

/// The files and folders directly in a directory; none if the directory does not exist.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The names of files, sorted.
    pub(crate) files: Vec<String>,
    pub(crate) folders: Vec<OsString>,
}

impl Listing {
    /// Lists a directory.
    pub(crate) fn of(dir: &Path) -> io::Result<Self> {
        let mut listing = Self::default();
        for Entry { name, kind } in disk::entries(dir)? {
            if kind.is_file() || kind.is_symlink() && dir.join(&name).is_file() {
                listing.files.push(name.to_string_lossy().into_owned());
            } else if kind.is_dir() {
                listing.folders.push(name);
            }
        }
        listing.files.sort_unstable();
        Ok(listing)
    }
}

/// Returns the fault of a file or a folder that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Fault {
    Fault::File(format!("{} cannot be read: {error}", shown(&path.to_string_lossy())))
}

/// Returns whether a name is not UTF-8, or would change the text around it.
pub(crate) fn is_odd(name: &str) -> bool {
    shown(name) != name || name.contains('\u{fffd}')
}

/// Returns the whole hours since a directory or a file in it was modified.
pub(crate) fn idle_hours(dir: &Path, names: &[String]) -> u64 {
    let files = names.iter().map(|name| dir.join(name)).chain([dir.to_owned()]);
    let last = files.filter_map(|path| disk::modified(&path).ok()?).max();
    let idle = last.and_then(|last| last.elapsed().ok());
    idle.map_or(0, |idle| idle.as_secs() / 3600)
}

/// Returns the names in a folder below the root; none if it does not exist.
pub(crate) fn names_in(root: &Path, folder: &str) -> Result<Value, Fault> {
    let entries = disk::entries(&root.join(folder));
    let entries = entries.map_err(|error| unreadable(Path::new(folder), &error))?;
    let names = entries.iter().map(|entry| Value::from(entry.name.to_string_lossy()));
    Ok(names.collect())
}
