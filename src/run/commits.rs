//! The commits of a change: what was committed on a branch that is not checked out anymore is in no review of it.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use crate::project::change::{Apart, Change, apart};
use crate::run::part;
use crate::run::place::Place;
use crate::store::git_dir;
use crate::text::shown;

/// The file in the directory of a change that says how much of git's log of HEAD is not about it, and behind that with which
/// commit it began.
const SEEN: &str = ".seen";

/// What that log says of a new commit begins with one of these.
const COMMITTED: [&str; 7] = ["commit", "cherry-pick", "revert", "merge", "am", "rebase", "pull"];

/// But that does not end with one of these: then HEAD has moved to one that was there. Neither do they say so in these words.
const MOVED: [&str; 5] = ["(start)", "(finish)", "(abort)", "(reset)", "--abort"];
const MERGED: [&str; 2] = ["merge", "pull"];
const FAST: &str = "Fast-forward";
const PICKED: [&str; 2] = ["rebase", "cherry-pick"];
const SAME: &str = "fast-forward";

/// What it says of leaving one begins with one of these; a rebase begins with the first. Whoever resets or rebases has undone a
/// commit that no branch has.
const CHECKED_OUT: &str = "checkout";
const RESET: &str = "reset";
const REBASED: [&str; 3] = ["rebase", "rebase (start)", "rebase -i (start)"];

/// How many of those that were left are looked at, the last ones.
const LEFT: usize = 20;

/// Returns git's log of HEAD in the work tree of a change.
fn log(place: &Place) -> Option<PathBuf> {
    let tree = git_dir::around(&place.root)?;
    Some(tree.git_dir?.join("logs/HEAD"))
}

/// Returns the old commit of a line of that log, the new one, and what was done. Between them is who did it, and when.
fn entry(line: &str) -> Option<(&str, &str, &str)> {
    let (head, what) = line.split_once('\t')?;
    let mut ids = head.split(' ');
    Some((ids.next()?, ids.next()?, what))
}

/// Keeps in mind how long that log is: what it says up to here was there before the change, or is clean.
pub(crate) fn pass_over(place: &Place) {
    keep(place, None);
}

/// Keeps in mind the same, and with which commit the reviews of `change` begin.
pub(crate) fn begin(place: &Place, change: &Change) {
    let text = log(place).and_then(|log| fs::read_to_string(log).ok());
    let text = text.unwrap_or_default();
    let head = text.lines().next_back().and_then(entry);
    // What is only in the work tree is on no branch.
    keep(place, head.map(|(_, new, _)| new).filter(|head| *head != change.base));
}

fn keep(place: &Place, head: Option<&str>) {
    let length = log(place).and_then(|log| Some(log.metadata().ok()?.len()));
    let seen = [length.unwrap_or(0).to_string()].into_iter();
    let seen: Vec<String> = seen.chain(head.map(str::to_owned)).collect();
    let _ = fs::write(place.dir().join(SEEN), seen.join(" "));
}

/// Forgets both.
pub(crate) fn forget(place: &Place) {
    let _ = fs::remove_file(place.dir().join(SEEN));
}

/// Says on which branches there are commits of the change that HEAD does not have: no review reads them. Of a change that goes
/// on from prompt to prompt, that is said once.
pub(crate) fn elsewhere(place: &Place) -> Option<String> {
    let seen = fs::read_to_string(place.dir().join(SEEN)).ok()?;
    let mut seen = seen.split(' ');
    let length = seen.next()?.parse().ok()?;
    let mut log = fs::File::open(log(place)?).ok()?;
    log.seek(SeekFrom::Start(length)).ok()?;
    let mut text = Vec::new();
    log.read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut places: BTreeSet<String> = BTreeSet::new();
    let (left, head) = left(&text, seen.next());
    let mut are_included = !left.is_empty();
    for (id, was_undone) in left.into_iter().rev().take(LEFT) {
        let apart = apart(&place.root, id);
        are_included &= matches!(apart, Some(Apart::Included));
        if let Some(Apart::On(branches)) = apart {
            let is_nowhere = branches.is_empty() && !was_undone;
            places.extend(is_nowhere.then(|| "no branch".to_owned()));
            places.extend(branches.iter().map(|name| format!("`{}`", shown(name))));
        }
    }
    // What was included once is not left behind because it has changed since.
    if are_included || part::is_own(place) && !places.is_empty() {
        keep(place, head);
    }
    if places.is_empty() {
        return None;
    }
    let places: Vec<String> = places.into_iter().collect();
    Some(format!(
        "Commits of this change are not checked out now, so no review reads them: they are on {}.",
        places.join(", ")
    ))
}

