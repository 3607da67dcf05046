//! Checks the chart, the schema of its state, and the current instance.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;

use super::diagnosis::Diagnosis;
use crate::chart::Chart;
use crate::chart::choice::{Choice, of_changes};
use crate::chart::schema;
use crate::check::lint;
use crate::disk;
use crate::engine::context::initial;
use crate::engine::decision::Step;
use crate::engine::event::Event;
use crate::expr::templates::Templates;
use crate::host::events::UNCLAIMED;
use crate::os::file::is_writable;
use crate::page::counted;
use crate::project::find::Instance;
use crate::project::git;
use crate::project::settings;
use crate::project::state_file::{self, Reading};
use crate::project::trust;
use crate::run::perform::peek;
use crate::run::place::Place;
use crate::run::snapshot::Snapshot;
use crate::run::{asked, change};
use crate::store::{Store, driver, git_dir};
use crate::text::plain_line;

/// Checks the chart and the schema of its state. Its states are not explored; that is left to `check-chart`.
pub(super) fn chart(choice: &Choice<'_>, chart: &Arc<Chart>) -> Vec<Diagnosis> {
    let text = choice.text().unwrap_or_default();
    let (linted, check) = match choice {
        Choice::Embedded(embedded) => {
            let templates = |_: &[String]| Templates::Embedded(embedded.templates);
            let linted = lint::run(embedded.id, &text, templates, None);
            (linted, "check-chart".to_owned())
        }
        Choice::File(path) => {
            let beside = path.parent().unwrap_or(Path::new(""));
            let templates = |folders: &[String]| Templates::beside(beside, folders);
            let linted = lint::run(&chart.origin, &text, templates, None);
            (linted, format!("check-chart {}", path.display()))
        }
    };
    let flaws = linted.flaws;
    let origin = chart.with_bases();
    let (count, them) = match flaws.len() {
        0 => ("no findings".to_owned(), ""),
        1 => ("a finding".to_owned(), "it"),
        many => (format!("{many} findings"), "them"),
    };
    let text = format!("the chart {origin} has {count}");
    let sound = match flaws.is_empty() {
        true => Diagnosis::ok("chart", text),
        false => Diagnosis::warning("chart", text, format!("`taskie {check}` shows {them}")),
    };
    vec![sound, state_schema(chart)]
}

/// Returns the problem with a chart of the project's own that the user trusts in another form.
pub(super) fn refused(why: &str) -> Diagnosis {
    Diagnosis { help: None, ..Diagnosis::problem("chart", why.trim_end_matches('.'), "") }
}

/// Checks that a new instance matches the schema.
fn state_schema(chart: &Chart) -> Diagnosis {
    let state = Json::Object(initial(chart).into_iter().collect());
    match schema::state::breach(chart, &state) {
        None => Diagnosis::ok("schema", "the schema of state.json is valid"),
        Some(why) => Diagnosis::problem(
            "schema",
            format!("a new {} does not fit the schema of its state.json: {why}", chart.scope.noun),
            format!("fix [context] in {}", chart.origin),
        ),
    }
}

/// Checks that nobody else can write to the home at `root`, to the instance, to the git directory, and to what the user has agreed
/// to.
pub(super) fn owners(chart: &Chart, root: &Path, place: Option<&Place>) -> Vec<Diagnosis> {
    let home = Path::new(&chart.scope.home);
    let dirs = [Some(home), place.map(|place| place.instance.dir.as_path())];
    let flaw = |dir: &Path| {
        let why = disk::distrust(&root.join(dir))?;
        Some(format!("{} is not used: {why}", dir.display()))
    };
    let flaws = dirs.into_iter().flatten().filter_map(flaw);
    let record = trust::flaw(root).map(|why| format!("what you have agreed to is not used: {why}"));
    let flaws = flaws.chain(record);
    let flaws = flaws.map(|flaw| {
        let (what, help) = in_two(&flaw);
        Diagnosis::problem("project", what, help)
    });
    let git_dir = git_dir::unused(root);
    let git_dir = git_dir.and_then(|dir| flaw(dir.strip_prefix(root).unwrap_or(&dir)));
    // Something else is used in its place.
    let git_dir = git_dir.map(|flaw| {
        let (what, help) = in_two(&flaw);
        Diagnosis::warning("store", what, help)
    });
    flaws.chain(git_dir).collect()
}

