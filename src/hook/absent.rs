//! Where the setting has what each session changes reviewed and nothing does so: the user reads why, once per session.

use std::time::Duration;

use super::decided::Answering;
use super::target::{cwd, homes};
use crate::chart::choice::of_changes;
use crate::chart::known::EVERY_STOP;
use crate::disk;
use crate::hash;
use crate::host::events::{PROMPT, STOPPED};
use crate::os::file::create_private_folder;
use crate::os::regular::create_private;
use crate::project::home::user_folder;
use crate::project::settings;
use crate::run::change;
use crate::run::place::Place;
use crate::store::git_dir;

/// What only a stop can know.
const UNPROMPTED: &str = "no prompt has begun a change of this session. The next one does, if its hook runs (`taskie doctor`)";

/// For so long it is known that the user of a session has read it.
const FORGOTTEN: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// Returns why what the session changes is not reviewed. `drives` says that its stops are about a plan or a change.
pub(super) fn unreviewed(answering: &mut Answering<'_>, drives: bool) -> Option<String> {
    let name = answering.name;
    let is_heard =
        name == STOPPED || matches!(name, "SessionStart" | PROMPT) && answering.host.shows_messages;
    let session = answering.event.session.as_deref().filter(|_| is_heard)?;
    let embedded = of_changes()?;
    let here = cwd();
    let home = homes(embedded).next();
    let root = home.as_ref().map_or(&here, |(root, _)| root);
    if !settings::is_named(embedded, root, EVERY_STOP)
        || change::is_on(&Place::of_none(&embedded.load().ok()?, root)) != Ok(true)
    {
        return None;
    }
    // A user's own folder, because there may be no git directory to keep it in.
    let folder = user_folder("XDG_STATE_HOME", ".local/state")?.join("taskie/unreviewed");
    let said = folder.join(hash::of(session.as_bytes()));
    if said.exists() {
        return None;
    }
    let why = match (&home, name) {
        (None, _) => Some(git_dir::absent(&here)?),
        // A prompt whose hook runs begins a change: where that is over, a later stop has nothing to say.
        (Some(_), PROMPT) => None,
        (Some(_), STOPPED) if !drives => Some(UNPROMPTED.to_owned()),
        _ => return None,
    };
    answering.due.once(move || {
        disk::sweep(&folder, FORGOTTEN, |_| true);
        // Without it, the next stop says it again.
        let _ = create_private_folder(&folder).and_then(|()| create_private(&said));
    });
    why.map(|why| format!("Not reviewed here, although `{EVERY_STOP}` is on: {why}."))
}
