//! Which session drives which plan: the one that claimed it last.
//!
//! This is a fact about this machine, not about the repository, so it is kept in the lock folder and never in
//! `state.json`. There are two records: the instance that a session claimed last, and the session that drives an instance.
//! They disagree if another session has claimed the instance since, which is reported to the old one once.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{lock, record};
use crate::disk;
use crate::files::clock;
use crate::files::pattern::name_flaw;
use crate::hash::Hash;

/// The kind of record that says which instance a session has claimed.
const SESSION: &str = "session";

/// The kind of record that says which session drives an instance.
const DRIVER: &str = "driver";

/// The kind of record that says about which instance without a driver the user of a session has been told.
const TOLD: &str = "told";

/// The record of a session that has claimed nothing for this long is removed.
const FORGOTTEN: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// The instance that a session claimed last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Claim {
    /// When it was claimed, since 1970.
    at: Duration,
    pub(crate) instance: String,
}

/// Returns the instance that `session` claimed last in the projects at `roots`, with the root of its project. The error is
/// a sentence for the user.
pub(crate) fn claimed(
    roots: &[PathBuf],
    home: &str,
    session: &str,
) -> Result<Option<(PathBuf, String)>, String> {
    if name_flaw(session).is_some() {
        return Ok(None);
    }
    let mut last: Option<(Claim, &PathBuf)> = None;
    for root in roots {
        let claim = record::try_read(&root.join(home), session, SESSION)
            .map_err(|error| format!("{home}/{} cannot be read: {error}", lock::FOLDER))?;
        last = last.max(claim.map(|claim| (claim, root)));
    }
    Ok(last.map(|(claim, root)| (root.clone(), claim.instance)))
}

/// Returns the session that drives an instance.
pub(crate) fn of(home: &Path, instance: &str) -> Option<String> {
    record::read(home, instance, DRIVER)
}

/// Returns whether `session` drives the instance and has claimed nothing else since.
pub(crate) fn drives(home: &Path, instance: &str, session: &str) -> bool {
    let claim: Option<Claim> = record::read(home, session, SESSION);
    claim.is_some_and(|claim| claim.instance == instance)
        && of(home, instance).as_deref() == Some(session)
}

/// Makes `session` the driver of an instance. The caller holds the instance's write lock.
pub(crate) fn claim(home: &Path, instance: &str, session: &str) -> io::Result<()> {
    let claim: Option<Claim> = record::read(home, session, SESSION);
    if claim.is_none_or(|claim| claim.instance != instance) {
        sweep(home, SESSION);
        let claim = Claim {
            at: clock::since_1970(),
            instance: instance.to_owned(),
        };
        record::write(home, session, SESSION, claim)?;
    }
    if of(home, instance).as_deref() != Some(session) {
        record::write(home, instance, DRIVER, session)?;
    }
    Ok(())
}

/// Returns whether the user of `session` has not been told yet that nobody drives an instance in this state, and records
/// that this is told now. The caller holds the instance's write lock.
pub(crate) fn is_news(home: &Path, instance: &str, session: &str, state: &[u8]) -> bool {
    let mut mark = Hash::default();
    mark.add(state);
    let told = (instance.to_owned(), mark.number());
    let before: Option<(String, u64)> = record::read(home, session, TOLD);
    let is_news = before.as_ref() != Some(&told);
    if is_news {
        sweep(home, TOLD);
        // If this cannot be recorded, it is said again.
        let _ = record::write(home, session, TOLD, told);
    }
    is_news
}

/// Removes the records of sessions that ended long ago.
fn sweep(home: &Path, kind: &str) {
    disk::sweep(&lock::folder(home), FORGOTTEN, |name| {
        Path::new(name).extension() == Some(OsStr::new(kind))
    });
}

/// Removes the claim of a session, which drives nothing from then on.
pub(crate) fn forget(home: &Path, session: &str) {
    record::remove(home, session, SESSION);
}
