//! Checks that a host calls the Stop hook: the journal says whether one was called here, and the settings of the hosts whether one
//! will be.

use std::path::PathBuf;

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::diagnosis::{Diagnosis, Level, shown};
use super::subject::Subject;
use crate::chart::choice::{Choice, of_changes};
use crate::disk;
use crate::host::events::{REVIEWER, is_stop};
use crate::host::hosts::{self, DEFAULT, HOSTS, Host};
use crate::project::home::user_folder;
use crate::project::trust::{self, OwnChart};
use crate::run::place::Place;
use crate::store::journal::{self, Line};

/// A settings file of a host.
struct File {
    host: &'static Host,
    path: PathBuf,
    text: String,
}

/// Checks the hooks of the host that runs this, or in a terminal, of all hosts.
pub(super) fn check(subject: &Subject<'_>) -> (String, Vec<Diagnosis>) {
    let around = hosts::around();
    let meant = HOSTS.iter().rev().filter(|host| around.is_none_or(|around| around.id == host.id));
    let files: Vec<File> = meant.flat_map(|host| files(host, subject)).collect();
    let mut found: Vec<Diagnosis> = files.iter().filter_map(in_the_way).collect();
    if std::env::var_os(REVIEWER).is_some() {
        let text = format!("{REVIEWER} is set, so every hook and command here does nothing");
        found.push(Diagnosis::problem(text, format!("unset {REVIEWER}")));
    }
    let choice = &caller(subject);
    let mut calls = files.iter().filter_map(|file| Some((file, calls(&file.text, choice)?)));
    // The last file of a host that names the plugin says whether it is on.
    let first = calls.next();
    let last =
        calls.take_while(|(file, _)| first.is_some_and(|(it, _)| it.host.id == file.host.id));
    let said = match last.last().or(first) {
        Some((File { path, .. }, false)) => {
            let text = format!("the plugin is off in {}, so nothing is reviewed", shown(path));
            found.push(Diagnosis::problem(text, "enable it there"));
            String::new()
        }
        Some((File { host, path, .. }, true)) => {
            format!("{} calls the Stop hook ({})", host.name, shown(path))
        }
        None => match last_stop(subject) {
            Some(at) => format!("a host last called the Stop hook at {at}"),
            None => {
                found.push(nobody(choice, around.unwrap_or(DEFAULT), subject));
                String::new()
            }
        },
    };
    (said, found)
}

/// Returns the chart for which the hooks are called: those that name no chart also serve the project's own one.
fn caller<'c>(subject: &Subject<'c>) -> Choice<'c> {
    match (subject.choice, subject.root.as_deref().map(trust::own_chart)) {
        (Choice::File(path), Some(OwnChart::Trusted(own))) if **path == own => Choice::of(None),
        _ => *subject.choice,
    }
}

/// Returns the settings files of a host: the user's, then the project's.
fn files(host: &'static Host, subject: &Subject<'_>) -> Vec<File> {
    let folders = user_folder(host.home, host.folder).into_iter();
    let folders = folders.chain(subject.dirs.iter().map(|dir| dir.join(host.folder)));
    let paths = folders.flat_map(|folder| host.hooks.iter().map(move |name| folder.join(name)));
    // The home directory itself may be a project.
    let paths: IndexSet<PathBuf> = paths.collect();
    let read = |path: PathBuf| Some(File { host, text: disk::text(&path).ok()?, path });
    paths.into_iter().filter_map(read).collect()
}

/// Returns what in a settings file keeps hooks from running.
fn in_the_way(file: &File) -> Option<Diagnosis> {
    let (path, off) = (shown(&file.path), file.host.off);
    let json: Json = serde_json::from_str(&file.text).unwrap_or_default();
    if json.get(off) == Some(&Json::Bool(true)) {
        let text = format!("{path} turns all hooks off, so nothing is reviewed");
        return Some(Diagnosis::problem(text, format!("remove \"{off}\" from it")));
    }
    json.pointer(&format!("/env/{REVIEWER}")).map(|_| {
        let text = format!("{path} sets {REVIEWER}, so every hook does nothing");
        Diagnosis::problem(text, format!("remove \"{REVIEWER}\" from its \"env\""))
    })
}

