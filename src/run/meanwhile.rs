//! What changes while a review runs.
//!
//! The reviewer can do it, the user, or a process in the background: nobody knows, so nobody is blamed. Each change is named
//! to the user, what became looser does not count for the outcome of the review, and a pause takes effect after it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;
use walkdir::{DirEntry, WalkDir};

use crate::chart::Chart;
use crate::chart::model::Field;
use crate::disk;
use crate::engine::context::Context;
use crate::engine::decision::{Answer, Decision, Ended, Step};
use crate::engine::event::Event;
use crate::hash;
use crate::hash::IndexMap;
use crate::project::change::is_in;
use crate::project::git::{self, Rules, Tree};
use crate::project::state_file;
use crate::run::part;
use crate::run::place::Place;
use crate::run::snapshot::Snapshot;
use crate::store::journal::{DecisionLine, RUN};
use crate::text::{cut, shown};

/// How many files are named.
const NAMED: usize = 12;

/// The most files of an instance that are compared.
const FILES: usize = 10_000;

/// The longest value that is named, in characters.
const VALUE: usize = 40;

/// The files that a review must not change unnoticed.
#[derive(Debug)]
pub(crate) struct FilesBefore {
    /// A hash of each file of the instance and directly in the home; hidden ones are this program's own.
    own: BTreeMap<PathBuf, String>,
    /// The code; `None` if nobody knows.
    tree: Option<Tree>,
    /// Git's own rules: what they let it pass over may have changed.
    rules: Option<Rules>,
    /// Git keeps the code.
    is_in_git: bool,
}

/// What has changed.
#[derive(Debug, Clone)]
pub(crate) struct ChangedFiles {
    /// Those that were there before come first: nothing limits how many new ones somebody adds.
    files: Vec<PathBuf>,
    /// Git cannot say whether the code is among them.
    is_code_unknown: bool,
    is_in_git: bool,
}

impl FilesBefore {
    /// Reads them.
    pub(crate) fn read(place: &Place) -> Self {
        let home = &place.chart.scope.home;
        let is_visible = |entry: &DirEntry| {
            entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
        };
        let folders = [WalkDir::new(place.root.join(home)).max_depth(1), WalkDir::new(place.dir())];
        let entries =
            folders.into_iter().flat_map(|folder| folder.into_iter().filter_entry(is_visible));
        let files = entries.flatten().filter(|entry| entry.file_type().is_file());
        let own = files.take(FILES).filter_map(|file| {
            let text = disk::read(&place.root, file.path()).ok().flatten();
            let name = file.path().strip_prefix(&place.root).ok()?.to_owned();
            Some((name, hash::of(&text.unwrap_or_default())))
        });
        Self {
            own: own.collect(),
            tree: Tree::read(&place.root, home),
            rules: Rules::read(&place.root),
            is_in_git: git::is_in_git(&place.root),
        }
    }

    /// Returns those that have changed since.
    pub(crate) fn changed(&self, place: &Place) -> ChangedFiles {
        let now = Self::read(place);
        let names = self.own.keys().chain(now.own.keys());
        let mut names: Vec<PathBuf> =
            names.filter(|name| self.own.get(*name) != now.own.get(*name)).cloned().collect();
        names.sort();
        names.dedup();
        let (mut names, mut new): (Vec<_>, Vec<_>) =
            (names.into_iter()).partition(|name| self.own.contains_key(name));
        if let (Some(before), Some(now)) = (&self.tree, &now.tree) {
            let (others, added) = before.changed(now, &place.root);
            names.extend(others);
            new.extend(added);
        }
        if let (Some(before), Some(now)) = (&self.rules, &now.rules) {
            names.extend(before.changed(now));
        }
        names.extend(new);
        let is_known = self.tree.is_some() && now.tree.is_some();
        let is_in_git = self.is_in_git || now.is_in_git;
        ChangedFiles { files: names, is_code_unknown: !is_known && is_in_git, is_in_git }
    }
}

/// Returns a sentence for the user about what has changed since `before` was taken: the state, the settings and these files,
/// apart from the `review`, which the reviewer had to write. A `pause` is named as that, if it is to be named. `None` if
/// nothing has changed.
pub(crate) fn changes(
    place: &Place,
    (before, now): (&Snapshot, &Snapshot),
    changed: &ChangedFiles,
    review: &str,
    pause: Option<(&Pause, bool)>,
) -> Option<String> {
    let chart = &place.chart;
    let is_paused = |name: &String| pause.is_some_and(|(pause, _)| pause.before.contains_key(name));
    let changes = in_words(&chart.context, before.context(), now.context()).into_iter();
    let changes = changes.filter(|(name, _)| !is_paused(name));
    let changes = changes.map(|(name, change)| format!("{} {change}", name.replace('_', " ")));
    let named = pause.filter(|(_, is_named)| *is_named);
    let paused = named.map(|(pause, _)| format!("what `{}` changes", chart.call(&pause.command)));
    let mut changes: Vec<String> = paused.into_iter().chain(changes).collect();
    let mut known = vec![place.instance.dir.join(review)];
    if !changes.is_empty() || pause.is_some() {
        known.push(place.instance.dir.join(state_file::FILE));
    }
    if let (Ok(before), Ok(now)) = (before.config(), now.config()) {
        let settings = in_words(&chart.config, before, now).into_iter();
        changes.extend(settings.map(|(name, change)| format!("the setting {name} {change}")));
    }
    let part = part::paths(place).unwrap_or_default();
    // What is in the work tree, but not in the part, is not what was reviewed.
    let is_meant = |file: &PathBuf| {
        file.is_absolute() || file.starts_with(".git") || is_in(&file.to_string_lossy(), &part)
    };
    let files = (changed.files.iter()).filter(|file| !known.contains(file) && is_meant(file));
    let mut files = files.map(|file| shown(&file.to_string_lossy()).into_owned());
    changes.extend(files.by_ref().take(NAMED));
    changes.extend(match files.count() {
        0 => None,
        more if changed.is_in_git => Some(format!("and {more} more (`git status` lists them)")),
        more => Some(format!("and {more} more")),
    });
    let changes = Some(changes.join(", ")).filter(|changes| !changes.is_empty());
    let changes = changes.map(|changes| format!("Changed while it was reviewed: {changes}."));
    let unknown = changed.is_code_unknown.then(|| {
        "Whether code has changed while it was reviewed is not known: git cannot say.".to_owned()
    });
    let sentences: Vec<String> = changes.into_iter().chain(unknown).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Returns the fields that are not the same, and in words how they have changed.
fn in_words<'f>(
    fields: &'f IndexMap<String, Field>,
    before: &Context,
    now: &Context,
) -> Vec<(&'f String, String)> {
    let words = |value: &Json| match value {
        Json::Null => "none".to_owned(),
        value => cut(shown(&value.to_string()).into_owned(), VALUE),
    };
    let changes = fields.iter().filter_map(|(name, field)| {
        let (old, new) = (before.get(name)?, now.get(name)?);
        let note = match field.is_looser(new, old) {
            true => "; looser, so it does not count for this review",
            false => "",
        };
        (old != new).then(|| (name, format!("(from {} to {}{note})", words(old), words(new))))
    });
    changes.collect()
}

