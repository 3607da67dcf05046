//! What a change is compared with, and which branch it is on.

use std::collections::HashSet;
use std::fs;

use super::command::{git, output, text};
use super::repository::{EMPTY, Heads, Repository};
use super::terms::{Base, Unknown};
use crate::store::facts::Prompt;
use crate::store::git_dir;
use crate::text::shown;

/// What the name of a HEAD begins with that is on no branch. (No branch can be called that.)
const DETACHED: &str = "..detached-";

/// How what the log of HEAD names first ends where no commit is made, and how it begins where none is made if `Fast-forward` follows.
/// What names something else counts as made here.
const CHECKED_OUT: [&str; 5] = ["clone", "checkout", "reset", "(start)", "(finish)"];

/// What the log of a remote's branch says of what was pushed from here.
const PUSHED: &str = "update by push";

/// Returns HEAD, and what that is in words.
pub(super) fn since_head(head: &str) -> (String, String) {
    (head.to_owned(), "since HEAD".to_owned())
}

impl Repository {
    /// Returns the commit or tree that a change is compared with if not with HEAD, and what that is in words.
    pub(super) fn compared(
        &self,
        base: Base<'_>,
        heads: &Heads,
    ) -> Result<(String, String), Unknown> {
        let head = heads.head.as_str();
        match base {
            Base::Tree(id) => Ok((id.to_owned(), "in this session".to_owned())),
            Base::Known(id) => {
                // A branch can have been made again under its name.
                let fork = match id == head {
                    true => None,
                    false => self.ask(&["merge-base", head, id])?,
                };
                let id = match fork {
                    Some(fork) => self.without_others(fork, heads)?,
                    None => id.to_owned(),
                };
                let start = shown(&id).chars().take(12).collect::<String>();
                Ok(if id == head { since_head(head) } else { (id, format!("since {start}")) })
            }
            Base::Left(given) => {
                let fork = self.fork(head, &self.commit(given)?, &shown(given))?;
                Ok((fork, format!("since {}", shown(given))))
            }
            _ => match self.began(heads) {
                Err(_) if matches!(base, Base::Coming) => Ok(since_head(head)),
                began => began,
            },
        }
    }

    /// Returns the tree of a prompt with what has come since and was committed before: a checkout, a pull or a merge has brought it,
    /// and it is no part of the session's change. `None` if that is nothing, or if git cannot say: then all counts.
    pub(super) fn with_what_came(
        &self,
        Prompt { time, tree, head: then }: &Prompt,
        head: &str,
    ) -> Option<String> {
        if head == then {
            return None;
        }
        let list = ["rev-list", "--topo-order", "--timestamp", "--boundary"];
        let listed = self.ask(&[&list[..], &[head, &format!("^{then}")]].concat()).ok()??;
        let commits = || listed.lines().filter_map(|line| line.split_once(' '));
        let is_older = |made: &str| made.parse().is_ok_and(|made: u64| made < *time);
        let came = commits().find(|(made, id)| is_older(made) && !id.starts_with('-'));
        let came = match came {
            // HEAD is now an ancestor of that commit.
            None if listed.is_empty() => head,
            None => return None,
            Some((_, id)) => id,
        };
        // If HEAD has only moved forward, it still contains the earlier work.
        let goes_on = commits().any(|(_, id)| id.strip_prefix('-') == Some(then));
        let fork = goes_on.then(|| self.ask(&["merge-base", then, came]).ok()?).flatten();
        let base = format!("--merge-base={}", fork.as_deref().unwrap_or(then));
        // This runs no program that attributes name, and does not guess which folders were renamed.
        let empty = EMPTY.into_iter().find(|empty| empty.len() == tree.len())?;
        let plain = [&format!("--attr-source={empty}"), "-c", "merge.directoryRenames=false"];
        let merge = ["merge-tree", "--write-tree", "--no-messages", &base, tree, came];
        let merged = output(&mut git(&self.root, &[&plain[..], &merge].concat()).ok()?).ok()?;
        // It ends with 1 where both sides have changed the same lines.
        let has_merged = matches!(merged.status.code(), Some(0 | 1));
        text(&merged.stdout).lines().next().filter(|_| has_merged).map(str::to_owned)
    }

    /// Returns the commit at which HEAD left the default branch, and what that is in words; HEAD where there is no other branch.
    pub(super) fn began(&self, heads: &Heads) -> Result<(String, String), Unknown> {
        let head = heads.head.as_str();
        match &heads.default {
            Some((branch, id)) => Ok((self.fork(head, id, branch)?, format!("since {branch}"))),
            None if EMPTY.contains(&head) || self.is_only_branch()? => Ok(since_head(head)),
            None => {
                let why = "the default branch is unknown, so there is nothing to compare HEAD with";
                Err(self.without_base("the default branch", why))
            }
        }
    }

    /// Returns the commit with which HEAD is compared in place of `base`: the last one that the default branch has brought since,
    /// before the first that was made in this repository. What came from elsewhere is no part of the change.
    fn without_others(&self, base: String, heads: &Heads) -> Result<String, Unknown> {
        let made = self.made_here();
        let other = heads.default.as_ref().and_then(|(name, id)| self.fetched(name, id));
        // Without a log, what was made here is unknown.
        let other = other.filter(|other| *other != base && !made.is_empty());
        let fork = other.map(|other| self.ask(&["merge-base", &heads.head, &other])).transpose()?;
        let Some(fork) = fork.flatten() else { return Ok(base) };
        let range = format!("{base}..{fork}");
        let brought = self.ask(&["rev-list", "--topo-order", "--reverse", "--boundary", &range])?;
        let brought = brought.unwrap_or_default();
        // Where the range begins, there is a hyphen.
        let (start, brought): (Vec<_>, Vec<_>) =
            brought.lines().partition(|id| id.starts_with('-'));
        if !start.iter().any(|id| id[1..] == base) {
            return Ok(base);
        }
        let others = brought.into_iter().take_while(|id| !made.contains(*id));
        Ok(others.last().map_or(base, str::to_owned))
    }

