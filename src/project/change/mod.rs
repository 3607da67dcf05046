//! What has changed in a work tree, as two git trees: what was there before, and what is there now, committed or not.
//!
//! Nothing in the repository changes: the tree is written with an index of its own, and its objects are in a folder of their
//! own. A git that is to see them gets [`OBJECTS`].

mod base;
mod command;
mod index;
mod pattern;
mod repository;
mod terms;

use std::path::{Path, PathBuf};

use self::command::{run, unwritable};
use self::repository::Repository;
use crate::os::file::create_private_folder;
use crate::project::git::{git, is_in_git};
use crate::store::git_dir::{self, WorkTree};
use crate::text::shown;

pub(crate) use self::command::{OBJECTS, with};
pub(crate) use self::pattern::is_any_like;
pub(crate) use self::terms::{Base, Changed, Unknown, is_in};

/// The folder in the directory of a change with its objects, hidden like everything that is this program's.
pub(crate) const STORED: &str = ".objects";

/// A change.
#[derive(Debug)]
pub(crate) struct Change {
    /// The commit that it starts from; the empty tree where there is none.
    pub(crate) base: String,
    /// What that is, in words: `since HEAD`.
    pub(crate) against: String,
    /// The tree of `base`, with nothing in it that does not count.
    pub(crate) before: String,
    /// The tree now, with the same files and folders.
    pub(crate) after: String,
    pub(crate) files: Vec<Changed>,
    /// What it was to be compared with cannot be read anymore.
    pub(crate) is_lost: bool,
}

impl Change {
    /// Returns how many lines have changed in the files that no pattern in `skip` matches; `None` if there is no such file.
    pub(crate) fn lines(&self, skip: &[String]) -> Option<u64> {
        let files = self.files.iter();
        let counted = files.filter(|file| !file.is_named && !is_any_like(&file.path, skip));
        counted.fold(None, |sum, file| {
            let (added, removed) = file.lines.filter(|_| file.unread.is_none()).unwrap_or((0, 0));
            Some(sum.unwrap_or(0) + added + removed)
        })
    }
}

/// Returns the commit of HEAD, or an empty tree if there is none yet: what work that begins now is compared with. `None` outside
/// git, and where git says nothing.
pub(crate) fn head(root: &Path) -> Option<String> {
    let repository = is_in_git(root).then(|| Repository::of(root, root));
    repository?.head().ok()
}

/// Returns the text of a file in a commit or a tree; `None` if it has no such file.
pub(crate) fn text_in(root: &Path, commit: &str, file: &Path) -> Result<Option<String>, Unknown> {
    let file = file.display().to_string().replace('\\', "/");
    let name = format!("{commit}:{file}");
    Repository::of(root, root).ask(&["cat-file", "blob", &name])
}

/// Returns the root of the work tree around `dir`, and the name of its branch; `None` outside git.
pub(crate) fn branch(dir: &Path) -> Option<Result<(PathBuf, String), Unknown>> {
    let WorkTree { top, .. } = git_dir::around(dir)?;
    let named = Repository::of(&top, &top).branch();
    Some(named.map(|name| (top, name)))
}

/// Returns the names of all branches, and that of HEAD.
pub(crate) fn branches(root: &Path) -> Vec<String> {
    let listed = git(root).ok().and_then(|mut git| {
        git.args(["for-each-ref", "--format=%(refname)", "refs/heads"]);
        run(&mut git).ok()?.ok()
    });
    let listed = listed.unwrap_or_default();
    let names = listed.lines().filter_map(|name| name.strip_prefix("refs/heads/"));
    let head = Repository::of(root, root).branch().ok();
    names.map(str::to_owned).chain(head).collect()
}

/// Returns whether these files are the same in two trees, of which the folder `objects` may have what git does not have.
pub(crate) fn is_same(root: &Path, objects: &Path, trees: [&str; 2], files: &[String]) -> bool {
    let differing = Repository::of(root, objects).files(trees);
    differing.is_ok_and(|differing| !differing.iter().any(|file| files.contains(&file.path)))
}

/// Where a commit is that HEAD was on before.
#[derive(Debug)]
pub(crate) enum Apart {
    /// HEAD has it.
    Not,
    /// HEAD does not have it, but the index has what it has changed, as after a merge that has squashed it.
    Included,
    /// Only these branches have it.
    On(Vec<String>),
}

