//! Where the setting has what each session changes reviewed and nothing does so: the user reads why.

use super::decided::Answering;
use super::target::{cwd, homes};
use crate::chart::choice::of_changes;
use crate::chart::known::EVERY_STOP;
use crate::host::events::STOPPED;
use crate::project::settings;
use crate::run::change;
use crate::run::place::Place;
use crate::store::facts::Facts;
use crate::store::journal::Journal;
use crate::store::{Store, driver, git_dir};

/// What only a stop can know.
const UNPROMPTED: &str = "no prompt has begun a change of this session. The next one does, if its hook runs (`taskie doctor`)";

/// Returns why what the session changes is not reviewed: at its start, or at a stop before which no prompt was seen. `drives` says
/// that its stops are about a plan.
pub(super) fn unreviewed(answering: &Answering<'_>, drives: bool) -> Option<String> {
    let session = answering.event.session.as_deref()?;
    let embedded = of_changes()?;
    let here = cwd();
    let (root, why) = match (homes(embedded).next(), answering.name) {
        (None, "SessionStart") if answering.host.shows_messages => {
            let why = git_dir::absent(&here)?;
            (here, why)
        }
        (Some((root, home)), STOPPED) if !drives => {
            let own = driver::own_name(session);
            let journal = Journal::of(&Store::of(&root, &home), &own);
            let has_begun = *journal.facts() != Facts::default();
            (!has_begun).then(|| (root, UNPROMPTED.to_owned()))?
        }
        _ => return None,
    };
    let is_on = settings::are_given(embedded, &root)
        && change::is_on(&Place::of_none(&embedded.load().ok()?, &root)) == Ok(true);
    is_on.then(|| format!("Not reviewed here, although `{EVERY_STOP}` is on: {why}."))
}
