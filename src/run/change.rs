//! The change that a stop is about: what has changed, as fields of the event, which rules see.

use std::fs;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::chart::known::{BASE, EVERY_STOP};
use crate::disk;
use crate::engine::context::running_cycle;
use crate::engine::decision::Outcome;
use crate::engine::event::Event;
use crate::hash;
use crate::page::counted;
use crate::project::change::{self, Base, Change, Unknown};
use crate::project::{ledger, state_file};
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::store::facts::Fact;
use crate::text::cut_bytes;

/// How much of a prompt is kept, in bytes.
const PROMPT: usize = 2_000;

/// How long after its last use what belongs to a change is removed.
const FORGOTTEN: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The most bytes of the names of files that the reviewer is given: an argument has an end.
const NAMES: usize = 24 * 1024;

/// Returns the name of the change of a branch, which is that of a folder, without a dot. No two branches share one.
pub(crate) fn name_of(branch: &str) -> String {
    let plain = |sign: char| match sign {
        sign if sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_') => sign,
        _ => '-',
    };
    let name: String = branch.chars().map(plain).take(60).collect();
    let is_plain = name == *branch && name == name.to_lowercase() && !name.starts_with('-');
    match is_plain && !name.contains("--") {
        true => name,
        // No plain name looks like that.
        false => format!("_{name}--{}", &hash::of(branch.as_bytes())[..8]),
    }
}

/// Returns what the change at `place` is compared with while it is being reviewed; `None` if it is not. Where each session has its
/// changes reviewed, that of a session is known in between, too: the tree that was found clean.
pub(crate) fn base(place: &Place) -> Option<String> {
    let snapshot = place.snapshot();
    let context = snapshot.context();
    let base = context.get(BASE).and_then(Json::as_str);
    let base = match running_cycle(&place.chart, context) {
        Some(_) => Some(base.unwrap_or_default()),
        // A setting that cannot be read is reported when a rule looks at one.
        None => base.filter(|_| place.is_own() && is_on(place) != Ok(false)),
    };
    base.map(str::to_owned)
}

/// Drops the change of a session. Its next prompt, or the user, begins another one.
pub(crate) fn abandon(place: &Place) {
    // What stays is what the next stop goes on with.
    let _ = fs::remove_file(place.dir().join(state_file::FILE));
}

/// Returns whether a prompt may be a text that has sent the agent back, or its beginning: some hosts send it as a prompt. It names
/// the folder of the change.
pub(crate) fn is_sent(place: &Place, prompt: &str) -> bool {
    prompt.contains(&*place.instance.dir.to_string_lossy())
}

/// Keeps a prompt as a part of what the change is for.
pub(crate) fn remember(place: &Place, prompt: &str) {
    let prompt = cut_bytes(prompt.trim().to_owned(), PROMPT);
    if !prompt.is_empty() && !place.journal().facts().asked.contains(&prompt) {
        // Without it, the reviewer knows less of what the change is for.
        let _ = place.journal().note(Fact::Asked { prompt });
    }
}

