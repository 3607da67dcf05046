//! The commits of a change: those that are on branches which are not checked out anymore are in no review of it.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use crate::project::change::{Change, branches_apart};
use crate::run::part;
use crate::run::place::Place;
use crate::store::git_dir;
use crate::text::shown;

/// The file in the directory of a change that says how much of git's log of HEAD is not about it, and behind that with which
/// commit it began.
const SEEN: &str = ".seen";

/// What that log says of a commit begins with this, and how many of them are looked for.
const COMMITTED: &str = "commit";
const COMMITS: usize = 100;

/// Returns git's log of HEAD in the work tree of a change.
fn log(place: &Place) -> Option<PathBuf> {
    let tree = git_dir::around(&place.root)?;
    Some(tree.git_dir?.join("logs/HEAD"))
}

/// Returns the new commit of a line of that log, and what was done. Before it are the old commit, and then who and when.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (head, what) = line.split_once('\t')?;
    Some((head.split(' ').nth(1)?, what))
}

/// Keeps in mind how long that log is: what it says up to here was there before the change, or is clean.
pub(crate) fn pass_over(place: &Place) {
    let length = log(place).and_then(|log| Some(log.metadata().ok()?.len()));
    let _ = fs::write(place.dir().join(SEEN), length.unwrap_or(0).to_string());
}

/// Keeps in mind the same, and with which commit the reviews of `change` begin.
pub(crate) fn begin(place: &Place, change: &Change) {
    let text = log(place).and_then(|log| fs::read_to_string(log).ok());
    let text = text.unwrap_or_default();
    let head = text.lines().next_back().and_then(entry).map(|(new, _)| new);
    // What is only in the work tree is on no branch.
    let head = head.filter(|head| *head != change.base);
    let seen = [text.len().to_string()].into_iter();
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
    let commits = text.lines().rev().filter_map(entry);
    let commits = commits.filter(|(_, what)| what.starts_with(COMMITTED));
    let commits = commits.map(|(new, _)| new).chain(seen);
    let commits: Vec<String> = commits.take(COMMITS).map(str::to_owned).collect();
    if commits.is_empty() {
        return None;
    }
    let names = branches_apart(&place.root, &commits)?;
    if part::is_own(place) {
        pass_over(place);
    }
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", shown(name)))
        .collect();
    Some(format!(
        "Commits of this change are not reviewed: they are on {}, which is not checked out now.",
        names.join(", ")
    ))
}
