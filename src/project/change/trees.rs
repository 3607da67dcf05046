//! The tree of what is in a work tree now, as git would store it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::index::{Entries, Index};
use super::repository::{GITLINK, Repository};
use super::terms::{Change, Changed, Content, Unknown};
use crate::chart::Scope;
use crate::chart::choice::CHARTS;
use crate::hash;
use crate::os::file::{Version, path};
use crate::project::{ledger, state_file};
use crate::store::facts::Prompt;
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
    /// The prompt with which the change of a session begins.
    pub(super) prompt: Option<Prompt>,
    last: Mutex<Option<Last>>,
    /// The last change that was found in it.
    pub(super) compared: Mutex<Option<Change>>,
}

/// The tree that was read last.
#[derive(Debug)]
struct Last {
    tree: Arc<Tree>,
    /// The index with which git has put it together.
    entries: Option<Entries>,
    /// Somebody may have changed something since.
    is_old: bool,
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
    pub(crate) fn of(root: &Path, scope: &Scope, prompt: Option<Prompt>) -> Self {
        let (home, folder) = match scope.is_of_changes() {
            true => (CHARTS[0].home(), CHARTS[0].folder()),
            false => (scope.home.as_str(), scope.folder()),
        };
        Self {
            root: root.to_owned(),
            instances: format!("{home}/{folder}"),
            prompt,
            last: Mutex::default(),
            compared: Mutex::default(),
        }
    }

    /// Returns the repository.
    pub(super) fn repository(&self) -> Result<Repository, Unknown> {
        let none = || Unknown::new("this is no git repository", "run `git init`");
        let tree = git_dir::around(&self.root).ok_or_else(none)?;
        Ok(Repository { root: tree.top })
    }

    /// Returns the tree of what is there, or was there when it was read for the first time.
    pub(crate) fn read(&self) -> Result<Arc<Tree>, Unknown> {
        let mut last = locked(&self.last);
        let read = match last.take() {
            Some(read) if !read.is_old => read,
            old => self.write(&self.repository()?, old)?,
        };
        Ok(Arc::clone(&last.insert(read).tree))
    }

    /// Has it read again: somebody may have changed something.
    pub(crate) fn forget(&self) {
        locked(&self.last).iter_mut().for_each(|last| last.is_old = true);
    }

    /// Returns the commit of HEAD, or an empty tree if there is none yet: what work that begins now is compared with. `None` outside
    /// git, and where git says nothing.
    pub(crate) fn head(&self) -> Option<String> {
        let known = locked(&self.compared).as_ref().map(|change| change.head.clone());
        known.or_else(|| Some(self.repository().ok()?.heads("HEAD").ok()?.head))
    }

    /// Returns the files that differ between two trees. Those that only the second one has come last: nothing limits how many
    /// somebody adds.
    pub(crate) fn changed(&self, trees: [&str; 2]) -> Option<Vec<PathBuf>> {
        let repository = self.repository().ok()?;
        let mut files = repository.files(trees).ok()?;
        files.sort_by_key(Changed::is_new);
        let shown = |file: Changed| {
            let whole = repository.root.join(&file.path);
            let below = whole.strip_prefix(&self.root);
            below.map_or_else(|_| file.path.into(), Path::to_owned)
        };
        Some(files.into_iter().map(shown).collect())
    }

    fn write(&self, repository: &Repository, old: Option<Last>) -> Result<Last, Unknown> {
        let (entries, old) = match old {
            Some(old) => (old.entries, Some(old.tree)),
            None => (Entries::own(&repository.root)?, None),
        };
        let index = Index::new(&repository.root, entries.as_ref())?;
        let listed = index.list()?;
        let is_own = |file: &[u8]| self.leaves_out(&String::from_utf8_lossy(file));
        let is_changed = differing(&listed).any(|name| !is_own(name));
        if let Some(tree) = old.filter(|_| !is_changed) {
            return Ok(Last { tree, entries, is_old: false });
        }
        let large: Vec<(&[u8], Version)> = differing(&listed)
            .filter_map(|name| {
                let meta = repository.root.join(path(name)).symlink_metadata().ok()?;
                (meta.is_file() && meta.len() > LARGE).then(|| (name, Version::of(&meta)))
            })
            .collect();
        let mut unread = Vec::new();
        let names: Vec<&[u8]> = large.iter().map(|(name, _)| *name).collect();
        if is_changed && !index.add_all_but(&names)? {
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
            let length = repository.heads("HEAD")?.head.len();
            let entries = large.iter().flat_map(|(name, version)| {
                let version = hash::of(format!("{version:?}").as_bytes());
                let entry = format!("{GITLINK} {version:.length$}\t").into_bytes();
                [&entry, *name, &[0]].concat()
            });
            index.update("--index-info", &entries.collect::<Vec<u8>>())?;
        }
        let is_in_index = |letter: u8| is_changed || letter != b'?';
        let own = names_in(&listed).filter(|(letter, name)| is_in_index(*letter) && is_own(name));
        let own: Vec<&[u8]> = own.map(|(_, name)| name).collect();
        index.update("--force-remove", &own.join(&0))?;
        let tree = Arc::new(Tree { id: index.run(&["write-tree"])?, unread });
        Ok(Last { tree, entries: index.entries()?, is_old: false })
    }

    /// Returns whether an instance keeps a file, so that it is in no tree of this work tree.
    pub(super) fn leaves_out(&self, file: &str) -> bool {
        let mut parts = file.rsplitn(3, '/');
        let (Some(name), Some(_), Some(folder)) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        let is_own =
            [state_file::FILE, ledger::FILE, RECEIPTS].contains(&name) || name.ends_with(".md");
        let above = folder.strip_suffix(&self.instances).filter(|_| is_own);
        above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
    }
}

/// Returns what is in a mutex.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
