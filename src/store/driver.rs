//! Which session drives which plan: the one that claimed it last. A change that is a session's, that session drives.
//!
//! This is a fact about this machine, not about the repository, so it is never in `state.json`. The journal of the home
//! says which instance each has claimed last. If another session has claimed the instance since, that is reported to the old one
//! once.

use std::io;
use std::path::PathBuf;

use super::Store;
use super::facts::{Claim, Fact};
use super::journal::{Journal, now};
use crate::files::pattern::name_flaw;

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
    for root in roots {
        let store = Store::of(root, home);
        let sessions = Journal::of_home(&store);
        if let Some((folder, error)) = sessions.unreadable() {
            let shown = folder.strip_prefix(root).unwrap_or(&folder);
            return Err(format!("{} cannot be read: {error}", shown.display()));
        }
        if let Some(claim) = sessions.facts().claims.get(session)
            && last.as_ref().is_none_or(|(at, _)| claim.at >= *at)
        {
            let instance = claim.instance.clone();
            last = Some((claim.at.clone(), Claimed { root: root.clone(), store, instance }));
        }
    }
    Ok(last.map(|(_, claimed)| claimed))
}

/// Returns the name of the instance that is a session's alone.
pub(crate) fn own_name(session: &str) -> String {
    format!("{OWN}{session}")
}

/// Returns whether an instance of this name is a session's alone.
pub(crate) fn is_own_name(name: &str) -> bool {
    name.starts_with(OWN)
}

/// Returns the session that drives an instance: the one whose it is, or that has claimed it last, unless it has ended.
pub(crate) fn of(journal: &Journal) -> Option<String> {
    if let Some(session) = journal.instance.strip_prefix(OWN) {
        return Some(session.to_owned());
    }
    let facts = Journal::of_home(&journal.store).facts();
    let of_it = facts.claims.iter().filter(|(_, claim)| claim.instance == journal.instance);
    let (session, claim) = of_it.max_by(|(_, a), (_, b)| a.at.cmp(&b.at))?;
    (!claim.has_ended).then(|| session.clone())
}

/// Returns whether a session drives an instance, and it is not `session`.
pub(crate) fn is_another(journal: &Journal, session: &str) -> bool {
    of(journal).is_some_and(|driver| driver != session)
}

/// Returns whether `session` drives the instance.
pub(crate) fn drives(journal: &Journal, session: &str) -> bool {
    of(journal).is_some_and(|driver| driver == session)
}

/// Returns whether nobody drives the instance that `session` has claimed last: the session had ended, and goes on.
pub(crate) fn is_resumed(journal: &Journal, session: &str) -> bool {
    let facts = Journal::of_home(&journal.store).facts();
    let is_its_last =
        facts.claims.get(session).is_some_and(|claim| claim.instance == journal.instance);
    is_its_last && of(journal).is_none()
}

/// Makes `session` the driver of an instance. The caller holds the instance's write lock.
pub(crate) fn claim(journal: &Journal, session: &str) -> io::Result<()> {
    let (at, instance) = (now(), journal.instance.clone());
    let claim = Claim { at, instance, has_ended: false };
    note(&journal.store, session, Some(claim))
}

/// Records that a session has ended: it drives nothing until it is resumed and stops again. What it claimed stays its own.
pub(crate) fn release(store: &Store, session: &str) {
    if let Some(claim) = Journal::of_home(store).facts().claims.get(session) {
        // If this cannot be recorded, others read that the session may have ended.
        let _ = note(store, session, Some(Claim { has_ended: true, ..claim.clone() }));
    }
}

/// Removes the claim of a session, which drives nothing from then on.
pub(crate) fn forget(store: &Store, session: &str) {
    // If this cannot be recorded, its next stop is about the same instance.
    let _ = note(store, session, None);
}

fn note(store: &Store, session: &str, claim: Option<Claim>) -> io::Result<()> {
    Journal::of_home(store).note(Fact::Claim { session: session.to_owned(), claim })
}

/// What is done in a home where a settings file calls the hook, so that the commands of a plugin are missing.
const BARE: &str = "bare";

/// Returns whether that is so. It is the same for all instances.
pub(crate) fn is_bare(store: &Store) -> bool {
    Journal::of_home(store).facts().is_done(BARE, &[])
}

/// Records that a settings file calls the hook, or that a plugin does.
pub(crate) fn set_bare(store: &Store, is_bare: bool) {
    let sessions = Journal::of_home(store);
    if sessions.facts().is_done(BARE, &[]) != is_bare {
        // If this cannot be recorded, commands are named as the plugin has them.
        let _ = sessions.note_done(BARE, is_bare.then_some(&[]));
    }
}
