//! The tree of what is in a work tree now, as git would store it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use walkdir::WalkDir;

use super::command::{bytes, failed, no_repository};
use super::index::Index;
use super::repository::{GITLINK, Repository};
use super::terms::{Change, Changed, Content, REPOSITORY, SUBMODULE, Unknown};
use crate::chart::Scope;
use crate::chart::choice::CHARTS;
use crate::hash::Hash;
use crate::os::file::{Version, path};
use crate::project::{ledger, state_file};
use crate::store::git_dir::{self, WorkTree};

/// A file that is larger is not read: one that git does not track, and one that it does.
const LARGE: u64 = 1024 * 1024;
const LARGE_TRACKED: u64 = 16 * LARGE;

/// The file in the directory of an instance with its receipts, where they are committed.
pub(crate) const RECEIPTS: &str = "receipts.jsonl";

/// What is in no tree of a work tree.
#[derive(Debug, Default)]
struct Limits {
    /// The home of the instances, and their folder in it. What they keep says how the work goes on, and is no part of it.
    home: String,
    folder: String,
    /// A review of a plan has a line written in the home's `.gitignore`.
    has_ignore: bool,
}

/// Reads the tree of an instance's work tree, once.
#[derive(Debug)]
pub(crate) struct Trees {
    root: PathBuf,
    limits: Limits,
    last: Mutex<Option<Arc<Tree>>>,
    /// The last change that was found in it.
    pub(super) compared: Mutex<Option<Change>>,
}

/// The files of a work tree.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) id: String,
    /// The files whose content is not in it. Something in their place shows which version is there.
    pub(super) unread: Vec<Changed>,
    /// Those that no tree can name: whether they have changed is unknown.
    pub(super) nameless: Vec<Changed>,
}

impl Trees {
    /// Returns the reader for the work tree around `root`.
    pub(crate) fn of(root: &Path, scope: &Scope) -> Self {
        let (home, folder) = match scope.is_of_changes() {
            true => (CHARTS[0].home(), CHARTS[0].folder()),
            false => (scope.home.as_str(), scope.folder()),
        };
        let [home, folder] = [home, folder].map(str::to_owned);
        let limits = Limits { home, folder, has_ignore: !scope.is_of_changes() };
        Self { root: root.to_owned(), limits, last: Mutex::default(), compared: Mutex::default() }
    }

