//! What has changed in a work tree, as two git trees: what was there before, and what is there now, committed or not.
//!
//! Neither the index nor a file of the work tree changes: the tree is written with an index of its own. Its objects are in the
//! repository like all others, until `git gc` removes what nothing refers to.

mod base;
mod command;
mod index;
mod pattern;
mod repository;
mod terms;
mod trees;

use std::path::Path;

use self::base::since_head;
use self::repository::{Heads, Repository};
use self::trees::locked;
use crate::store::git_dir::WorkTree;
use crate::text::shown;

pub(crate) use self::terms::{Base, Change, Changed, Unknown};
pub(crate) use self::trees::{RECEIPTS, Tree, Trees};

/// Returns the text of a file in a commit or a tree; `None` if it has no such file.
pub(crate) fn text_in(root: &Path, commit: &str, file: &Path) -> Result<Option<String>, Unknown> {
    let name = format!("{commit}:{}", file.display());
    Repository { root: root.to_owned() }.ask(&["cat-file", "blob", &name])
}

/// Returns the name of the branch of a work tree.
pub(crate) fn branch(tree: &WorkTree) -> Result<String, Unknown> {
    Repository { root: tree.top.clone() }.branch()
}

/// Finds out what has changed in a work tree, compared with `base`.
pub(crate) fn read(trees: &Trees, base: Base<'_>) -> Result<Change, Unknown> {
    let now = trees.read()?;
    let mut last = locked(&trees.compared);
    if let (Some(change), Base::Known(base) | Base::Tree(base)) = (&*last, base)
        && (&*change.base, &change.after) == (base, &now.id)
    {
        return Ok(change.clone());
    }
    let change = compared(&trees.repository()?, trees, &now, base)?;
    *last = (!change.is_lost).then(|| change.clone());
    Ok(change)
}

/// Returns what differs in the commits of a range, as in `main..HEAD`, from where its two ends went apart; without one, what
/// differs in the work tree from where it left the default branch.
pub(crate) fn in_range(trees: &Trees, range: Option<&str>) -> Result<Vec<Changed>, Unknown> {
    let repository = trees.repository()?;
    let Some(range) = range else {
        let (base, _) = repository.began(&repository.heads("HEAD")?)?;
        return Ok(read(trees, Base::Tree(&base))?.files);
    };
    let (from, to) = range.split_once("..").unwrap_or((range, ""));
    let to = to.trim_start_matches('.');
    let to = if to.is_empty() { "HEAD" } else { to };
    let (to, from) = (repository.commit(to)?, repository.commit(from)?);
    let fork = repository.fork(&to, &from, &shown(range))?;
    Ok(differing(&repository, trees, &fork, &to)?.1)
}

fn compared(
    repository: &Repository,
    trees: &Trees,
    now: &Tree,
    base: Base<'_>,
) -> Result<Change, Unknown> {
    let known = if let Base::Known(id) | Base::Tree(id) = base { id } else { "HEAD" };
    let heads = repository.heads(known)?;
    let Heads { head, tree, .. } = &heads;
    let is_lost = tree.is_none() && known != "HEAD";
    let moved;
    let base = match base {
        // Git keeps nothing for us: of what was there before, `git gc` removes what nothing else needs.
        _ if is_lost => Base::Coming,
        Base::Known(id) if tree.as_deref() == Some(id) => {
            let prompt = trees.prompt.as_ref().filter(|prompt| prompt.tree == id);
            moved = prompt.and_then(|prompt| repository.with_what_came(prompt, head));
            Base::Tree(moved.as_deref().unwrap_or(id))
        }
        base => base,
    };
    let differing = |base: &str| differing(repository, trees, base, &now.id);
    let at_head = match base {
        // Where nothing has changed, its tree is the one that is there.
        Base::AtHand | Base::Coming => {
            Some(differing(tree.as_ref().filter(|_| !is_lost).unwrap_or(head))?)
        }
        _ => None,
    };
    let (base, against) = match &at_head {
        Some((_, files)) if files.iter().any(Changed::is_readable) => since_head(head),
        _ => repository.compared(base, &heads)?,
    };
    let at_head = at_head.filter(|_| base == *head);
    let (before, mut files) = at_head.map_or_else(|| differing(&base), Ok)?;
    files.retain(|file| now.unread.iter().all(|unread| unread.path != file.path));
    files.extend(now.unread.iter().cloned());
    Ok(Change { head: heads.head, base, against, before, after: now.id.clone(), files, is_lost })
}

/// Returns a commit or tree without what is left out of the trees of a work tree, and the files that differ from it in the tree
/// `after`.
fn differing(
    repository: &Repository,
    trees: &Trees,
    base: &str,
    after: &str,
) -> Result<(String, Vec<Changed>), Unknown> {
    let mut files = repository.files([base, after])?;
    // Nothing of it is in a tree of the work tree, so it is among what differs.
    let names = files.iter().map(|file| &*file.path);
    let apart: Vec<&str> = names.filter(|name| trees.leaves_out(name)).collect();
    if apart.is_empty() {
        return Ok((base.to_owned(), files));
    }
    let before = repository.without(base, &apart)?;
    files.retain(|file| !trees.leaves_out(&file.path));
    Ok((before, files))
}
