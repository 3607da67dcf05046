//! Which version of which file a review has seen: the paths that differ from where the work began, each with what git keeps of
//! it: a link with the text of a file, or a file that may now be run, is another version.
//!
//! A manifest says what has changed since, also when git no longer has the tree that it was made of.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::change::{self, Blobs, STORED, Unknown, is_any_like};
use super::git::is_in_git;
use crate::chart::Scope;

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

/// Where manifests are read.
#[derive(Debug)]
pub(crate) struct Reader<'r> {
    root: &'r Path,
    /// The home of the chart, which does not count.
    home: &'r str,
    /// A folder of objects that the repository does not have.
    objects: Option<PathBuf>,
}

impl<'r> Reader<'r> {
    /// Returns that of the work tree at `root`, which knows what the instance in the directory `dir` is compared with.
    pub(crate) fn of(root: &'r Path, scope: &'r Scope, dir: &Path) -> Self {
        Self { root, home: &scope.home, objects: scope.since.is_some().then(|| dir.join(STORED)) }
    }

    /// Reads the work tree, or the commit `at`, compared with `base`, or with HEAD if that is unknown. `None` outside git.
    pub(crate) fn read(
        &self,
        base: Option<&str>,
        at: Option<&str>,
        skips: &[String],
    ) -> Option<Result<Manifest, Unknown>> {
        if !is_in_git(self.root) {
            return None;
        }
        let mut without = Vec::new();
        if !Path::new(self.home).is_absolute() {
            without.push(format!("{}/**", self.home));
        }
        let read = change::blobs((self.root, self.objects.as_deref()), base, at, &without);
        Some(read.map(|(base, tree, mut files)| {
            files.retain(|path, _| !is_any_like(path, skips));
            Manifest { base, tree, files, skips: skips.to_vec() }
        }))
    }

    /// Returns all files of the work tree, compared with nothing.
    pub(crate) fn all(&self) -> Option<Manifest> {
        let nothing = change::nothing(self.root).ok()?;
        self.read(Some(&nothing), None, &[])?.ok()
    }
}
