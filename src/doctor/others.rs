//! Checks the other hosts that the user has, going by the table of hosts: whether something calls the Stop hook there,
//! whether the host may run it, and whether it runs only once.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::binary::{self, Version};
use super::diagnosis::{Diagnosis, shown};
use super::host::{calls, read};
use crate::chart::embedded::Choice;
use crate::host::hosts::{HOSTS, Host};

/// What was found, and whether one of the hosts calls the Stop hook.
#[derive(Debug, Default)]
pub(super) struct Others {
    pub(super) found: Vec<Diagnosis>,
    pub(super) call: bool,
}

/// Checks each host whose program or settings are here; `dirs` are the folders of a project that may hold settings.
pub(super) fn check(choice: &Choice<'_>, dirs: &[PathBuf]) -> Others {
    let mut others = Others::default();
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    for host in HOSTS.iter().filter(|host| !host.folder.is_empty()) {
        let place = Place::of(host, &home, dirs);
        let program = binary::on_path(host.id);
        if program.is_some() || place.folder.is_dir() {
            place.check(choice, program.as_deref(), &mut others);
        }
    }
    others
}

/// A host, and where its settings are.
struct Place<'p> {
    host: &'static Host,
    /// The user's settings.
    folder: PathBuf,
    home: &'p Path,
    dirs: &'p [PathBuf],
}

/// Something that calls the Stop hook.
struct Caller {
    text: String,
    /// What the host calls it where it says which hooks it trusts.
    key: String,
}

impl<'p> Place<'p> {
    fn of(host: &'static Host, home: &'p Path, dirs: &'p [PathBuf]) -> Self {
        let given = env::var_os(host.home).filter(|folder| !folder.is_empty());
        let folder = given.map_or_else(|| home.join(host.folder), PathBuf::from);
        Self {
            host,
            folder,
            home,
            dirs,
        }
    }

    fn check(&self, choice: &Choice<'_>, program: Option<&Path>, others: &mut Others) {
        let name = self.host.name;
        let mut callers: Vec<Caller> = self.plugin(choice).into_iter().collect();
        callers.extend(self.hooks(choice));
        let Some(caller) = callers.first() else {
            if let Choice::Embedded(chart) = choice {
                let text = format!("nothing calls the Stop hook in {name}");
                let install = self.host.install.replace("PLUGIN", chart.id);
                let help = format!("to use it there, in a clone of the repository: {install}");
                others.found.push(Diagnosis::ok("host", text).and(help));
            }
            return;
        };
        others.call = true;
        let version = program
            .and_then(|program| binary::version_of(program).ok())
            .and_then(|text| Version::find(&text));
        let numbered =
            version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}"));
        let since = Version::find(self.host.since);
        let untrusted = callers.iter().find(|caller| !self.trusts(&caller.key));
        others.found.push(match (since, untrusted) {
            (Some(since), _) if version.is_some_and(|version| version < since) => {
                let text = format!("{numbered} runs no hooks of plugins");
                Diagnosis::problem("host", text, format!("update it: {since} or later does"))
            }
            (_, Some(caller)) => {
                let text = format!(
                    "{numbered} doesn't trust {} yet, so it doesn't run it",
                    caller.text
                );
                let help = format!("start `{}` once, and trust the hooks", self.host.id);
                Diagnosis::problem("host", text, help)
            }
            _ => Diagnosis::ok("host", format!("{numbered} runs {}", caller.text)),
        });
        if let Some(second) = callers.get(1) {
            let text = format!(
                "{name} runs {} too, so there are two at each stop",
                second.text
            );
            others
                .found
                .push(Diagnosis::warning("host", text, "remove one of the two"));
        }
    }

    /// Returns the plugin, if it is installed and not disabled.
    fn plugin(&self, choice: &Choice<'_>) -> Option<Caller> {
        let Choice::Embedded(chart) = choice else {
            return None;
        };
        let is_ours = |key: &str| key.split('@').next() == Some(chart.id);
        let is_on = |value: &Json| {
            *value != Json::Bool(false) && value.get("enabled") != Some(&Json::Bool(false))
        };
        let key = match self.host.plugins.split_once('#') {
            Some((file, table)) => {
                let json = parsed(&self.folder.join(file))?;
                let plugins = json.pointer(table)?.as_object()?.iter();
                let mut ours = plugins.filter(|(key, value)| is_ours(key) && is_on(value));
                ours.next()?.0.clone()
            }
            None => {
                let path = self.host.plugins.replace("PLUGIN", chart.id);
                let name = Path::new(&path)
                    .file_name()?
                    .to_str()
                    .filter(|name| is_ours(name))?;
                self.folder.join(&path).is_dir().then(|| name.to_owned())?
            }
        };
        Some(Caller {
            text: format!("the Stop hook of the plugin {key}"),
            key,
        })
    }

    /// Returns the settings files that call the Stop hook.
    fn hooks(&self, choice: &Choice<'_>) -> Vec<Caller> {
        let mut files: IndexSet<PathBuf> = IndexSet::new();
        for path in self.host.hooks {
            let of_user = match Path::new(path).strip_prefix(self.host.folder) {
                Ok(rest) => self.folder.join(rest),
                Err(_) => self.home.join(path),
            };
            for path in self.dirs.iter().map(|dir| dir.join(path)).chain([of_user]) {
                match fs::read_dir(&path) {
                    Ok(entries) => files.extend(entries.flatten().map(|entry| entry.path())),
                    Err(_) => _ = files.insert(path),
                }
            }
        }
        let call =
            |file: &PathBuf| parsed(file).is_some_and(|json| has_call(&json["hooks"], choice));
        let callers = files.into_iter().filter(call).map(|file| Caller {
            text: format!("the Stop hook in {}", shown(&file)),
            key: file.display().to_string(),
        });
        callers.collect()
    }

    /// Returns whether the host runs the Stop hook of this plugin or file without asking first.
    fn trusts(&self, key: &str) -> bool {
        let Some((file, table)) = self.host.trusted.split_once('#') else {
            return true;
        };
        let json = parsed(&self.folder.join(file)).unwrap_or_default();
        let hooks = json.pointer(table).and_then(Json::as_object);
        hooks.into_iter().flatten().any(|(hook, state)| {
            let is_same = hook
                .strip_prefix(key)
                .is_some_and(|rest| rest.starts_with(':'));
            is_same && hook.contains(":stop:") && state.get("trusted_hash").is_some()
        })
    }
}

/// Returns whether a string below is a shell line that calls the Stop hook.
fn has_call(json: &Json, choice: &Choice<'_>) -> bool {
    match json {
        Json::String(line) => calls(line, choice),
        Json::Array(items) => items.iter().any(|item| has_call(item, choice)),
        Json::Object(fields) => fields.values().any(|field| has_call(field, choice)),
        _ => false,
    }
}

/// Returns what a file in TOML or JSON says. A file that cannot be read says nothing: its host reports that.
fn parsed(path: &Path) -> Option<Json> {
    let text = String::from_utf8(read(path).ok()?).ok()?;
    match path.extension()?.to_str()? {
        "toml" => toml::from_str(&text).ok(),
        _ => serde_json::from_str(&text).ok(),
    }
}
