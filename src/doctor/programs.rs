//! Checks the programs: the one that hooks and agents find, and those that the chart runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value as Json;

use super::diagnosis::{Diagnosis, shown};
use super::subject::Subject;
use crate::chart::Chart;
use crate::engine::context::Context;
use crate::engine::names::types;
use crate::host::hosts::{HOSTS, Host};
use crate::process::spec::Spec;
use crate::process::{End, log, program, run};
use crate::text::plain;

const NAME: &str = env!("CARGO_PKG_NAME");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// Checks this program and those that the settings choose.
pub(super) fn check(subject: &Subject<'_>) -> (String, Vec<Diagnosis>) {
    let mut found: Vec<Diagnosis> = on_path(&subject.here).into_iter().collect();
    let mut there = vec![format!("{NAME} {VERSION}")];
    for invoked in subject.config.iter().flat_map(|config| invoked(subject, config)) {
        match invoked {
            Ok(program) => there.push(program),
            Err(diagnosis) => found.push(diagnosis),
        }
    }
    (there.join("; "), found)
}

/// Checks that hooks and agents, which look on PATH, find this program.
fn on_path(project: &Path) -> Option<Diagnosis> {
    let exe = std::env::current_exe().unwrap_or_default();
    let exe = exe.canonicalize().unwrap_or(exe);
    let data = exe.parent().and_then(Path::parent);
    if data.is_some_and(|data| data.join(format!("{NAME}-{VERSION}")).is_symlink()) {
        // A plugin's launcher keeps it: hooks don't look on PATH, and the host puts the launcher on the agent's PATH.
        return None;
    }
    let folder = exe.parent().map(shown).unwrap_or_default();
    let found = match located(NAME, project) {
        Ok(found) => found,
        Err(why) => {
            let text = format!("{why}, so neither hooks nor the agent can find it");
            let help = format!("add {folder} to PATH where the agent is started");
            return Some(Diagnosis::problem(text, help));
        }
    };
    if found.canonicalize().is_ok_and(|found| found == exe) {
        return None;
    }
    let other = match version_of(&found) {
        Ok(text) if text == format!("{NAME} {VERSION}") => return None,
        Ok(text) => format!("a different one: {text}, {}", shown(&found)),
        Err(why) => format!("{}, which does not print its version: {why}", shown(&found)),
    };
    let help = format!("replace it, or put {folder} before it on PATH");
    Some(Diagnosis::problem(format!("hooks and the agent find {other}"), help))
}

/// Checks the programs that the chart runs with these settings: what they are, or what is wrong with them.
fn invoked(subject: &Subject<'_>, settings: &Context) -> Vec<Result<String, Diagnosis>> {
    let (chart, project) = (subject.chart, subject.here.as_path());
    let chosen = chart.models().and_then(|name| settings.get(name)?.as_array());
    let rules = chart.on.values().flatten().filter_map(|rule| rule.invoke.as_deref());
    let names = rules.flat_map(|invoke| match (types::invoked(chart, invoke), chosen) {
        (Some(names), _) => names,
        (None, Some(items)) => items.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        (None, None) => Vec::new(),
    });
    let mut found = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for who in names {
        let program = chart.reviewer(&who).map_or("", |(_, reviewer, _)| reviewer.program());
        // A program whose name is known only at run time cannot be looked up.
        if program.is_empty() || program.contains('{') || seen.contains(&program) {
            continue;
        }
        seen.push(program);
        found.push(program_on_path(chart, program, project));
    }
    found
}

/// Returns what a program that reviews is, or what is wrong with it.
fn program_on_path(chart: &Chart, program: &str, project: &Path) -> Result<String, Diagnosis> {
    let path = located(program, project).map_err(|why| {
        let mut others = HOSTS.iter().rev().filter(|host| host.id != program);
        let other = others.find_map(|host| {
            let setting = chart.models().filter(|_| chart.reviewers.contains_key(host.id))?;
            located(host.id, project).ok()?;
            Some(format!(
                "; or add \"{setting}\": [\"{0}\"] to your settings: `{0}` is here",
                host.id
            ))
        });
        let help = "install it, or add its folder to PATH where the agent is started";
        let help = format!("{help}{}", other.unwrap_or_default());
        Diagnosis::problem(format!("{why}, so it cannot review"), help)
    })?;
    // Any other program may do anything when it is asked for its version.
    if Host::named(program).is_none() {
        return Ok(program.to_owned());
    }
    version_of(&path).map(|version| format!("{program}: {version}")).map_err(|why| {
        Diagnosis::problem(
            format!("{} does not run: {why}", shown(&path)),
            format!("run `{program} --version` to see the error"),
        )
    })
}

/// Returns the file that a stop in `project` would start under a name: it is never a part of the project. The error is a
/// sentence without a period.
fn located(name: &str, project: &Path) -> Result<PathBuf, String> {
    program::locate(name, project).map(|file| project.join(file))
}

/// Returns the first line that `PROGRAM --version` prints. Any program may do anything when it is asked for its version: the
/// caller knows that this one does not.
fn version_of(program: &Path) -> Result<String, String> {
    let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    let spec = Spec {
        argv: vec![program.to_string_lossy().into_owned(), "--version".to_owned()],
        cwd: std::env::current_dir().unwrap_or_default().into(),
        env: Vec::new(),
        log: file.path().into(),
        logs_stdout: false,
        timeout: PATIENCE,
        cancel: None,
    };
    match run(&spec, || false) {
        End::Exited { code: Some(0), stdout, .. } => {
            let text = String::from_utf8_lossy(&stdout);
            Ok(plain(text.lines().next().unwrap_or_default()))
        }
        End::TimedOut => Err(format!("no answer within {} seconds", PATIENCE.as_secs())),
        End::NotStarted(why) => Err(why),
        _ => Err(log::last_line(file.path()).unwrap_or_else(|| "it failed".to_owned())),
    }
}
