//! Checks the programs: this one, the one on PATH, and those that the chart runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use minijinja::value::Value;
use serde_json::{Value as Json, json};

use super::diagnosis::{Diagnosis, shown};
use super::installed;
use crate::chart::Chart;
use crate::engine::context::{Context, to_value};
use crate::engine::names::types;
use crate::expr::Expressions;
use crate::expr::source::Expr;
use crate::host::hosts::{HOSTS, Host};
use crate::os;
use crate::os::bond::Bond;
use crate::process::spec::Spec;
use crate::process::{End, log, program, run};
use crate::text::plain;

/// How long a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// The numbers of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version([u64; 3]);

impl Version {
    /// Returns the first word of `text` that is three numbers with dots between them.
    pub(super) fn find(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let core = word.trim_end_matches('.').split(['-', '+']).next()?;
            let mut parts = core.split('.').map(|part| part.parse().ok());
            let numbers = [parts.next()??, parts.next()??, parts.next()??];
            parts.next().is_none().then_some(Self(numbers))
        })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [major, minor, patch] = self.0;
        write!(out, "{major}.{minor}.{patch}")
    }
}

/// Checks this program, and the program of the same name that hooks and agents find.
pub(super) fn own(project: &Path) -> Vec<Diagnosis> {
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let exe = std::env::current_exe().unwrap_or_default();
    let this = installed::program();
    let folder = exe.parent().map(shown).unwrap_or_default();
    if installed::is_kept_by_plugin(&exe) {
        // Hooks don't look on PATH, and the host puts the launcher on the agent's PATH.
        return vec![this, Diagnosis::ok("path", "the plugin starts this one")];
    }
    let found = match located(name, project) {
        Ok(found) => found,
        Err(why) => {
            let text = format!("{why}, so neither hooks nor the agent can find it");
            let help = format!("add {folder} to PATH where Claude Code is started");
            return vec![this, Diagnosis::problem("path", text, help)];
        }
    };
    let is_this =
        matches!((found.canonicalize(), exe.canonicalize()), (Ok(found), Ok(exe)) if found == exe);
    let on_path = if is_this {
        Diagnosis::ok("path", format!("`{name}` on PATH is this one"))
    } else {
        match version_of(&found) {
            Ok(text) if text == format!("{name} {version}") => Diagnosis::warning(
                "path",
                format!("`{name}` on PATH is another file of the same version: {}", shown(&found)),
                "keep one of the two: an upgrade would replace only one",
            ),
            Ok(text) => Diagnosis::problem(
                "path",
                format!("hooks and the agent find a different one: {text}, {}", shown(&found)),
                format!("replace it, or put {folder} before it on PATH"),
            ),
            Err(why) => Diagnosis::problem(
                "path",
                format!(
                    "hooks and the agent find {}, which does not print its version: {why}",
                    shown(&found)
                ),
                format!("replace it, or put {folder} before it on PATH"),
            ),
        }
    };
    vec![this, on_path]
}

/// Checks the programs that the chart runs with these settings.
pub(super) fn invoked(chart: &Chart, settings: &Context, project: &Path) -> Vec<Diagnosis> {
    let chosen = chosen(chart, settings);
    let rules = chart.on.values().flatten();
    let names = rules.flat_map(|rule| {
        let invoke = rule.invoke.as_deref();
        let mut names = invoke.and_then(|invoke| types::invoked(chart, invoke));
        if let Some(names) = names.as_mut().filter(|names| names.len() > 1) {
            names.retain(|name| chosen.is_empty() || chosen.contains(&name.as_str()));
        }
        names.unwrap_or_default()
    });
    let expressions = Expressions::new(chart.templates.clone());
    // The settings, and the names that depend on nothing else.
    let mut known = BTreeMap::from([("config".to_owned(), to_value(&json!(settings)))]);
    for (name, expr) in &chart.lets {
        if let Ok(value) = expressions.value(&expr.0, &Value::from(known.clone())) {
            known.insert(name.clone(), value);
        }
    }
    let known = Value::from(known);
    let mut found = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for invoke in names.filter_map(|name| chart.invoke.get(&name)) {
        let program = invoke.argv.first().map_or("", |program| program.0.as_str());
        // A program whose name is known only at run time cannot be looked up.
        if program.is_empty() || program.contains('{') || seen.contains(&program) {
            continue;
        }
        seen.push(program);
        found.push(program_on_path(chart, program, project));
        let host = Host::named(program).filter(|host| !host.unasked.is_empty());
        let Some(Host { unasked, .. }) = host else {
            continue;
        };
        // In the argument itself, or in a name that it uses. One that looks at more than the settings is not known.
        let lets = chart.lets.iter();
        let lets = lets.filter(|(_, expr)| expr.0.contains(unasked));
        let is_chosen = |expr: &Expr| {
            let value = expressions.value(&expr.0, &known);
            value.is_ok_and(|value| value.to_string().contains(unasked))
        };
        let names: Vec<&String> =
            lets.filter(|(_, expr)| is_chosen(expr)).map(|(name, _)| name).collect();
        let is_unasked = invoke.argv.iter().any(|arg| {
            arg.0.contains(unasked) || names.iter().any(|name| arg.0.contains(name.as_str()))
        });
        if is_unasked && os::process::is_root() {
            found.extend(host.and_then(as_root));
        }
    }
    found
}