/// Returns the commits of a change that HEAD was on when it was moved elsewhere, and whether it was reset, by git's log since the
/// change began with the commit `begun`; and the commit that HEAD is on, if it is one of the change.
fn left<'l>(log: &'l str, begun: Option<&'l str>) -> (Vec<(&'l str, bool)>, Option<&'l str>) {
    let mut made: HashSet<&str> = begun.into_iter().collect();
    let mut left = Vec::new();
    let mut head = begun;
    for (old, new, what) in log.lines().filter_map(entry) {
        let (what, message) = what.split_once(": ").unwrap_or((what, ""));
        let begins = |starts: &[&str]| starts.iter().any(|start| what.starts_with(start));
        let is_rebase = REBASED.contains(&what) && message.starts_with(CHECKED_OUT);
        let has_moved = is_rebase
            || MOVED.iter().any(|moved| what.ends_with(moved))
            || begins(&MERGED) && message.starts_with(FAST)
            || begins(&PICKED) && message == SAME;
        let was_undone = begins(&[RESET]) || is_rebase;
        if (was_undone || begins(&[CHECKED_OUT])) && made.contains(old) && old != new {
            left.push((old, was_undone));
        }
        if begins(&COMMITTED) && !has_moved {
            made.insert(new);
        }
        head = Some(new);
    }
    (left, head.filter(|head| made.contains(head)))
}

#[cfg(test)]
mod tests {
    use super::left;

    /// The log has a line for each of `steps`: the old commit, the new one, and what was done.
    fn left_by(steps: &str) -> String {
        let lines = steps.split("; ").filter_map(|step| {
            let (ids, what) = (step.get(..3)?, step.get(4..)?);
            Some(format!("{ids} N <e> 1 +0\t{what}\n"))
        });
        let log: String = lines.collect();
        let (left, _) = left(&log, Some("0"));
        let left = left.iter();
        let left =
            left.map(|(id, was_undone)| format!("{id}{}", if *was_undone { "r" } else { "" }));
        left.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn commits_that_were_left() {
        for (steps, expected) in [
            ("0 1 checkout: moving from f to main", "0"),
            ("0 1 commit: a; 1 2 commit (amend): b", ""),
            ("0 1 commit: a; 1 9 checkout: moving", "1"),
            ("9 1 cherry-pick: a; 1 9 checkout: moving", "1"),
            ("0 1 commit: a; 1 0 reset: moving to HEAD~1", "1r"),
            ("9 8 merge x: Fast-forward; 8 9 checkout: moving", ""),
            ("9 8 merge x: Merge made by; 8 9 checkout: moving", "8"),
            ("9 7 pull (start): checkout; 7 6 pull (pick): a; 6 9 checkout: moving", "6"),
            ("9 8 pull: Fast-forward; 8 9 checkout: moving", ""),
            ("9 7 rebase (start): checkout main; 7 9 checkout: moving", ""),
            ("9 8 checkout: moving to old; 8 9 checkout: moving to main", ""),
            ("0 1 commit: Fast-forward (start); 1 9 checkout: moving", "1"),
            ("0 1 commit: a; 1 9 rebase (start): checkout main", "1r"),
            ("0 1 commit: a; 1 9 rebase: checkout main", "1r"),
            ("9 8 merge f: Fast-forward (no commit created); 8 9 checkout: moving", ""),
            ("9 8 rebase (abort): returning to refs/heads/f; 8 9 checkout: moving", ""),
            ("9 8 rebase: fast-forward; 8 9 checkout: moving", ""),
            ("9 8 cherry-pick: fast-forward; 8 9 checkout: moving", ""),
            ("9 8 am --abort; 8 9 checkout: moving", ""),
        ] {
            assert_eq!(left_by(steps), expected, "{steps}");
        }
    }
}
