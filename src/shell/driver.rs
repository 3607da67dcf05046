//! Which session drives which plan: whoever took it up last.
//!
//! This is a fact of this machine, not of the repository, so it stands in the lock folder and never in `state.json`.
//! There are two records: what a session has taken up last, and which session an instance belongs to. They disagree
//! where another session has taken the instance over, which is reported to the old one once.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{find, git, lock, record};

/// The kind of record that says what a session has taken up.
const SESSION: &str = "session";

/// The kind of record that says which session an instance belongs to.
const DRIVER: &str = "driver";

/// A session that did nothing for so long does not come back.
const FORGOTTEN: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// What a session has taken up last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct TakenUp {
    /// When, since 1970.
    at: Duration,
    pub(crate) instance: String,
}

/// Returns what `session` has taken up last in the projects at `roots`, and in which of them. The error is a sentence
/// for the user.
pub(crate) fn taken_up(
    roots: &[PathBuf],
    home: &str,
    session: &str,
) -> Result<Option<(PathBuf, String)>, String> {
    if find::name_flaw(session).is_some() {
        return Ok(None);
    }
    let mut last: Option<(TakenUp, &PathBuf)> = None;
    for root in roots {
        let taken = record::try_read(&root.join(home), session, SESSION)
            .map_err(|error| format!("{home}/{} cannot be read: {error}", lock::FOLDER))?;
        last = last.max(taken.map(|taken| (taken, root)));
    }
    Ok(last.map(|(taken, root)| (root.clone(), taken.instance)))
}

/// Returns the session that drives an instance.
pub(crate) fn of(home: &Path, instance: &str) -> Option<String> {
    record::read(home, instance, DRIVER)
}

/// True where `session` drives the instance and has taken up nothing else since.
pub(super) fn drives(home: &Path, instance: &str, session: &str) -> bool {
    let taken: Option<TakenUp> = record::read(home, session, SESSION);
    taken.is_some_and(|taken| taken.instance == instance)
        && of(home, instance).as_deref() == Some(session)
}

/// Makes `session` the driver of an instance. The caller holds the instance's write lock.
pub(super) fn take_up(home: &Path, instance: &str, session: &str) -> io::Result<()> {
    let taken: Option<TakenUp> = record::read(home, session, SESSION);
    if taken.is_none_or(|taken| taken.instance != instance) {
        sweep(home);
        let taken = TakenUp {
            at: record::now(),
            instance: instance.to_owned(),
        };
        record::write(home, session, SESSION, taken)?;
    }
    if of(home, instance).as_deref() != Some(session) {
        record::write(home, instance, DRIVER, session)?;
    }
    Ok(())
}

/// What is wrong with the lock folder of a project, as a sentence that ends without a stop: one that is part of the
/// repository says nothing about this machine.
pub(crate) fn flaw(root: &Path, home: &str) -> Option<String> {
    let folder = Path::new(home).join(lock::FOLDER);
    git::is_tracked(root, &folder).then(|| {
        let folder = folder.display();
        format!(
            "{folder} is tracked by git, so what it says of sessions is not believed. `git rm -rf --cached {folder}` takes it out of the repository"
        )
    })
}

/// The session drives nothing any more.
pub(super) fn forget(home: &Path, session: &str) {
    record::remove(home, session, SESSION);
}

/// Removes the records of sessions that are long gone.
fn sweep(home: &Path) {
    let entries = fs::read_dir(lock::folder(home)).into_iter().flatten();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_session = Path::new(&name)
            .extension()
            .is_some_and(|kind| kind == SESSION);
        let age = || {
            let modified = entry.metadata().ok()?.modified().ok()?;
            modified.elapsed().ok()
        };
        if is_session && age().is_some_and(|age| age > FORGOTTEN) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
