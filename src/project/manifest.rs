//! Which version of which file a review has seen: the paths that differ from where the work began, each with what git keeps of
//! it: a link with the text of a file, or a file that may now be run, is another version.
//!
//! A manifest says what has changed since, also when git no longer has the tree that it was made of.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::change::{self, Blobs, Unknown, is_any_like};
use super::git::is_in_git;

/// The work tree as a review saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The commit, or the tree, that it is compared with.
    pub(crate) base: String,
    /// The tree that was there.
    pub(crate) tree: String,
    /// The files that count and differ from the base, each with its mode and its blob; none if it is gone.
    #[serde(default, skip_serializing_if = "Blobs::is_empty")]
    pub(crate) files: Blobs,
    /// The patterns of the files that do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) skips: Vec<String>,
}

impl Manifest {
    /// Reads the work tree at `root`, or the commit `at`, compared with `base`, or with HEAD if that is unknown. The home
    /// of the chart does not count. `None` outside git.
    pub(crate) fn read(
        root: &Path,
        home: &str,
        base: Option<&str>,
        at: Option<&str>,
        skips: &[String],
    ) -> Option<Result<Self, Unknown>> {
        if !is_in_git(root) {
            return None;
        }
        let mut without = Vec::new();
        if !Path::new(home).is_absolute() {
            without.push(format!("{home}/**"));
        }
        let read = change::blobs(root, base, at, &without);
        Some(read.map(|(base, tree, mut files)| {
            files.retain(|path, _| !is_any_like(path, skips));
            Self {
                base,
                tree,
                files,
                skips: skips.to_vec(),
            }
        }))
    }
}

/// Returns all files of the work tree, compared with nothing.
pub(crate) fn of_all(root: &Path, home: &str) -> Option<Manifest> {
    let nothing = change::nothing(root).ok()?;
    Manifest::read(root, home, Some(&nothing), None, &[])?.ok()
}