/// Returns where the commit `id` is; `None` if git does not say.
pub(crate) fn apart(root: &Path, id: &str) -> Option<Apart> {
    let repository = Repository::of(root, root);
    let fork = repository.ask(&["merge-base", "HEAD", id]).ok()?;
    if fork.as_deref() == Some(id) {
        return Some(Apart::Not);
    }
    let fork = fork.map_or_else(|| repository.empty_tree(), Ok).ok()?;
    let files = repository.files([&fork, id]).ok()?;
    let diff = ["diff", "--cached", "--quiet", "--no-ext-diff", id, "--"];
    let mut diff = repository.git(&diff).ok()?;
    diff.args(files.iter().map(|file| &file.path));
    diff.env("GIT_LITERAL_PATHSPECS", "1");
    if files.is_empty() || run(&mut diff).ok()?.is_ok() {
        return Some(Apart::Included);
    }
    let list = ["for-each-ref", "--format=%(refname:short)", "--contains", id];
    let mut list = repository.git(&list).ok()?;
    let listed = run(list.arg("refs/heads")).ok()?.ok()?;
    Some(Apart::On(listed.lines().map(str::to_owned).collect()))
}

/// Copies into the repository at `root` what it refers to and what only the folder `objects` has, because a program that saw
/// them there has stored nothing itself.
pub(crate) fn keep_what_is_referred_to(root: &Path, objects: &Path) -> Result<(), Unknown> {
    Repository::of(root, objects).keep_what_is_referred_to()
}

/// Finds out what has changed in the work tree at `root`, compared with `base`. Only `paths` count, if there are any, and nothing
/// that fits the patterns `without`. The folder `objects` gets what git does not have yet.
pub(crate) fn read(
    root: &Path,
    objects: &Path,
    base: Base<'_>,
    paths: &[String],
    without: &[String],
) -> Result<Change, Unknown> {
    if objects.to_str().is_none() {
        let message = format!("{} is not UTF-8, which this command needs", objects.display());
        return Err(Unknown::new(message, "rename the folder"));
    }
    create_private_folder(objects).map_err(|error| unwritable(objects, &error))?;
    let repository = Repository::of(root, objects).limited(paths, without);
    let head = repository.id("HEAD^{commit}")?;
    let (tree, mut unread) = repository.write_tree()?;
    let after = repository.without(tree)?;
    if let Some(unknown) = paths.iter().find_map(|path| out_of_reach(root, path)) {
        return Err(unknown);
    }
    let compared = |base| {
        let (base, against) = match head.clone() {
            Some(head) => repository.compared(base, head, &after)?,
            None => repository.compared_without_commit(base, &after)?,
        };
        let before = repository.without(base.clone())?;
        let files = repository.files([&before, &after])?;
        Ok::<_, Unknown>((base, against, before, files))
    };
    let first = compared(base);
    // Git keeps nothing for us: of what was there before, `git gc` removes what nothing else needs.
    let is_lost = match base {
        Base::Known(id) if first.is_err() => !repository.is_whole(id)?,
        _ => false,
    };
    let is_known = matches!(base, Base::Known(_) | Base::Now) && !is_lost;
    let (base, against, before, mut files) = match is_lost {
        true => compared(Base::Coming)?,
        false => first?,
    };
    // What a review has read can be gone by now.
    for path in paths.iter().filter(|path| *path != "." && !is_known) {
        let is_here = root.join(path).symlink_metadata().is_ok();
        if !is_here && repository.id(&format!("{before}:{path}"))?.is_none() {
            let message = format!("there is no file or folder `{}`", shown(path));
            let help = "a path starts in the current folder, and names one file or folder";
            return Err(Unknown::new(message, help));
        }
    }
    for file in &mut files {
        if let Some(at) = unread.iter().position(|unread| unread.path == file.path) {
            (file.unread, file.lines) = (unread.remove(at).unread, None);
        }
    }
    if !(is_known && files.is_empty()) {
        files.extend(unread.into_iter().filter(|file| is_in(&file.path, paths)));
    }
    Ok(Change { base, against, before, after, files, is_lost })
}

/// Returns why no tree of the repository at `root` can have this path in it.
fn out_of_reach(root: &Path, path: &str) -> Option<Unknown> {
    let above = Path::new(path).ancestors().skip(1);
    let why = above.filter(|above| *above != Path::new("")).find_map(|above| {
        let (folder, above) = (root.join(above), shown(&above.to_string_lossy()).into_owned());
        match () {
            () if folder.is_symlink() => Some(format!("below the symbolic link `{above}`")),
            () if folder.join(".git").exists() => {
                Some(format!("in `{above}`, a repository of its own"))
            }
            () => None,
        }
    });
    let own = Path::new(path).starts_with(".git").then(|| "git's own".to_owned());
    let message = format!("`{}` is {}", shown(path), own.or(why)?);
    Some(Unknown::new(message, "name it by the path that git has for it, in its own repository"))
}
