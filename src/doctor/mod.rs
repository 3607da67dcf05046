//! `taskie doctor`: checks that everything a workflow needs is there, and that nothing prevents it from working.
//!
//! [`binary`] checks programs, [`installed`] where they came from and how to update them, [`host`] the [`settings`] of Claude Code, [`others`]
//! those of the other hosts, [`workflow`] the chart and the instance. Each returns [`Diagnosis`] lines. They change
//! nothing, and run other programs only with `--version`, and git to ask about the project.

mod binary;
mod diagnosis;
mod host;
mod installed;
mod others;
mod settings;
mod workflow;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::chart::Chart;
use crate::chart::choice::Choice;
use crate::host::events::REVIEWER;
use crate::host::hosts::DEFAULT;
use crate::project;
use crate::project::home;
use crate::project::trust::{self, OwnChart};
use crate::run::place::Place;
pub(crate) use diagnosis::{Diagnosis, Level};
use settings::HostSettings;

/// Checks everything for this chart and, if there is one, this instance; `warnings` are about instances that were
/// skipped. If the project's own chart is `refused`, for this reason, no chart decides, and this one is not reported.
pub(crate) fn examine(
    choice: &Choice<'_>,
    chart: &Arc<Chart>,
    place: Option<&Place>,
    warnings: Vec<String>,
    refused: Option<&str>,
) -> Vec<Diagnosis> {
    let snapshot = place.map(Place::snapshot);
    let context = snapshot.as_ref().map(|snapshot| snapshot.context());
    let cwd = std::env::current_dir().unwrap_or_default();
    let root = match place {
        Some(place) => Some(place.root.clone()),
        None => home::project_root(&cwd, &chart.scope.home),
    };
    // Or what would become the root.
    let above = root.clone().or_else(|| home::new_root(&cwd));
    let here = above.clone().unwrap_or_else(|| cwd.clone());
    // The host may find settings in each of them, including the one where it was started, if known.
    let dirs = above.into_iter().chain(home::host_project());
    let dirs: Vec<PathBuf> = dirs.chain([cwd]).collect();
    let settings = HostSettings::read(DEFAULT, &dirs);
    let caller = caller(choice, root.as_deref());
    let others = others::check(&caller, &dirs, &here);
    let mut found = binary::own(&here);
    if let Some(value) = std::env::var_os(REVIEWER) {
        let how = match value.is_empty() {
            true => " to an empty text, which counts",
            false => "",
        };
        found.push(Diagnosis::problem(
            "environment",
            format!("{REVIEWER} is set{how}, so every hook and command here does nothing"),
            format!("unset {REVIEWER}"),
        ));
    }
    // What the settings choose is not known as long as they have a flaw, which is reported below.
    if let Ok(settings) = project::settings::read(chart, &here) {
        found.extend(binary::invoked(chart, &settings.values(), &here));
    }
    found.extend(settings.unreadable());
    found.extend(settings.hooks_on());
    let longest = longest_review(chart, &here);
    let of_sessions = workflow::of_sessions(&here);
    found.extend(settings.hook(&caller, chart, others.call, longest, of_sessions.as_deref()));
    found.extend(of_sessions.and_then(|setting| workflow::unreviewed(&here, &setting)));
    found.extend(settings.rules(chart));
    found.extend(settings.blocks(chart, context));
    found.extend(others.found);
    match refused {
        Some(why) => found.push(workflow::refused(why)),
        None => found.extend(workflow::chart(choice, chart)),
    }
    let around = root.as_deref().unwrap_or(&here);
    found.extend(workflow::owners(chart, around, place));
    if let Some(root) = root {
        found.extend(workflow::project(chart, &root));
    }
    if place.is_none() {
        let unfit = Place::of_none(chart, &here).unfit_settings().into_iter();
        let help = "change one of the two settings";
        found.extend(unfit.map(|text| Diagnosis::warning("settings", text, help)));
    }
    if refused.is_none() {
        found.extend(workflow::instance(chart, (&here, place), warnings));
    }
    // A setting that cannot be read is in the way of more than one check.
    let mut seen = HashSet::new();
    found.retain(|diagnosis| seen.insert(diagnosis.text.clone()));
    found
}

/// Returns how long a review may take by the settings of a project, in seconds; `None` if they cannot be read.
fn longest_review(chart: &Chart, root: &Path) -> Option<u64> {
    let config = project::settings::read(chart, root).ok()?.values();
    chart.invoke.values().filter_map(|invoke| invoke.timeout.now(&config)).max()
}

/// Returns the chart for which the hooks are called: those that name no chart also serve the project's own one.
fn caller<'c>(choice: &Choice<'c>, root: Option<&Path>) -> Choice<'c> {
    let own = root.map(trust::own_chart);
    match (choice, own) {
        (Choice::File(path), Some(OwnChart::Trusted(own))) if *path == own => Choice::of(None),
        _ => *choice,
    }
}
