//! Which session drives which plan: the one that claimed it last.
//!
//! This is a fact about this machine, not about the repository, so it is never in `state.json`. The journal of an instance says
//! which sessions have claimed it, and a journal of all sessions in a home which instance each has claimed last. They
//! disagree if another session has claimed the instance since, which is reported to the old one once.

use std::io;
use std::path::{Path, PathBuf};

use super::Store;
use super::facts::{Claim, Fact};
use super::git_dir::{self, WorkTree};
use super::journal::{Journal, now};
use crate::files::pattern::name_flaw;

/// The file of the journal of all sessions, and what its lines are about.
const SESSIONS: &str = ".sessions";

/// What the name of an instance begins with that is a session's alone. (No branch has a dot in the name of its folder.)
const OWN: &str = "session.";

/// The instance that a session claimed last, and where.
#[derive(Debug)]
pub(crate) struct Claimed {
    /// The root of the project.
    pub(crate) root: PathBuf,
    pub(crate) store: Store,
    pub(crate) instance: String,
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
    let mut last: Option<(String, Claimed)> = None;
    let mut tree: Option<WorkTree> = None;
    for root in roots {
        // Most roots are above one another, in the same work tree.
        tree = tree.filter(|tree| root.starts_with(&tree.top)).or_else(|| git_dir::around(root));
        let store = Store::within(tree.as_ref(), root, home);
        let sessions = sessions(&store);
        if let Some((folder, error)) = sessions.unreadable() {
            let shown = folder.strip_prefix(root).unwrap_or(&folder);
            return Err(format!("{} cannot be read: {error}", shown.display()));
        }
        if let Some(claim) = sessions.facts().claims.swap_remove(session)
            && last.as_ref().is_none_or(|(at, _)| claim.at >= *at)
        {
            last = Some((claim.at.clone(), Claimed::of(root, &store, claim)));
        }
    }
    Ok(last.map(|(_, claimed)| claimed))
}

impl Claimed {
    fn of(root: &Path, store: &Store, claim: Claim) -> Self {
        Self { root: root.to_owned(), store: store.clone(), instance: claim.instance }
    }
}

/// Returns the journal of all sessions in a home.
fn sessions(store: &Store) -> Journal {
    Journal::of(store, SESSIONS, SESSIONS)
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
/// another instance since drives that.
pub(crate) fn of(journal: &Journal) -> Vec<String> {
    let mut drivers = journal.facts().drivers;
    drivers.retain(|session| has_claimed(journal, session));
    drivers
}

/// Returns whether the instance is the last one that `session` has claimed.
fn has_claimed(journal: &Journal, session: &str) -> bool {
    let claims = sessions(&journal.store).facts().claims;
    claims.get(session).is_some_and(|claim| claim.instance == journal.instance)
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

/// Returns whether nobody drives the instance that `session` has claimed last: the session had ended, and goes on.
pub(crate) fn is_resumed(journal: &Journal, session: &str) -> bool {
    journal.facts().drivers.is_empty() && has_claimed(journal, session)
}

/// Makes these sessions the drivers of an instance. The caller holds the instance's write lock.
pub(crate) fn claim(journal: &Journal, drivers: &[String]) -> io::Result<()> {
    for session in drivers {
        if !has_claimed(journal, session) {
            let claim = Claim { at: now(), instance: journal.instance.clone() };
            let session = session.to_owned();
            sessions(&journal.store).note(Fact::Claim { session, claim: Some(claim) })?;
        }
    }
    match journal.facts().drivers == drivers {
        true => Ok(()),
        false => journal.note(Fact::Drivers { sessions: drivers.to_vec() }),
    }
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

/// Removes the claim of a session, which drives nothing from then on.
pub(crate) fn forget(store: &Store, session: &str) {
    // If this cannot be recorded, its next stop is about the same instance.
    let _ = sessions(store).note(Fact::Claim { session: session.to_owned(), claim: None });
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
    sessions(store).facts().is_bare
}

/// Records that a settings file calls the hook, or that a plugin does.
pub(crate) fn set_bare(store: &Store, is_bare: bool) {
    let sessions = sessions(store);
    if sessions.facts().is_bare != is_bare {
        // If this cannot be recorded, commands are named as the plugin has them.
        let _ = sessions.note(Fact::Hook { is_bare });
    }
}