    /// Calls `ask` with the repository.
    pub(super) fn repository<T>(
        &self,
        ask: impl FnOnce(&Repository<'_>) -> Result<T, Unknown>,
    ) -> Result<T, Unknown> {
        let WorkTree { top, .. } = git_dir::around(&self.root).ok_or_else(no_repository)?;
        ask(&Repository::of(&top))
    }

    /// Returns the tree of what is there, or was there when it was read for the first time.
    pub(crate) fn read(&self) -> Result<Arc<Tree>, Unknown> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tree) = &*last {
            return Ok(Arc::clone(tree));
        }
        let tree = Arc::new(self.repository(|it| self.write(it))?);
        Ok(Arc::clone(last.insert(tree)))
    }

    /// Has it read again: somebody may have changed something.
    pub(crate) fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the files that differ between two trees, and apart from them those that only the second one has.
    pub(crate) fn changed(&self, trees: [&str; 2]) -> Option<(Vec<PathBuf>, Vec<PathBuf>)> {
        if trees[0] == trees[1] {
            return Some(Default::default());
        }
        let top = git_dir::around(&self.root)?.top;
        let printed = self.repository(|it| {
            let mut diff = it.git(&["diff-tree", "-r", "-z", "--name-status", "--no-renames"])?;
            bytes(diff.args(trees))?.map_err(failed)
        });
        let printed = printed.ok()?;
        let words: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
        let (mut changed, mut new) = (Vec::new(), Vec::new());
        for pair in words.chunks_exact(2) {
            let file = top.join(path(pair[1]));
            let file = file.strip_prefix(&self.root).or_else(|_| file.strip_prefix(&top));
            let list = if pair[0] == b"A" { &mut new } else { &mut changed };
            list.extend(file.map(Path::to_owned));
        }
        Some((changed, new))
    }

    /// Returns what is not in an index as it is in the work tree, each with its tag.
    fn differing(&self, index: &Index) -> Result<Vec<(u8, Vec<u8>)>, Unknown> {
        let listed = index.list()?;
        let differing = listed.split(|byte| *byte == 0).filter_map(Entry::of);
        let differing = differing.filter(|entry| entry.differs() && !self.limits.leave_out(entry));
        Ok(differing.map(|entry| (entry.tag, entry.file().to_owned())).collect())
    }

    fn write(&self, repository: &Repository<'_>) -> Result<Tree, Unknown> {
        let index = Index::new(repository.root)?;
        if let Some((own, _)) = git_dir::of(repository.root) {
            index.copy(&own.join("index"))?;
        }
        let listed = list_all(&index)?;
        let entries: Vec<Entry<'_>> =
            listed.split(|byte| *byte == 0).filter_map(Entry::of).collect();
        let mut unread = self.add(repository, &index, &entries)?;
        unread.extend(hidden(repository, &index, &entries)?);
        let nameless = self.stand_in(repository, &index, &unread)?;
        let apart = entries.iter().filter(|entry| self.limits.leave_out(entry));
        let apart: Vec<&[u8]> = apart.map(Entry::file).collect();
        index.update("--force-remove", &apart.join(&0))?;
        let id = index.run(&["write-tree"])?;
        let (nameless, unread): (Vec<_>, Vec<_>) =
            unread.into_iter().partition(|file| nameless.contains(&file.name));
        let changed = |files: Vec<Unread>, is_named: bool| {
            let files = files.into_iter().map(|Unread { name, why }| Changed {
                path: String::from_utf8_lossy(&name).into_owned(),
                lines: None,
                objects: None,
                content: match is_named && repository.is_text(&path(&name)) {
                    true => Content::InFile(why),
                    false => Content::Unknown(why),
                },
            });
            files.collect()
        };
        Ok(Tree { id, unread: changed(unread, true), nameless: changed(nameless, false) })
    }

    /// Adds what is in the work tree to the index. Returns the files that are too large, or that git cannot store.
    fn add(
        &self,
        repository: &Repository<'_>,
        index: &Index,
        entries: &[Entry<'_>],
    ) -> Result<Vec<Unread>, Unknown> {
        let mut unread: Vec<Unread> = Vec::new();
        let mut specs = b":/".to_vec();
        let differing = || entries.iter().filter(|entry| entry.differs());
        for entry in differing() {
            let (limit, why) = match entry.tag {
                b'?' => (LARGE, "untracked and larger than 1 MB"),
                _ => (LARGE_TRACKED, "larger than 16 MB"),
            };
            let meta = repository.root.join(path(entry.name)).symlink_metadata();
            let is_large = meta.is_ok_and(|meta| meta.is_file() && meta.len() > limit);
            let why = match () {
                () if entry.is_repository() => REPOSITORY,
                () if is_large => why,
                () => continue,
            };
            specs.extend([b"\0:(exclude,literal,top)", entry.file()].concat());
            unread.push(Unread { name: entry.file().to_owned(), why });
        }
        if differing().next().is_some() && !index.add(&specs, || repository.empty_tree())? {
            // One file that git cannot store, such as `.GIT/x`, hides none of the others.
            let mut refused = self.differing(index)?;
            refused.retain(|(_, name)| unread.iter().all(|file| file.name != *name));
            let why = "git cannot store it";
            unread.extend(refused.into_iter().map(|(_, name)| Unread { name, why }));
        }
        Ok(unread)
    }

    /// Puts into the index, for each file whose content cannot be there, which version of it there is. Returns those that no
    /// tree can name.
    fn stand_in(
        &self,
        repository: &Repository<'_>,
        index: &Index,
        unread: &[Unread],
    ) -> Result<HashSet<Vec<u8>>, Unknown> {
        if unread.is_empty() {
            return Ok(HashSet::new());
        }
        let length = repository.empty_tree()?.len();
        let entries = unread.iter().flat_map(|Unread { name, why }| {
            let file = repository.root.join(path(name));
            // Another work tree of this repository belongs to other work.
            let is_other = *why == REPOSITORY && file.join(".git").is_file();
            let version = version(&file, if is_other { 0 } else { usize::MAX });
            let entry = format!("{GITLINK} {version:.length$}\t").into_bytes();
            [&entry, &**name, &[0]].concat()
        });
        index.update("--index-info", &entries.collect::<Vec<u8>>())?;
        let left = self.differing(index)?.into_iter();
        Ok(left.filter_map(|(tag, name)| (tag == b'?').then_some(name)).collect())
    }

    /// Returns what a tree has that is left out of the trees of this work tree, of the files with these names.
    pub(super) fn left_out<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
        names.filter(|name| self.limits.leaves_out(name)).collect()
    }
}