/// Returns whether a settings file calls the Stop hook of a chart, by itself or by a plugin that is on; `None` if it names neither.
fn calls(text: &str, choice: &Choice<'_>) -> Option<bool> {
    // Quotes do not count, nor do escapes before them.
    let text = text.replace(['"', '\''], "").replace('\\', "");
    let own = env!("CARGO_PKG_NAME");
    let (plugin, line) = match choice {
        // Where a chart shares the settings of another one, that one's plugin calls both.
        Choice::Embedded(chart) => match chart.of_settings().id {
            id if id == own => (Some(id), format!("{own} hook stop")),
            id => (Some(id), format!("{own} --chart {id} hook stop")),
        },
        Choice::File(path) => {
            let name = path.file_name().unwrap_or_default();
            (None, format!("{} hook stop", name.to_string_lossy()))
        }
    };
    if text.contains(&line) {
        return Some(true);
    }
    let (_, rest) = text.split_once(&format!("{}@", plugin?))?;
    let value = rest.split([',', '}', '[']).next()?;
    Some(!value.contains("false"))
}

/// Returns when a hook was last called here for a stop that the journal has.
fn last_stop(subject: &Subject<'_>) -> Option<String> {
    let root = subject.root.as_deref()?;
    let changes = of_changes().and_then(|chart| chart.load().ok());
    let charts = changes.iter().chain([subject.chart]);
    let lines = charts.flat_map(|chart| journal::read_all(&Place::of_none(chart, root).store));
    let stops = lines.filter_map(Line::into_decision).filter(|line| is_stop(&line.event));
    let last = stops.map(|line| line.at).max()?;
    Some(format!("{} UTC", last.get(..16)?.replace('T', " ")))
}

/// Reports that nothing calls the Stop hook.
fn nobody(choice: &Choice<'_>, host: &Host, subject: &Subject<'_>) -> Diagnosis {
    let Host { install, folder, name, .. } = host;
    let mut nobody = match choice {
        Choice::Embedded(chart) => {
            let install = install.replace("PLUGIN", chart.of_settings().id);
            let text = "nothing calls the Stop hook: no settings file names the plugin or the hook";
            Diagnosis::problem(text, format!("for {name}, in a clone of the repository: {install}"))
        }
        Choice::File(_) => Diagnosis::problem(
            "no settings file calls the Stop hook for this chart",
            format!(
                "add `{} --chart PATH hook stop` to the Stop hooks of {folder}/settings.json",
                env!("CARGO_PKG_NAME")
            ),
        ),
    };
    if subject.root.is_none() {
        nobody.level = Level::Warning;
        nobody.text += "; only reviews at every stop and plans need it";
    }
    nobody
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_the_hook() {
        for (text, calls_it) in [
            (r#"{"command": "taskie hook stop"}"#, Some(true)),
            (r#"{"command": "\"/a b/bin/taskie\" hook stop --timeout 900"}"#, Some(true)),
            (r#"{"enabledPlugins": {"taskie@taskie": true, "x": false}}"#, Some(true)),
            (r#"{"enabledPlugins": {"taskie@taskie": false, "x": true}}"#, Some(false)),
            ("[plugins.\"taskie@taskie\"]\nenabled = false\n[other]", Some(false)),
            ("[plugins.\"taskie@taskie\"]\nenabled = true\n", Some(true)),
            (r#"{"command": "taskie --chart my.toml hook stop"}"#, None),
            (r#"{"command": "taskie hook session-start"}"#, None),
            (r#"{"allow": ["Bash(taskie next:*)"]}"#, None),
        ] {
            assert_eq!(calls(text, &Choice::of(None)), calls_it, "{text}");
        }
        let own = "{\"command\": \"taskie --chart ./my.toml hook stop\"}";
        assert_eq!(calls(own, &Choice::of(Some("x/my.toml"))), Some(true));
    }
}