/// Removes the changes that nobody has come back to for long: their sessions have ended, or their branches are gone.
pub(crate) fn sweep(place: &Place) {
    let dir = place.dir();
    for entry in dir.parent().map(fs::read_dir).into_iter().flatten().flatten().flatten() {
        // Each new state is a new file in it.
        let last = disk::modified(&entry.path()).ok().flatten();
        if last.and_then(|it| it.elapsed().ok()).is_some_and(|age| age > FORGOTTEN) {
            place.store.forget(&entry.file_name().to_string_lossy());
            // The next sweep tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns the patterns of files that do not count. Settings that cannot be read are reported when a rule looks at one.
fn skipped(place: &Place) -> Vec<String> {
    let snapshot = place.snapshot();
    snapshot.view().skipped().unwrap_or_default()
}

/// Returns the patterns of files that the reviews of the change at `place` leave out: none if somebody has asked for them.
fn passed_over(place: &Place) -> Vec<String> {
    let is_asked = !place.is_own() || is_on(place) == Ok(false);
    if is_asked { Vec::new() } else { skipped(place) }
}

/// Returns whether each session has a change of its own. The error says why that cannot be found out.
pub(crate) fn is_on(place: &Place) -> Result<bool, String> {
    let read = place.settings()?;
    Ok(read.settings.get(EVERY_STOP).is_some_and(|setting| setting.value == true))
}

/// Adds to a stop that is only foreseen what has changed, if that is what it is about.
pub(crate) fn see(place: &Place, fields: &mut Json) {
    if !place.chart.scope.is_of_changes() {
        return;
    }
    fields["own"] = place.is_own().into();
    if let Some(base) = base(place)
        && let Ok(change) = change::read(place.trees(), Base::Known(&base))
    {
        describe(place, fields, &change);
    }
}

/// Returns a number for what a review goes by beside the change: the settings, and what the user has ruled.
fn rules(place: &Place) -> String {
    let rulings = ledger::rulings(&place.root, &place.dir());
    let snapshot = place.snapshot();
    hash::of(json!([snapshot.config().ok(), rulings]).to_string().as_bytes())
}

/// Looks again at what has changed, for an event that says it. Returns the event that says what is there now.
pub(super) fn again(place: &Place, event: &Event) -> Result<Event, String> {
    let said = |name: &str| event.fields.get(name).and_then(Json::as_str);
    let (Some(base), Some(tree)) = (said("base"), said("tree")) else {
        return Ok(event.clone());
    };
    if place.trees().read().map_err(Unknown::in_words)?.id == tree {
        return Ok(event.clone());
    }
    let change = change::read(place.trees(), Base::Known(base)).map_err(Unknown::in_words)?;
    if change.is_lost {
        return Err("git no longer has what the change was compared with".to_owned());
    }
    let (mut event, mut now) = (event.clone(), json!({}));
    describe(place, &mut now, &change);
    for name in ["change", "tree", "range", "lines", "readable", "unread"] {
        event.fields[name] = now[name].take();
    }
    Ok(event)
}

/// Returns whether files that count have changed since the tree that a review has read, or whether that is unknown.
pub(crate) fn is_outdated(place: &Place, performed: &Performed) -> bool {
    let ended = performed.decision.ended.as_ref();
    let has_run = ended
        .is_some_and(|ended| !ended.superseded && matches!(ended.outcome, Outcome::Ran { .. }));
    let tree = performed.tree.clone().filter(|_| has_run);
    let is_same = |tree: &String| place.trees().read().is_ok_and(|now| now.id == *tree);
    let tree = tree.filter(|tree| !is_same(tree));
    let Some(tree) = tree else {
        return false;
    };
    let skip = passed_over(place);
    let now = change::read(place.trees(), Base::Tree(&tree));
    !now.is_ok_and(|now| now.lines(&skip).is_none())
}

/// Sets the fields of an event that say what has changed. Nothing is asked for that a setting would not say.
pub(crate) fn describe(place: &Place, fields: &mut Json, change: &Change) {
    let mut room = NAMES;
    let files = change.files.iter().map(ToString::to_string).take_while(|file| {
        let fits = room > file.len();
        room = room.saturating_sub(file.len() + 1);
        fits
    });
    let mut files: Vec<String> = files.collect();
    let more = change.files.len() - files.len();
    if more > 0 {
        files.push(format!("{}; `git diff --stat` lists them", counted(more, "more file")));
    }
    let skip = passed_over(place);
    for (name, value) in [
        ("change", json!(files)),
        ("base", json!(change.base)),
        ("against", json!(change.against)),
        ("tree", json!(change.after)),
        ("range", json!(format!("{} {}", change.before, change.after))),
        ("lines", json!(change.lines(&skipped(place)))),
        ("readable", json!(change.lines(&skip).is_some())),
        ("unread", json!(change.unread(&skip))),
        ("lost", json!(change.is_lost)),
        ("own", json!(place.is_own())),
        ("asked", json!(place.journal().facts().asked)),
        ("rules", json!(rules(place))),
        ("model", json!("")),
        ("permissions", json!("")),
        ("max_cost", Json::Null),
    ] {
        fields[name] = value;
    }
}
