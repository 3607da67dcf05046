//! The change of a session that nobody has asked to be reviewed: where the settings say so, it begins with each prompt.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;

use super::target::{at_home, cwd, distrusting, homes};
use crate::chart::choice::of_changes;
use crate::disk;
use crate::engine::context::running_cycle;
use crate::engine::event::Event;
use crate::project::change::{Base, Unknown, branches_apart};
use crate::project::{find, settings, state_file};
use crate::run::perform::perform;
use crate::run::place::Place;
use crate::run::{asked, change, part};
use crate::store::journal::{self, DecisionLine, Line};
use crate::store::{driver, git_dir, postponed};
use crate::text::shown;

/// The file in the directory of a session's change that says how much of git's log of HEAD is not about it.
const SEEN: &str = ".seen";

/// What that log says of a commit begins with this, and how many of them are looked for.
const COMMITTED: &str = "commit";
const COMMITS: usize = 100;

/// Begins the change of the session with the prompt of its user, unless the last one still waits for a review. Returns what
/// is to be reported.
pub(super) fn begin_change(event: &Event) -> Result<Vec<String>, String> {
    let (Some(session), Some(embedded)) = (event.session.as_deref(), of_changes()) else {
        return Ok(Vec::new());
    };
    let Some(setting) = embedded.always() else {
        return Ok(Vec::new());
    };
    let is_named = |root: &Path| settings::is_named(embedded, root, setting);
    let Some((root, home)) = homes(embedded).find(|(root, _)| is_named(root)) else {
        let here = cwd();
        // The settings are read only where the answer matters.
        let unused = git_dir::unused(&here).filter(|_| is_named(&here));
        let flaw = unused.and_then(|dir| Some((disk::distrust(&dir)?, dir)));
        return flaw.map_or(Ok(Vec::new()), |(why, dir)| {
            Err(format!("{} is not used: {why}.", dir.display()))
        });
    };
    let chart = at_home(embedded, home)?;
    let found = find::of_session(&root, &chart.scope, Some(&part::own_name(session)));
    let found = distrusting(&root, &chart.scope.home, found);
    let is_on = |place: &Place| change::is_on(place, place.chart.scope.always.as_ref());
    let Some(instance) = found.instance else {
        // An id that no folder can have, or a folder that is not only the user's.
        return match is_on(&Place::of_none(&chart, &root))? {
            true => Err(found.warnings.join(" ")),
            false => Ok(Vec::new()),
        };
    };
    let mut place = Place::new(chart, root, instance);
    if !is_on(&place)? {
        return Ok(Vec::new());
    }
    let prompt = event.fields["prompt"].as_str().unwrap_or_default();
    if change::is_sent(&place, prompt) {
        return Ok(Vec::new());
    }
    let claimed = driver::claimed(from_ref(&place.root), &place.chart.scope.home, session)?;
    let claimed = claimed.map(|claimed| claimed.instance);
    let is_claimed = claimed.as_ref() == Some(&place.instance.name);
    if claimed.is_some_and(|other| !is_claimed && is_in_cycle(&place, &other)) {
        // The review that the user has asked for comes first.
        return Ok(Vec::new());
    }
    let mut warnings = Vec::new();
    if !is_claimed || !place.is_in_cycle() || change::is_confirmed(&place) {
        abandon(&place);
        change::sweep(&place);
        let stamp = change::look(&place);
        // What it has stored so far would look as if it had been killed.
        let begun = begin(&mut place, session, Base::Now);
        warnings = begun.inspect_err(|_| change::release(&place))?;
        pass_over_commits(&place);
        change::settle(&place, stamp);
    }
    if change::is_on(&place, place.chart.scope.prompts.as_ref())? {
        change::remember(&place, prompt);
    }
    Ok(warnings)
}

/// Returns whether a cycle of another change in the same work tree is running.
fn is_in_cycle(place: &Place, name: &str) -> bool {
    let other = find::of_name(&place.root, &place.chart.scope, name).instance;
    let other = other.map(|other| Place::new(Arc::clone(&place.chart), place.root.clone(), other));
    other.is_some_and(|other| other.is_in_cycle())
}

/// Has what a session changes from `base` on reviewed at its stops. Returns what is to be reported.
pub(super) fn begin(
    place: &mut Place,
    session: &str,
    base: Base<'_>,
) -> Result<Vec<String>, String> {
    let found = change::find(place, base).map_err(Unknown::in_words)?;
    let mut began = asked::began(&place.chart);
    change::describe(place, &mut began.fields, &found);
    began.session = Some(session.to_owned());
    // A reviewer that has failed before may be there again.
    let _ = postponed::forgive(&place.store);
    let performed = perform(place, &began).map_err(|stuck| stuck.to_string())?;
    Ok(performed.warnings)
}

/// Returns what is reported at a stop of a session whose change is not reviewed, because this was turned off since: the agent
/// can do that, too. `None` if it is reviewed.
pub(super) fn off(place: &Place) -> Result<Option<Vec<String>>, String> {
    let setting = place.chart.scope.always.as_ref();
    if !part::is_own(place) || change::is_on(place, setting)? {
        return Ok(None);
    }
    let setting = setting.filter(|_| place.is_in_cycle());
    let was_on = |setting| {
        format!(
            "`{setting}` is no longer on: no review has found clean what has changed since your prompt."
        )
    };
    Ok(Some(setting.map(was_on).into_iter().collect()))
}