/// Splits what is wrong with a folder from what helps.
fn in_two(flaw: &str) -> (&str, &str) {
    flaw.split_once("; ").unwrap_or((flaw, ""))
}

/// Checks the settings of the project at `root`, and its records of sessions.
pub(super) fn project(chart: &Chart, root: &Path) -> Vec<Diagnosis> {
    let mut found = Vec::new();
    match settings::read(chart, root) {
        Ok(read) => {
            found.extend(read.warnings.into_iter().map(|warning| {
                let help = format!("`{} config` shows the settings", chart.program());
                Diagnosis::warning("settings", warning, help)
            }));
            if found.is_empty() && !chart.config.is_empty() {
                found.push(Diagnosis::ok("settings", "the settings are valid"));
            }
        }
        Err(why) => found.push(Diagnosis::problem("settings", why, "fix the file")),
    }
    if let Some(why) = trust::changed_bases(root) {
        let (what, help) = why.split_once(": ").unwrap_or((&why, ""));
        found.push(Diagnosis::warning("chart", what, help));
    }
    let store = Store::of(root, &chart.scope.home);
    found.push(locks(&store, root).unwrap_or_else(|| kept(&store, root)));
    if let Some(flaw) = git::untrusted_locks(root, &chart.scope.home) {
        let (what, help) = flaw.split_once(". ").unwrap_or((&flaw, ""));
        found.push(Diagnosis::problem("sessions", what, help));
    }
    found
}

/// Reports an instance that waits for a stop while no session drives it: what a session that stops would say about it.
fn undriven(place: &Place) -> Option<Diagnosis> {
    let Instance { name, .. } = &place.instance;
    let event = Event::hook(UNCLAIMED, asked::typed_at(place));
    let (Step::Done(decision), _) = peek(place, &event).ok()? else {
        return None;
    };
    let help = decision.messages.first()?;
    if !driver::of(&place.store, name).is_empty() {
        return None;
    }
    let noun = &place.chart.scope.noun;
    let text = format!("no session drives {noun} {name}, so a stop does nothing about it");
    Some(Diagnosis::warning("instance", text, help))
}

/// Reports a folder in which no lock can be taken.
fn locks(store: &Store, root: &Path) -> Option<Diagnosis> {
    let (folder, why) = store.locks();
    let shown = folder.strip_prefix(root).unwrap_or(folder).display();
    let text = format!("nothing can be reviewed or entered: {shown} cannot be written ({})", why?);
    let help = "make it a folder that this user may write to";
    Some(Diagnosis::problem("store", text, help))
}

/// Says where this machine keeps who drives an instance, what its reviews cost, and its journal.
fn kept(store: &Store, root: &Path) -> Diagnosis {
    let (folder, why) = store.place();
    let shown = folder.strip_prefix(root).unwrap_or(folder).display();
    match why {
        None => {
            Diagnosis::ok("store", format!("sessions, costs and the journal are kept in {shown}"))
        }
        Some(why) => Diagnosis::warning(
            "store",
            format!(
                "sessions, costs and the journal are kept in {shown}, which `git clean` removes: the git directory cannot be written ({why})"
            ),
            "nothing to do if this shell is in a sandbox and the hooks are not; otherwise make it writable for this user",
        ),
    }
}

