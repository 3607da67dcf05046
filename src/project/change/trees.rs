//! The tree of what is in a work tree now, as git would store it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::command::no_repository;
use super::index::Index;
use super::repository::{GITLINK, Repository};
use super::terms::{Change, Changed, Content, Unknown};
use crate::chart::Scope;
use crate::chart::choice::CHARTS;
use crate::hash;
use crate::os::file::{Version, path};
use crate::project::{ledger, state_file};
use crate::store::git_dir;

/// A file that has changed and is larger is not stored: an entry of this version takes its place.
const LARGE: u64 = 4 * 1024 * 1024;

/// The file in the directory of an instance with its receipts, where they are committed.
pub(crate) const RECEIPTS: &str = "receipts.jsonl";

/// Reads the tree of an instance's work tree, once.
#[derive(Debug)]
pub(crate) struct Trees {
    root: PathBuf,
    /// The folder of the instances. What they keep says how the work goes on, and is no part of it.
    instances: String,
    /// The home in whose `.gitignore` a review of a plan has a line written.
    ignoring: Option<String>,
    last: Mutex<Option<Arc<Tree>>>,
    /// The last change that was found in it.
    pub(super) compared: Mutex<Option<Change>>,
}

/// The files of a work tree.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) id: String,
    /// The files that git cannot store: whether they have changed is unknown.
    pub(super) unread: Vec<Changed>,
}

impl Trees {
    /// Returns the reader for the work tree around `root`.
    pub(crate) fn of(root: &Path, scope: &Scope) -> Self {
        let is_of_plans = !scope.is_of_changes();
        let (home, folder) = match is_of_plans {
            true => (scope.home.as_str(), scope.folder()),
            false => (CHARTS[0].home(), CHARTS[0].folder()),
        };
        Self {
            root: root.to_owned(),
            instances: format!("{home}/{folder}"),
            ignoring: is_of_plans.then(|| home.to_owned()),
            last: Mutex::default(),
            compared: Mutex::default(),
        }
    }

    /// Returns the repository.
    pub(super) fn repository(&self) -> Result<Repository, Unknown> {
        let tree = git_dir::around(&self.root).ok_or_else(no_repository)?;
        Ok(Repository { root: tree.top })
    }

    /// Returns the tree of what is there, or was there when it was read for the first time.
    pub(crate) fn read(&self) -> Result<Arc<Tree>, Unknown> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tree) = &*last {
            return Ok(Arc::clone(tree));
        }
        let tree = Arc::new(self.write(&self.repository()?)?);
        Ok(Arc::clone(last.insert(tree)))
    }

    /// Has it read again: somebody may have changed something.
    pub(crate) fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the files that differ between two trees, and apart from them those that only the second one has.
    pub(crate) fn changed(&self, trees: [&str; 2]) -> Option<(Vec<PathBuf>, Vec<PathBuf>)> {
        let repository = self.repository().ok()?;
        let files = repository.files(trees).ok()?;
        let (mut changed, mut new) = (Vec::new(), Vec::new());
        for file in files {
            let list = if file.is_new() { &mut new } else { &mut changed };
            let file = repository.root.join(file.path);
            let below = file.strip_prefix(&self.root);
            let file = below.or_else(|_| file.strip_prefix(&repository.root));
            list.extend(file.map(Path::to_owned));
        }
        Some((changed, new))
    }

    fn write(&self, repository: &Repository) -> Result<Tree, Unknown> {
        let index = Index::new(&repository.root)?;
        if let Some((own, _)) = git_dir::of(&repository.root) {
            index.copy(&own.join("index"))?;
        }
        let listed = index.list()?;
        let is_own = |file: &[u8]| self.leaves_out(&String::from_utf8_lossy(file));
        let large: Vec<(&[u8], Version)> = differing(&listed)
            .filter_map(|name| {
                let meta = repository.root.join(path(name)).symlink_metadata().ok()?;
                (meta.is_file() && meta.len() > LARGE).then(|| (name, Version::of(&meta)))
            })
            .collect();
        let mut unread = Vec::new();
        let names: Vec<&[u8]> = large.iter().map(|(name, _)| *name).collect();
        if differing(&listed).next().is_some() && !index.add_all_but(&names)? {
            // One file that git cannot store, such as `.GIT/x`, hides none of the others.
            let refused = index.list()?;
            let refused = differing(&refused).filter(|name| !names.contains(name) && !is_own(name));
            unread.extend(refused.map(|name| Changed {
                path: String::from_utf8_lossy(name).into_owned(),
                content: Content::Unknown("git cannot store it"),
                ..Changed::default()
            }));
        }
        if !large.is_empty() {
            let length = repository.empty_tree()?.len();
            let entries = large.iter().flat_map(|(name, version)| {
                let version = hash::of(format!("{version:?}").as_bytes());
                let entry = format!("{GITLINK} {version:.length$}\t").into_bytes();
                [&entry, *name, &[0]].concat()
            });
            index.update("--index-info", &entries.collect::<Vec<u8>>())?;
        }
        let own: Vec<&[u8]> =
            names_in(&listed).map(|(_, name)| name).filter(|it| is_own(it)).collect();
        index.update("--force-remove", &own.join(&0))?;
        Ok(Tree { id: index.run(&["write-tree"])?, unread })
    }

    /// Returns whether an instance keeps a file, so that it is in no tree of this work tree.
    pub(super) fn leaves_out(&self, file: &str) -> bool {
        let ends = |folder: &str, end: &str| {
            folder.strip_suffix(end).is_some_and(|above| above.is_empty() || above.ends_with('/'))
        };
        let Some((folder, name)) = file.rsplit_once('/') else { return false };
        let is_own = [state_file::FILE, ledger::FILE, RECEIPTS, ".gitignore"].contains(&name)
            || [".md", ".log"].iter().any(|end| name.ends_with(end));
        let is_of_instance =
            || folder.rsplit_once('/').is_some_and(|(above, _)| ends(above, &self.instances));
        let is_ignore = || self.ignoring.as_ref().is_some_and(|home| ends(folder, home));
        is_own && is_of_instance() || name == ".gitignore" && is_ignore()
    }
}

/// Returns the files in a list of an index, each with its letter: `?` for one that is not in the index, `C` for one that is
/// another one now.
fn names_in(listed: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    listed.split(|byte| *byte == 0).filter_map(|line| {
        let (letter, rest) = (*line.first()?, line.get(2..)?);
        let name = match letter {
            b'?' => rest,
            _ => &rest[rest.iter().position(|byte| *byte == b'\t')? + 1..],
        };
        // A repository in the repository has a slash.
        Some((letter, name.strip_suffix(b"/").unwrap_or(name)))
    })
}

/// Returns the files in a list of an index that are not in the index as they are now.
fn differing(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    names_in(listed).filter(|(letter, _)| matches!(letter, b'?' | b'C')).map(|(_, name)| name)
}
