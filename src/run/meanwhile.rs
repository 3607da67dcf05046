//! What changes while a review runs.
//!
//! The reviewer can do it, the user, or a process in the background: which one is unknown, and no one is blamed. Each changed file is
//! named to the user.

use std::path::PathBuf;
use std::sync::Arc;

use crate::project::change::Tree;
use crate::project::git;
use crate::project::seen::{self, Seen};
use crate::run::place::Place;
use crate::text::shown;

/// How many files are named.
const NAMED: usize = 12;

/// Returns a sentence for the user about the files under review and the code that have changed since a reviewer saw them;
/// `None` if none has. `tree` is `None` if the code before is unknown.
pub(crate) fn changes(place: &Place, seen: &Seen, tree: Option<Arc<Tree>>) -> Option<String> {
    place.trees().forget();
    let subject = seen::changed(&place.chart, &place.root, &place.dir(), &seen.subject);
    let subject = subject.into_iter().map(|name| place.instance.dir.join(name));
    let trees = tree.zip(place.trees().read().ok());
    let code = trees.and_then(|(then, now)| place.trees().changed([&then.id, &now.id]));
    let is_known = code.is_some() || !git::is_in_git(&place.root);
    let files: Vec<PathBuf> = subject.chain(code.unwrap_or_default()).collect();
    let names = files.iter().map(|file| shown(&file.to_string_lossy()).into_owned());
    let mut names: Vec<String> = names.take(NAMED).collect();
    if files.len() > NAMED {
        names.push(format!("and {} more", files.len() - NAMED));
    }
    let changes = (!names.is_empty())
        .then(|| format!("Changed while it was reviewed: {}.", names.join(", ")));
    let unknown = (!is_known)
        .then(|| "Whether code has changed meanwhile is unknown: git cannot say.".to_owned());
    let sentences: Vec<String> = changes.into_iter().chain(unknown).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}