/// Returns whether the state was written for something else than to change the `paused` fields or the limits of cycles:
/// another limit counts.
pub(crate) fn has_moved_on(
    chart: &Chart,
    (before, now): (&Snapshot, &Snapshot),
    paused: &Context,
) -> bool {
    let is_kept = |name: &String| {
        let mut cycles = chart.cycles.values();
        paused.contains_key(name) || cycles.any(|cycle| cycle.limit == *name)
    };
    let (old, new) = (before.context(), now.context());
    let names = chart.context.keys();
    let mut changed = names.filter(|name| old.get(*name) != new.get(*name)).peekable();
    let counts = changed.peek().is_some() && changed.all(is_kept);
    before.state.text() != now.state.text() && !counts
}

/// Returns the limits that were lowered below review `n` while it ran, as they were before: it has been paid for, so they
/// hold for the next one.
pub(crate) fn passed_limits(
    chart: &Chart,
    (before, now): (&Snapshot, &Snapshot),
    n: i64,
) -> Context {
    let limits = chart.cycles.values().filter_map(|cycle| {
        let limit = now.context().get(&cycle.limit)?.as_i64()?;
        let old = before.context().get(&cycle.limit)?;
        (0 < limit && limit < n).then(|| (cycle.limit.clone(), old.clone()))
    });
    limits.collect()
}

/// A command that was run during a review: it only assigns fields, and nothing comes next after it. The review has been paid
/// for, so it counts, and the command takes effect after it.
pub(crate) struct Pause {
    pub(crate) command: String,
    /// The fields that it has assigned, as they were before.
    pub(crate) before: Context,
}

impl Pause {
    /// Returns the one of the commands that `ran` which made the state what it is `now`, if there is one: an edit that looks
    /// like a command is none.
    pub(crate) fn between(
        chart: &Arc<Chart>,
        (before, now): (&Snapshot, &Snapshot),
        ran: &[DecisionLine],
    ) -> Option<Self> {
        let (fields, next) = (before.context(), chart.next.as_ref()?);
        if fields == now.context() {
            return None;
        }
        let has_run = |name: &str| {
            let mut events = ran.iter().filter_map(|line| line.event.strip_prefix(RUN));
            events.any(|command| command == name)
        };
        let mut commands = (chart.commands.iter()).filter(|(name, _)| has_run(name));
        commands.find_map(|(name, command)| {
            let rule = &command.rule;
            let only_assigns = rule.actions.is_empty()
                && !rule.advance
                && rule.target.is_none()
                && command.raise.is_empty();
            let patch = only_assigns.then(|| step_of(now, name, fields)?.patch())??;
            let is_done = |(name, value)| now.context().get(name) == Some(value);
            let pauses = patch.get(next).is_some_and(Json::is_null) && patch.iter().all(is_done);
            let old = |name: &String| Some((name.clone(), fields.get(name)?.clone()));
            pauses.then(|| Self {
                command: name.clone(),
                before: patch.keys().filter_map(old).collect(),
            })
        })
    }

    /// Lets it take effect after `decision`, which was made in the world of `snapshot`, where it was not yet run.
    pub(crate) fn follow(&self, chart: &Arc<Chart>, snapshot: &Snapshot, decision: &mut Decision) {
        let is_sent_back = matches!(decision.answer, Answer::Block(_));
        decision.follow(snapshot.context(), |fields| step_of(snapshot, &self.command, fields));
        let call = chart.call(&self.command);
        let mut message = format!("The review counts, and `{call}` takes effect now.");
        // The agent, which would have been sent back with it, does not get it.
        let ended = decision.ended.as_ref().filter(|_| is_sent_back);
        if let Some(result) = ended.and_then(Ended::result) {
            message.push(' ');
            message.push_str(&result);
        }
        decision.messages.push(message);
    }
}

/// Returns what a command would do in a state with these fields.
fn step_of(snapshot: &Snapshot, command: &str, fields: &Context) -> Option<Step> {
    let snapshot = Arc::new(snapshot.again(fields));
    snapshot.decide(&Event::command(command), None).ok()
}