/// Returns the invocations that the settings choose: those before the `:` of an item, and, if there is an item without one,
/// those that a setting names. None of them: the settings choose nothing.
fn chosen<'s>(chart: &Chart, settings: &'s Context) -> Vec<&'s str> {
    let value = |name: &String| settings.get(name);
    let lists = chart.config.iter().filter(|(_, field)| field.prefix.is_some());
    let items = lists.filter_map(|(name, _)| value(name)?.as_array());
    let items: Vec<&str> = items.flatten().filter_map(Json::as_str).collect();
    // An item can also be a name alone.
    let known = |name: &str| chart.invoke.contains_key(name);
    let before = |item: &&'s str| item.split(':').next().filter(|name| known(name));
    let mut chosen: Vec<&str> = items.iter().filter_map(before).collect();
    if chosen.len() < items.len() || items.is_empty() {
        let words = chart.config.iter().filter(|(_, field)| field.one_of.is_some());
        let named = words.filter_map(|(name, _)| value(name)?.as_str());
        chosen.extend(named.filter(|name| known(name)));
    }
    chosen
}

/// Returns the setting that chooses a reviewer whose program is there, if there is one.
fn other_reviewer(chart: &Chart, program: &str, project: &Path) -> Option<String> {
    let mut hosts = HOSTS.iter().rev().filter(|host| host.id != program);
    hosts.find_map(|host| {
        let setting = chart.setting_for(host.id)?;
        located(host.id, project).ok()?;
        Some(format!("or add \"{setting}\": \"{0}\" to your settings: `{0}` is here", host.id))
    })
}

fn program_on_path(chart: &Chart, program: &str, project: &Path) -> Diagnosis {
    let path = match located(program, project) {
        Ok(path) if path.is_file() => path,
        found => {
            let why = found.err();
            let why = why.unwrap_or_else(|| format!("`{program}` does not exist"));
            let help = "install it, or add its folder to PATH where Claude Code is started";
            let other = other_reviewer(chart, program, project);
            return Diagnosis::problem(
                "program",
                format!("{why}, so it cannot review"),
                match other {
                    None => help.to_owned(),
                    Some(other) => format!("{help}; {other}"),
                },
            );
        }
    };
    // Any other program may do anything when it is asked for its version.
    let Some(host) = Host::named(program) else {
        return Diagnosis::ok("program", format!("{program}, {}", shown(&path)));
    };
    let printed = version_of(&path);
    match printed.as_deref().map(Version::find) {
        Ok(Some(version)) if Version::find(host.tested).is_some_and(|tested| version < tested) => {
            Diagnosis::warning(
                "program",
                format!(
                    "{program} {version}, {}: older than all versions that taskie was tested with",
                    shown(&path)
                ),
                format!("`{program} update` (tested from {} on)", host.tested),
            )
        }
        Ok(Some(version)) => {
            Diagnosis::ok("program", format!("{program} {version}, {}", shown(&path)))
        }
        Ok(None) => Diagnosis::warning(
            "program",
            format!("{}: its version is unknown", shown(&path)),
            format!("run `{program} --version` to see what it prints"),
        ),
        Err(why) => Diagnosis::problem(
            "program",
            format!("{} does not run: {why}", shown(&path)),
            format!("run `{program} --version` to see the error"),
        ),
    }
}

/// Reports that root may not use the option that reviews need.
fn as_root(host: &Host) -> Option<Diagnosis> {
    let Host { id, unasked, sandbox, .. } = host;
    let is_sandbox = std::env::var_os(sandbox).is_some_and(|value| value == "1");
    (!is_sandbox).then(|| {
        Diagnosis::problem(
            "program",
            format!("`{id} {unasked}`, which reviews need, does not run as root"),
            format!("work as another user, or in a sandbox set {sandbox}=1"),
        )
    })
}

/// Returns the file that a stop in `project` would start under a name: it is never a part of the project. The error is a
/// sentence without a period.
pub(super) fn located(name: &str, project: &Path) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    program::locate(name, &path, project).map(|file| project.join(file))
}

/// Returns the first line that `PROGRAM --version` prints. Any program may do anything when it is asked for its version: the
/// caller knows that this one does not.
pub(super) fn version_of(program: &Path) -> Result<String, String> {
    let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    let spec = Spec {
        argv: vec![program.to_string_lossy().into_owned(), "--version".to_owned()],
        cwd: std::env::current_dir().unwrap_or_default(),
        env: Vec::new(),
        log: file.path().to_owned(),
        logs_stdout: false,
        timeout: PATIENCE,
        cancel: None,
    };
    match run(&spec, None, Bond::Loose) {
        End::Exited { code: Some(0), stdout, .. } => {
            let text = String::from_utf8_lossy(&stdout);
            Ok(plain(text.lines().next().unwrap_or_default()))
        }
        End::Exited { .. } => {
            Err(log::last_line(file.path()).unwrap_or_else(|| "it failed".to_owned()))
        }
        End::TimedOut => Err(format!("no answer within {} seconds", PATIENCE.as_secs())),
        End::TooMuchOutput => Err("it printed too much".to_owned()),
        End::Interrupted { .. } | End::Cancelled | End::Abandoned | End::Lost => {
            Err("interrupted".to_owned())
        }
        End::NotStarted(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        let cases = [
            ("2.1.330 (Claude Code)", Some([2, 1, 330])),
            ("taskie 0.1.0", Some([0, 1, 0])),
            ("GitHub Copilot CLI 1.0.102.", Some([1, 0, 102])),
            ("claude v 10.0.1-beta.2+5", Some([10, 0, 1])),
            ("2.1", None),
            ("2.1.3.4", None),
            ("", None),
        ];
        for (text, version) in cases {
            assert_eq!(Version::find(text), version.map(Version), "{text}");
        }
        assert!(
            Version([2, 1, 99]) < Version([2, 1, 197]) && Version([2, 1, 197]) < Version([2, 2, 0])
        );
    }
}
