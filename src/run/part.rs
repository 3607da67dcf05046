//! The names of changes: that of a branch, of a part of its work tree, or of a session alone, and which paths a part has.

use std::fs;
use std::io;

use serde_json::json;

use crate::diagnostic::quote::quoted;
use crate::disk;
use crate::hash;
use crate::run::place::{PART, PATHS, Place};
use crate::store::driver;
use crate::store::lock::WriteLock;

/// Limits the change at `place` to these paths, if there are any. Makes its directory.
pub(crate) fn limit(place: &Place, given: &[String]) -> io::Result<()> {
    fs::create_dir_all(place.dir())?;
    if place.paths().as_deref() == Some(given) {
        return Ok(());
    }
    // Another process may be about to write the same.
    let _lock = WriteLock::acquire(&place.store, &place.instance.name)?;
    disk::replace(&place.dir().join(PATHS), json!(given).to_string().as_bytes())
}

/// Removes the paths, so that the directory can go.
pub(super) fn forget(place: &Place) {
    let _ = fs::remove_file(place.dir().join(PATHS));
}

/// Returns the name of the change of a branch, or of these paths in it. No two of them share one.
pub(crate) fn name_of(branch: &str, paths: &[String]) -> String {
    let branch = folder_of(branch);
    let paths: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
    match paths.is_empty() {
        true => branch,
        false => format!("{PART}{branch}.{}", folder_of(&paths.join(" "))),
    }
}

/// Returns whether the change of this name is that of the branch whose own change is called `branch`, or of a part of it.
pub(crate) fn is_of_branch(name: &str, branch: &str) -> bool {
    let part = name.strip_prefix(PART);
    let part = part.and_then(|name| name.strip_prefix(branch));
    name == branch || part.is_some_and(|rest| rest.starts_with('.'))
}

/// Returns whether the change is that of a session alone: nobody has asked for its review.
pub(crate) fn is_own(place: &Place) -> bool {
    driver::is_own_name(&place.instance.name)
}

/// Returns a name for a folder, without a dot. No two texts share one.
fn folder_of(text: &str) -> String {
    let plain = |sign: char| match sign {
        sign if sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_') => sign,
        _ => '-',
    };
    let name: String = text.chars().map(plain).take(60).collect();
    let is_plain = name == *text && name == name.to_lowercase() && !name.starts_with('-');
    match is_plain && !name.contains("--") {
        true => name,
        // No plain name looks like that.
        false => format!("_{name}--{}", &hash::of(text.as_bytes())[..8]),
    }
}