/// Checks that the instance can be used; `warnings` are about those that were skipped.
pub(super) fn instance(
    chart: &Chart,
    (root, place): (&Path, Option<&Place>),
    warnings: Vec<String>,
) -> Vec<Diagnosis> {
    let noun = &chart.scope.noun;
    let mut found: Vec<Diagnosis> = warnings
        .into_iter()
        .map(|warning| Diagnosis::warning("instance", warning, "fix it, or delete the directory"))
        .collect();
    let Some(place) = place else {
        let why = match of_sessions(root) {
            _ if chart.scope.is_per_session() => {
                format!("hooks name the {noun} themselves; check one with `--{noun} ID`")
            }
            Some(setting) if git_dir::absent(root).is_none() => format!(
                "there is no {noun} here; `{setting}` has the hooks review what each session changes"
            ),
            _ => format!("there is no {noun} here, so hooks allow everything"),
        };
        found.push(Diagnosis::ok("instance", why));
        return found;
    };
    let name = &place.instance.name;
    let snapshot = place.snapshot();
    let file = place.instance.dir.join(state_file::FILE);
    match &snapshot.state {
        sound @ Reading::Sound { .. } => found.push(match sound.lacks() {
            None => {
                let text = format!("{noun} {name}: its state.json is valid");
                Diagnosis::ok("instance", text)
            }
            Some(fields) => {
                let text = format!("{noun} {name}: {} lacks {fields}", file.display());
                let help =
                    "nothing to do if the defaults are right: the next transition writes them";
                Diagnosis::warning("instance", text, help)
            }
        }),
        Reading::Missing if chart.cycles.is_empty() => found.push(Diagnosis::ok(
            "instance",
            format!("{noun} {name} has no state.json yet: it has not started"),
        )),
        Reading::Missing => found.push(Diagnosis::warning(
            "instance",
            format!("{noun} {name} has no state.json, so no review is ever due"),
            format!("write it with `{} enter PHASE --{noun} {name}`", chart.program()),
        )),
        Reading::Broken(why) => found.push(Diagnosis::problem(
            "instance",
            format!("{noun} {name}: {} cannot be used: {why}", file.display()),
            chart.scope.remedy(),
        )),
    }
    found.extend(structure(place, &snapshot));
    found.extend(undriven(place));
    if !is_writable(&place.dir()) {
        found.push(Diagnosis::problem(
            "instance",
            format!("{} cannot be written to", place.instance.dir.display()),
            "make it writable for this user",
        ));
    }
    found
}

/// Returns the setting that has the change of every session reviewed, if it is on.
pub(super) fn of_sessions(root: &Path) -> Option<String> {
    let place = Place::of_none(&of_changes()?.load().ok()?, root);
    let setting = place.chart.scope.always.as_ref()?;
    (change::is_on(&place, Some(setting)) == Ok(true)).then(|| setting.clone())
}

/// Reports why what a session changes at `root` is not reviewed, although the setting is on.
pub(super) fn unreviewed(root: &Path, setting: &str) -> Option<Diagnosis> {
    let why = git_dir::absent(root)?;
    let text = format!("not reviewed here, although `{setting}` is on: {why}");
    let help = "start the session in a git repository of yours; plans are reviewed without one";
    Some(Diagnosis::problem("sessions", text, help))
}

/// Returns what the chart's checks find.
fn structure(place: &Place, snapshot: &Arc<Snapshot>) -> Vec<Diagnosis> {
    let chart = &place.chart;
    let (noun, name) = (&chart.scope.noun, &place.instance.name);
    let mut found = Vec::new();
    let view = snapshot.view();
    let mut findings = Vec::new();
    for list in chart.checks.keys() {
        match view.findings(list) {
            Ok(found) => findings.extend(found),
            Err(fault) => {
                let help = match fault.place() {
                    Some(_) => format!("fix the chart {}", chart.origin),
                    None => "restore it from git, or write it again as a regular file".to_owned(),
                };
                found.push(Diagnosis::problem("instance", fault.to_string(), help));
            }
        }
    }
    if let Some(first) = findings.first() {
        let more = match findings.len() - 1 {
            0 => String::new(),
            more => format!(" (and {})", counted(more, "other finding")),
        };
        found.push(Diagnosis::warning(
            "instance",
            format!("{noun} {name}: {}{more}", plain_line(first, 300)),
            format!("`{} validate --{noun} {name}` shows all of it", chart.program()),
        ));
    }
    found
}
