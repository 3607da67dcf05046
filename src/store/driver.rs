//! Which session drives which plan: the one that claimed it last.
//!
//! This is a fact about this machine, not about the repository, so it is never in `state.json`. The journal of an instance says
//! which sessions have claimed it, and a record of each session which instance that has claimed last. They disagree if
//! another session has claimed the instance since, which is reported to the old one once. Another record says how the hook is
//! called.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::facts::Fact;
use super::git_dir::{self, WorkTree};
use super::journal::Journal;
use super::{Store, record, turn, waiting};
use crate::disk;
use crate::files::pattern::name_flaw;

/// The kind of record that says which instance a session has claimed.
const SESSION: &str = "session";

/// The kind of record that says that a settings file calls the hook for an instance, and no plugin does.
const BARE: &str = "bare";

/// What the record about the hook is called.
const HOOK: &str = "hook";

/// What the name of an instance begins with that is a session's alone. (No branch has a dot in the name of its folder.)
const OWN: &str = "session.";

/// The record of a session that has claimed nothing for this long is removed.
const FORGOTTEN: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// The instance that a session claimed last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Claim {
    instance: String,
    /// The instance is gone, and this was reported.
    #[serde(default)]
    is_gone: bool,
}

/// The instance that a session claimed last, and where.
#[derive(Debug)]
pub(crate) struct Claimed {
    /// The root of the project.
    pub(crate) root: PathBuf,
    pub(crate) store: Store,
    pub(crate) instance: String,
    /// Whether it was reported that it is gone.
    pub(crate) is_gone: bool,
}

/// Returns the instance that `session` claimed last in the projects at `roots`. The error is a sentence for the user.
pub(crate) fn claimed(
    roots: &[PathBuf],
    home: &str,
    session: &str,
) -> Result<Option<Claimed>, String> {
    if name_flaw(session).is_some() {
        return Ok(None);
    }
    let mut last: Option<(Duration, Claimed)> = None;
    let mut tree: Option<WorkTree> = None;
    for root in roots {
        // Most roots are above one another, in the same work tree.
        tree = tree.filter(|tree| root.starts_with(&tree.top)).or_else(|| git_dir::around(root));
        let store = Store::within(tree.as_ref(), root, home);
        let claim: Option<(Duration, Claim)> =
            record::try_read(&store, session, SESSION).map_err(|(folder, error)| {
                let shown = folder.strip_prefix(root).unwrap_or(&folder);
                format!("{} cannot be read: {error}", shown.display())
            })?;
        if let Some((at, claim)) = claim
            && last.as_ref().is_none_or(|(other, _)| at >= *other)
        {
            last = Some((at, Claimed::of(root, &store, claim)));
        }
    }
    Ok(last.map(|(_, claimed)| claimed))
}

impl Claimed {
    fn of(root: &Path, store: &Store, claim: Claim) -> Self {
        Self {
            root: root.to_owned(),
            store: store.clone(),
            instance: claim.instance,
            is_gone: claim.is_gone,
        }
    }
}

/// Returns the name of the instance that is a session's alone.
pub(crate) fn own_name(session: &str) -> String {
    format!("{OWN}{session}")
}

/// Returns whether an instance of this name is a session's alone.
pub(crate) fn is_own_name(name: &str) -> bool {
    name.starts_with(OWN)
}

/// Returns the session that drives an instance; several if one host was started in the shell of another. One that has claimed
/// another instance since drives that, and comes back to the one that is its own alone.
pub(crate) fn of(journal: &Journal) -> Vec<String> {
    let mut drivers = journal.facts().drivers;
    let instance = &journal.instance;
    drivers.retain(|session| *instance == own_name(session) || has_claimed(journal, session));
    drivers
}

/// Returns whether the instance is the last one that `session` has claimed.
fn has_claimed(journal: &Journal, session: &str) -> bool {
    let claim = record::read(&journal.store, session, SESSION);
    claim.is_some_and(|claim: Claim| claim.instance == journal.instance)
}

/// Returns whether these sessions drive an instance, and `session` is none of them.
pub(crate) fn are_others(drivers: &[String], session: Option<&str>) -> bool {
    let is_this = |driver: &String| Some(driver.as_str()) == session;
    !drivers.is_empty() && !drivers.iter().any(is_this)
}

/// Returns whether `session` drives the instance and has claimed nothing else since.
pub(crate) fn drives(journal: &Journal, session: &str) -> bool {
    of(journal).iter().any(|driver| driver == session)
}

/// Makes `sessions` the drivers of an instance. The caller holds the instance's write lock.
pub(crate) fn claim(journal: &Journal, sessions: &[String]) -> io::Result<()> {
    for session in sessions {
        claim_one(&journal.store, &journal.instance, session)?;
    }
    match journal.facts().drivers == sessions {
        true => Ok(()),
        false => journal.note(Fact::Drivers { sessions: sessions.to_vec() }),
    }
}

fn claim_one(store: &Store, instance: &str, session: &str) -> io::Result<()> {
    let claim: Option<Claim> = record::read(store, session, SESSION);
    if claim.is_none_or(|claim| claim.instance != instance) {
        sweep(store, SESSION);
        sweep(store, turn::KIND);
        waiting::KINDS.iter().for_each(|kind| sweep(store, kind));
        say(store, instance, session, false)?;
    }
    Ok(())
}

/// Removes the records of sessions that ended long ago.
fn sweep(store: &Store, kind: &str) {
    for folder in store.folders() {
        disk::sweep(folder, FORGOTTEN, |name| {
            Path::new(name).extension() == Some(OsStr::new(kind))
        });
    }
}

/// Records that the end of a session's instance was reported, or that the instance is there again.
pub(crate) fn say(store: &Store, instance: &str, session: &str, is_gone: bool) -> io::Result<()> {
    let claim = Claim { instance: instance.to_owned(), is_gone };
    record::write(store, session, SESSION, claim)
}

/// Records that a session has ended: it drives nothing until it is resumed and stops again. What it claimed stays its own.
pub(crate) fn release(journal: &Journal, session: &str) {
    let mut sessions = journal.facts().drivers;
    if let Some(at) = sessions.iter().position(|driver| driver == session) {
        sessions.remove(at);
        // If this cannot be recorded, others read that the session may have ended.
        let _ = journal.note(Fact::Drivers { sessions });
    }
}

/// Removes the claim of a session, which drives nothing from then on: not what it claimed before either.
pub(crate) fn forget(store: &Store, session: &str) {
    let own = own_name(session);
    release(&Journal::of(store, &own, &own), session);
    record::remove(store, session, SESSION);
}

/// Removes what says that sessions drive an instance. What they have claimed since, they drive all the same.
pub(crate) fn leave(journal: &Journal) {
    for session in of(journal) {
        if has_claimed(journal, &session) {
            forget(&journal.store, &session);
        }
        release(journal, &session);
    }
}

/// Returns whether a settings file calls the hook, so that the commands of a plugin are missing. That is the same for all
/// instances.
pub(crate) fn is_bare(store: &Store) -> bool {
    record::read(store, HOOK, BARE).unwrap_or(false)
}

/// Records that a settings file calls the hook, or that a plugin does.
pub(crate) fn set_bare(store: &Store, bare: bool) {
    if is_bare(store) != bare {
        // If this cannot be recorded, commands are named as the plugin has them.
        let _ = match bare {
            true => record::write(store, HOOK, BARE, true),
            false => {
                record::remove(store, HOOK, BARE);
                Ok(())
            }
        };
    }
}