/// Says that the agent has moved to another work tree than that of the session's change, where nothing is reviewed.
pub(super) fn moved(reviewed: &Place) -> Option<String> {
    let embedded = of_changes()?;
    let (here, _) = homes(embedded).next()?;
    (part::is_own(reviewed) && here != reviewed.root).then(|| {
        format!(
            "The agent is now in {}, where nothing that it changes is reviewed before your next prompt: this session's change is that \
             of {}.",
            here.display(),
            reviewed.root.display()
        )
    })
}

/// Returns git's log of HEAD in the work tree of a change.
fn head_log(place: &Place) -> Option<PathBuf> {
    let tree = git_dir::around(&place.root)?;
    Some(tree.git_dir?.join("logs/HEAD"))
}

/// Keeps in mind how long git's log of HEAD is: what it says up to here was there before the change, or is clean.
pub(super) fn pass_over_commits(place: &Place) {
    let length = head_log(place).and_then(|log| Some(log.metadata().ok()?.len()));
    let _ = fs::write(place.dir().join(SEEN), length.unwrap_or(0).to_string());
}

/// Says once on which branches there are commits of this change that HEAD does not have: no review reads them.
pub(super) fn elsewhere(place: &Place) -> Option<String> {
    let seen = fs::read_to_string(place.dir().join(SEEN)).ok()?;
    let mut log = fs::File::open(head_log(place)?).ok()?;
    log.seek(SeekFrom::Start(seen.parse().ok()?)).ok()?;
    let mut text = Vec::new();
    log.read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    // The old commit, the new one, who, when, and after a tab what was done.
    let commits = text.lines().rev().filter_map(|line| {
        let (head, what) = line.split_once('\t')?;
        let new = head.split(' ').nth(1)?;
        what.starts_with(COMMITTED).then(|| new.to_owned())
    });
    let commits: Vec<String> = commits.take(COMMITS).collect();
    if commits.is_empty() {
        return None;
    }
    let names = branches_apart(&place.root, &commits)?;
    pass_over_commits(place);
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", shown(name)))
        .collect();
    Some(format!(
        "Commits of this session are not reviewed: they are on {}, which is not checked out now.",
        names.join(", ")
    ))
}

/// Leaves what a session changes to the reviews of a plan, if these read the code: nothing is read twice. What a review has
/// found in it is not forgotten.
pub(super) fn leave_to(plan: &Place, change: &Place) {
    let snapshot = plan.snapshot();
    let view = snapshot.view();
    let reads_code = view.running().and_then(|cycle| view.skips(cycle).ok()?);
    let snapshot = change.snapshot();
    let context = snapshot.context();
    let cycle = running_cycle(&change.chart, context);
    let count = cycle.and_then(|cycle| context.get(&cycle.count)?.as_u64());
    if reads_code.is_some() && count.is_none_or(|count| count == 0) {
        abandon(change);
    }
}

/// Forgets the change, if it is that of a session. Its next prompt begins another one.
pub(super) fn abandon(place: &Place) {
    if !part::is_own(place) {
        return;
    }
    for session in driver::of(&place.store, &place.instance.name) {
        if driver::drives(&place.store, &place.instance.name, &session) {
            driver::forget(&place.store, &session);
        }
    }
    let _ = fs::remove_file(place.dir().join(SEEN));
    let _ = fs::remove_file(place.dir().join(state_file::FILE));
    change::release(place);
}

/// Removes what is kept of the change of a session that has ended, unless it still waits for a review: the session may be
/// resumed. Of a change that does, and of one that the session has asked for, it is known that its agent does nothing anymore.
pub(super) fn release(event: &Event) {
    let (Some(session), Some(embedded)) = (event.session.as_deref(), of_changes()) else {
        return;
    };
    for (root, home) in homes(embedded) {
        let own = part::own_name(session);
        let claimed = driver::claimed(from_ref(&root), &home, session);
        let claimed = claimed.ok().flatten().map(|claimed| claimed.instance);
        let claimed = claimed.filter(|claimed| *claimed != own);
        let folder = root.join(&home).join(embedded.folder());
        let names = [Some(own.clone()), claimed].into_iter().flatten();
        let names: Vec<String> = names.filter(|name| folder.join(name).is_dir()).collect();
        if names.is_empty() {
            continue;
        }
        let Ok(chart) = at_home(embedded, home) else {
            return;
        };
        for name in names {
            let found = find::of_name(&root, &chart.scope, &name);
            let found = distrusting(&root, &chart.scope.home, found);
            let Some(instance) = found.instance else {
                continue;
            };
            let place = Place::new(Arc::clone(&chart), root.clone(), instance);
            let drives = driver::drives(&place.store, &name, session);
            let waits = place.is_in_cycle() && drives;
            if name == own && (!waits || change::is_confirmed(&place)) {
                abandon(&place);
            } else if waits {
                let ended = DecisionLine {
                    at: journal::now(),
                    answer: "pass".to_owned(),
                    ..DecisionLine::new(&name, event)
                };
                // Without it, `status` only says less.
                let _ = place.journal().add(&Line::Decision(ended));
            }
        }
        return;
    }
}
