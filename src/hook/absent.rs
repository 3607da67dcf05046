//! Where the setting has what each session changes reviewed and nothing does so: the user reads why.

use super::decided::Answering;
use super::target::{cwd, homes};
use crate::chart::choice::of_changes;
use crate::chart::known::EVERY_STOP;
use crate::host::events::STOPPED;
use crate::project::settings;
use crate::run::change;
use crate::run::place::Place;
use crate::store::git_dir;

/// What only a stop can know.
const UNPROMPTED: &str = "no prompt has begun a change of this session. The next one does, if its hook runs (`taskie doctor`)";

/// Returns why what the session changes is not reviewed: at its start, or at a stop before which no prompt was seen. `drives` says
/// that its stops are about a plan.
pub(super) fn unreviewed(answering: &Answering<'_>, drives: bool) -> Option<String> {
    answering.event.session.as_ref()?;
    let embedded = of_changes()?;
    let here = cwd();
    let home = homes(embedded).next();
    let why = match (&home, answering.name) {
        (None, "SessionStart") if answering.host.shows_messages => git_dir::absent(&here)?,
        (Some(_), STOPPED) if !drives => UNPROMPTED.to_owned(),
        _ => return None,
    };
    let root = home.as_ref().map_or(&here, |(root, _)| root);
    let is_on = settings::is_named(embedded, root, EVERY_STOP)
        && change::is_on(&Place::of_none(&embedded.load().ok()?, root)) == Ok(true);
    is_on.then(|| format!("Not reviewed here, although `{EVERY_STOP}` is on: {why}."))
}