    /// Returns what was fetched last of a remote's branch, whose commit is `id` now; `None` for a local branch, and if nothing was.
    fn fetched(&self, branch: &str, id: &str) -> Option<String> {
        let remote = branch.strip_prefix("origin/")?;
        let (_, common) = git_dir::of(&self.root)?;
        let log = fs::read(common.join("logs/refs/remotes/origin").join(remote));
        // A clone has no log before something has moved.
        let Ok(log) = log else { return Some(id.to_owned()) };
        let log = String::from_utf8_lossy(&log).into_owned();
        let last = log.lines().rev().find(|line| !line.ends_with(PUSHED));
        let first = || log.lines().next()?.split(' ').next();
        let fetched = last.and_then(|line| line.split(' ').nth(1)).or_else(first)?;
        (!fetched.starts_with("0000")).then(|| fetched.to_owned())
    }

    /// Returns the commits that were made in the work trees of this repository, by the logs of their HEADs.
    fn made_here(&self) -> HashSet<String> {
        let Some((_, common)) = git_dir::of(&self.root) else { return HashSet::new() };
        let trees = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        let dirs = std::iter::once(common).chain(trees.map(|tree| tree.path()));
        let mut made = HashSet::new();
        for log in dirs.filter_map(|dir| fs::read(dir.join("logs/HEAD")).ok()) {
            let log = String::from_utf8_lossy(&log);
            let entries = log.lines().map(|line| line.split_once('\t').unwrap_or((line, "")));
            let own = entries.filter(|(_, what)| is_made(what));
            made.extend(own.filter_map(|(ids, _)| ids.split(' ').nth(1).map(str::to_owned)));
        }
        made
    }

    /// Returns the commit from which two commits went apart; the user knows the second one as `other`.
    pub(super) fn fork(&self, head: &str, id: &str, other: &str) -> Result<String, Unknown> {
        if let Some(base) = self.ask(&["merge-base", head, id])? {
            return Ok(base);
        }
        Err(self.without_base(other, &format!("HEAD and {other} have no commit in common")))
    }

    /// Returns why HEAD cannot be compared with the commit at which it left `other`: `why`, unless the clone is shallow.
    fn without_base(&self, other: &str, why: &str) -> Unknown {
        let git_dirs = git_dir::of(&self.root);
        if !git_dirs.is_some_and(|(_, common)| common.join("shallow").exists()) {
            return Unknown::new(
                why,
                "name the commit to compare with: `review --base REV`, or `verify REV..HEAD`",
            );
        }
        let message = format!(
            "this clone is shallow: it does not have the commit from which HEAD and {other} went apart"
        );
        let help = "fetch the whole history (`git fetch --unshallow`; `fetch-depth: 0` in a workflow), or name a --base";
        Unknown::new(message, help)
    }

    /// Returns whether HEAD is the only branch that this repository knows, its own or one of another repository.
    fn is_only_branch(&self) -> Result<bool, Unknown> {
        let all = ["for-each-ref", "--format=HEAD:%(HEAD)", "refs/heads", "refs/remotes"];
        Ok(self.ask(&all)?.is_some_and(|all| all == "HEAD:*"))
    }

    /// Returns what names the branch of HEAD; where HEAD is on none, its commit.
    pub(super) fn branch(&self) -> Result<String, Unknown> {
        let file = git_dir::of(&self.root).and_then(|(own, _)| fs::read(own.join("HEAD")).ok());
        let file = file.map(|head| String::from_utf8_lossy(&head).into_owned());
        let head =
            match file.filter(|head| head.starts_with("ref: ") && !head.contains("/.invalid")) {
                // References need not be in files.
                None => self.ask(&["symbolic-ref", "--quiet", "HEAD"])?.unwrap_or_default(),
                Some(head) => head,
            };
        if let Some((_, name)) = head.split_once("refs/heads/") {
            return Ok(name.trim_end().to_owned());
        }
        let commit = self.heads("HEAD")?.head;
        Ok(DETACHED.chars().chain(commit.chars().take(12)).collect())
    }
}

/// Returns whether what the log of HEAD says is that a commit was made.
fn is_made(what: &str) -> bool {
    match what.split_once(": ") {
        Some((did, "Fast-forward")) => !["pull", "merge"].iter().any(|it| did.starts_with(it)),
        Some((did, _)) => !CHECKED_OUT.iter().any(|it| did.ends_with(it)),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The subject of a commit may say anything.
    #[test]
    fn what_is_made_here() {
        for (what, expected) in [
            ("commit: fix: reset: x", true),
            ("commit: Fast-forward", true),
            ("commit (amend): checkout: y", true),
            ("rebase (pick): clone: z", true),
            ("merge topic: Merge made by the 'ort' strategy.", true),
            ("pull --rebase origin main: Fast-forward", false),
            ("merge topic: Fast-forward", false),
            ("rebase -i (start): checkout main", false),
            ("rebase (finish): returning to refs/heads/main", false),
            ("", true),
            ("checkout: moving from a to b", false),
            ("reset: moving to HEAD~", false),
            ("clone: from ../p", false),
        ] {
            assert_eq!(is_made(what), expected, "{what}");
        }
    }
}
