//! Checks the settings of the project and what this machine keeps about it, the chart, and the current instance.

use std::path::Path;
use std::sync::Arc;

use super::diagnosis::Diagnosis;
use super::subject::Subject;
use crate::disk;
use crate::os::file::is_writable;
use crate::project::settings;
use crate::project::state_file::{self, Reading};
use crate::project::trust;
use crate::run::place::Place;
use crate::run::snapshot::Snapshot;
use crate::store::{Store, git_dir};
use crate::text::plain_line;

/// Checks the settings, and that only this user can write what is kept.
pub(super) fn settings(subject: &Subject<'_>) -> (String, Vec<Diagnosis>) {
    let (chart, here) = (subject.chart, subject.here.as_path());
    let mut found = owners(subject);
    match settings::read(chart, here, None) {
        Ok(read) => found.extend(read.warnings.into_iter().map(|warning| {
            let help = format!("`{} config` shows the settings", chart.program());
            Diagnosis::warning(warning, help)
        })),
        Err(why) => found.push(Diagnosis::problem(why, "fix the file")),
    }
    if subject.place.is_none() {
        let unfit = Place::of_none(chart, here).unfit_settings().into_iter();
        found.extend(unfit.map(|text| Diagnosis::warning(text, "change one of the two settings")));
    }
    if let Some(setting) = subject.of_sessions()
        && let Some(why) = git_dir::absent(here)
    {
        let text = format!("not reviewed here, although `{setting}` is on: {why}");
        let help = "start the session in a git repository of yours; plans are reviewed without one";
        found.push(Diagnosis::problem(text, help));
    }
    let Some(root) = &subject.root else {
        return ("the settings are valid".to_owned(), found);
    };
    let store = Store::of(root, &chart.scope.home);
    let shown = |folder: &Path| folder.strip_prefix(root).unwrap_or(folder).display().to_string();
    let folder = store.private.as_ref().unwrap_or(&store.beside);
    let kept = format!("sessions, costs and the journal are kept in {}", shown(folder));
    for folder in [&store.beside, folder] {
        let existing = folder.ancestors().find(|it| it.exists());
        if !existing.is_some_and(is_writable) {
            let text = format!("nothing can be reviewed: {} cannot be written", shown(folder));
            let help = "nothing to do if this shell is in a sandbox and the hooks are not; otherwise make it writable for this user";
            found.push(Diagnosis::problem(text, help));
            break;
        }
    }
    (format!("the settings are valid; {kept}"), found)
}

/// Checks that nobody else can write to the home, to the instance, to the git directory, and to what the user has agreed to.
fn owners(subject: &Subject<'_>) -> Vec<Diagnosis> {
    let root = subject.here.as_path();
    let home = Path::new(&subject.chart.scope.home);
    let dirs = [Some(home), subject.place.map(|place| place.instance.dir.as_path())];
    let flaw = |dir: &Path| {
        let why = disk::distrust(&root.join(dir))?;
        Some(Diagnosis::split(&format!("{} is not used: {why}", dir.display()), "; "))
    };
    let flaws = dirs.into_iter().flatten().filter_map(flaw);
    let record = trust::flaw(root).map(|why| format!("what you have agreed to is not used: {why}"));
    let record = record.map(|flaw| Diagnosis::split(&flaw, "; "));
    let git_dir = git_dir::unused(root);
    let git_dir = git_dir.and_then(|dir| flaw(dir.strip_prefix(root).unwrap_or(&dir)));
    flaws.chain(record).chain(git_dir.map(Diagnosis::into_warning)).collect()
}

/// Checks that the chart can be used; `check-chart` says more of it.
pub(super) fn chart(subject: &Subject<'_>) -> (String, Vec<Diagnosis>) {
    let refused = subject.refused.iter();
    let refused = refused.map(|why| Diagnosis::split(why.trim_end_matches('.'), "\n"));
    (format!("the chart {}", subject.chart.origin), refused.collect())
}

/// Checks that the instance can be used.
pub(super) fn instance(subject: &Subject<'_>) -> (String, Vec<Diagnosis>) {
    if subject.refused.is_some() {
        return (String::new(), Vec::new());
    }
    let chart = subject.chart;
    let noun = chart.scope.noun();
    let mut found = Vec::new();
    let Some(place) = subject.place else {
        let why = match subject.of_sessions() {
            _ if chart.scope.is_per_session() => {
                format!("hooks name the {noun} themselves; check one with `--{noun} ID`")
            }
            Some(setting) if git_dir::absent(&subject.here).is_none() => format!(
                "there is no {noun} here; `{setting}` has the hooks review what each session changes"
            ),
            _ => format!("there is no {noun} here, so hooks allow everything"),
        };
        return (why, found);
    };
    let name = &place.instance.name;
    let snapshot = place.snapshot();
    let file = place.instance.dir.join(state_file::FILE);
    let file = file.display();
    let mut sound = format!("{noun} {name}: its state.json is valid");
    match &snapshot.state {
        state @ Reading::Sound { .. } => found.extend(state.lacks().map(|fields| {
            let help = "nothing to do if the defaults are right: the next transition writes them";
            Diagnosis::warning(format!("{noun} {name}: {file} lacks {fields}"), help)
        })),
        Reading::Missing if chart.cycles.is_empty() => {
            sound = format!("{noun} {name} has no state.json yet: it has not started");
        }
        Reading::Missing => found.push(Diagnosis::warning(
            format!("{noun} {name} has no state.json, so no review is ever due"),
            format!("write it with `{} enter PHASE --{noun} {name}`", chart.program()),
        )),
        Reading::Broken(why) => found.push(Diagnosis::problem(
            format!("{noun} {name}: {file} cannot be used: {why}"),
            chart.scope.remedy(),
        )),
    }
    found.extend(structure(place, &snapshot));
    if !is_writable(&place.dir()) {
        found.push(Diagnosis::problem(
            format!("{} cannot be written to", place.instance.dir.display()),
            "make it writable for this user",
        ));
    }
    (sound, found)
}

/// Returns what the chart's checks find.
fn structure(place: &Place, snapshot: &Arc<Snapshot>) -> Vec<Diagnosis> {
    let chart = &place.chart;
    let (noun, name) = (chart.scope.noun(), &place.instance.name);
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
                found.push(Diagnosis::problem(fault.to_string(), help));
            }
        }
    }
    if let Some(first) = findings.first() {
        found.push(Diagnosis::warning(
            format!("{noun} {name}: {}", plain_line(first, 300)),
            format!("`{} validate --{noun} {name}` shows all of it", chart.program()),
        ));
    }
    found
}