/// A file whose content is not in a tree, and why.
struct Unread {
    name: Vec<u8>,
    why: &'static str,
}

/// Returns the list of an index. What it marks as unchanged is read all the same.
fn list_all(index: &Index) -> Result<Vec<u8>, Unknown> {
    let listed = index.list()?;
    let marked = listed.split(|byte| *byte == 0).filter_map(Entry::of);
    let marked = marked.filter(|entry| entry.tag.is_ascii_lowercase()).map(|entry| entry.name);
    let marked: Vec<&[u8]> = marked.collect();
    if marked.is_empty() {
        return Ok(listed);
    }
    index.update("--no-assume-unchanged", &marked.join(&0))?;
    index.list()
}

/// Returns the files in which git does not see all that changes.
fn hidden(
    repository: &Repository<'_>,
    index: &Index,
    entries: &[Entry<'_>],
) -> Result<Vec<Unread>, Unknown> {
    let hiding = index.hiding(entries.iter().map(|entry| entry.name))?;
    let hides = hiding.split(|byte| *byte == 0);
    let hides = hides.filter(|name| repository.has_own_ident(&path(name)));
    let why = "git's `ident` hides a part of it";
    let mut hidden: Vec<_> = hides.map(|name| Unread { name: name.to_owned(), why }).collect();
    if entries.iter().any(|entry| entry.is_submodule) {
        let open = repository.open_submodules()?.into_iter();
        hidden.extend(open.map(|name| Unread { name: name.into_bytes(), why: SUBMODULE }));
    }
    Ok(hidden)
}

impl Limits {
    fn leave_out(&self, entry: &Entry<'_>) -> bool {
        self.leaves_out(&String::from_utf8_lossy(entry.file()))
    }

    /// Returns whether an instance keeps a file.
    fn leaves_out(&self, file: &str) -> bool {
        let ends = |folder: &str, end: &str| {
            folder.strip_suffix(end).is_some_and(|above| above.is_empty() || above.ends_with('/'))
        };
        let Some((folder, name)) = file.rsplit_once('/') else { return false };
        let is_own = [state_file::FILE, ledger::FILE, RECEIPTS, ".gitignore"].contains(&name)
            || [".md", ".log"].iter().any(|end| name.ends_with(end));
        let instances = format!("{}/{}", self.home, self.folder);
        let is_of_instance =
            || folder.rsplit_once('/').is_some_and(|(above, _)| ends(above, &instances));
        is_own && is_of_instance()
            || self.has_ignore && name == ".gitignore" && ends(folder, &self.home)
    }
}

/// An entry of a list of the files of an index.
struct Entry<'l> {
    /// `?` for a file that is not in it, `C` for one that is another one now.
    tag: u8,
    is_submodule: bool,
    name: &'l [u8],
}

impl<'l> Entry<'l> {
    fn of(line: &'l [u8]) -> Option<Self> {
        let (tag, rest) = (*line.first()?, line.get(2..)?);
        let name = match tag {
            b'?' => rest,
            _ => &rest[rest.iter().position(|byte| *byte == b'\t')? + 1..],
        };
        Some(Self { tag, is_submodule: rest.starts_with(GITLINK.as_bytes()) && tag != b'?', name })
    }

    fn differs(&self) -> bool {
        matches!(self.tag, b'?' | b'C')
    }

    /// A repository in the repository has a slash.
    fn is_repository(&self) -> bool {
        self.name.ends_with(b"/")
    }

    fn file(&self) -> &'l [u8] {
        self.name.strip_suffix(b"/").unwrap_or(self.name)
    }
}

/// Returns a hash of what the file system says of a file, or of all in a folder, `depth` levels deep: which version is there.
fn version(path: &Path, depth: usize) -> String {
    // No git looks into another repository: that can name programs of its own.
    let files = WalkDir::new(path).max_depth(depth);
    let files = files.sort_by_file_name().into_iter();
    let mut hash = Hash::default();
    for file in files.filter_entry(|file| file.file_name() != ".git").flatten() {
        let meta = file.metadata().ok().filter(|meta| !meta.is_dir());
        hash.add(file.path().as_os_str().as_encoded_bytes());
        hash.add(format!("{:?}", meta.as_ref().map(Version::of)));
    }
    hash.text()
}
