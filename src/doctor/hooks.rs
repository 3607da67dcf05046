//! Checks that a host calls the hooks, only once, and long enough. Claude Code, for which taskie is made, is checked in detail.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::diagnosis::{Diagnosis, Level, shown};
use super::settings::{File, Hook, HostSettings, is_of};
use super::subject::Subject;
use crate::chart::choice::Choice;
use crate::chart::known::{DEFAULT_TIMEOUT, REVIEW_TIMEOUT};
use crate::host::events::{EVENTS, PROMPT, REVIEWER, STOP};
use crate::host::hosts::{DEFAULT, HOSTS, Host, RESERVE};
use crate::project::trust::{self, OwnChart};

/// How many seconds the plugin's hook asks for. (Below 1000: one host takes more for milliseconds.)
const PLUGIN_HOOK: u64 = 900;

/// Checks the hooks.
pub(super) fn check(subject: &Subject<'_>) -> (String, Vec<Diagnosis>) {
    let settings = HostSettings::read(DEFAULT, &subject.dirs);
    let choice = &caller(subject);
    let mut found = settings.in_the_way();
    let hooks = settings.hooks(choice, STOP);
    let embedded = match choice {
        // Where a chart shares the settings of another one, that one's plugin calls both.
        Choice::Embedded(embedded) => Some(embedded.of_settings().id),
        Choice::File(_) => None,
    };
    let plugin = embedded.and_then(|id| settings.plugin(id));
    let called = match (plugin, hooks.as_slice()) {
        (Some(Ok((key, flaw))), hooks) => {
            found.extend(flaw);
            found.extend(hooks.first().map(|hook| {
                let text = format!(
                    "{} calls the Stop hook too, so it runs twice at each stop",
                    shown(&hook.file.path)
                );
                let help = "remove the hook from that file: the plugin already calls it";
                Diagnosis::warning(text, help)
            }));
            found.extend(too_short("the plugin's hook", PLUGIN_HOOK, subject));
            format!("{} calls the hooks of the plugin {key}", DEFAULT.name)
        }
        (_, [hook, more @ ..]) => {
            // The user has chosen to use only the hook.
            let path = shown(&hook.file.path);
            found.extend(more.first().map(|hook| {
                let text = format!(
                    "{path} and {} call the Stop hook, so it may run twice at each stop",
                    shown(&hook.file.path)
                );
                Diagnosis::warning(text, "keep one of the two")
            }));
            found.extend(hooks.iter().filter_map(|hook| mistimed(hook, subject)));
            found.extend(settings.uncalled(choice, subject));
            format!("{path} calls the Stop hook")
        }
        (Some(Err(off)), []) => {
            found.push(off);
            String::new()
        }
        (None, []) => {
            let others = HOSTS.iter().filter(|host| host.id != DEFAULT.id);
            let mut others = others.map(|host| HostSettings::read(host, &subject.dirs));
            let other = others.find_map(|other| other.caller(choice));
            if other.is_none() {
                let mut nobody = nobody(embedded);
                if subject.root.is_none() {
                    nobody.level = Level::Warning;
                    nobody.text += "; only reviews at every stop and plans need it";
                }
                found.push(nobody);
            }
            other.unwrap_or_default()
        }
    };
    (called, found)
}

/// Returns the chart for which the hooks are called: those that name no chart also serve the project's own one.
fn caller<'c>(subject: &Subject<'c>) -> Choice<'c> {
    match (subject.choice, subject.root.as_deref().map(trust::own_chart)) {
        (Choice::File(path), Some(OwnChart::Trusted(own))) if **path == own => Choice::of(None),
        _ => *subject.choice,
    }
}

/// Reports that a hook has less time than a review may take.
fn too_short(hook: &str, seconds: u64, subject: &Subject<'_>) -> Option<Diagnosis> {
    subject.chart.reviewers.first()?;
    let setting = subject.config.as_ref().ok()?.get(REVIEW_TIMEOUT);
    let longest = setting.map_or(Some(DEFAULT_TIMEOUT), Json::as_u64)?;
    let most = seconds.saturating_sub(RESERVE);
    (longest > most).then(|| {
        let text = format!(
            "{hook} has {seconds} seconds, but a review may take {longest}, so the agent has to run it"
        );
        Diagnosis::warning(text, format!("set the time limit of reviews to {most} or less"))
    })
}

/// Reports that nothing calls the Stop hook.
fn nobody(embedded: Option<&str>) -> Diagnosis {
    let Host { install, folder, .. } = DEFAULT;
    match embedded {
        Some(id) => Diagnosis::problem(
            format!(
                "nothing calls the Stop hook: the plugin {id} is not installed, and no settings file has the hook"
            ),
            format!("in a clone of the repository: {}", install.replace("PLUGIN", id)),
        ),
        None => Diagnosis::problem(
            "no settings file calls the Stop hook for this chart",
            format!(
                "add `{} --chart PATH hook stop` to the Stop hooks of {folder}/settings.json",
                env!("CARGO_PKG_NAME")
            ),
        ),
    }
}

impl HostSettings {
    /// Returns what keeps hooks from running, and the files that cannot be read.
    fn in_the_way(&self) -> Vec<Diagnosis> {
        let Host { off, only, name, .. } = self.host;
        let unreadable = self.unreadable.iter().map(|(path, why)| {
            Diagnosis::warning(
                format!("{} cannot be read: {why}", shown(path)),
                format!("fix it: taskie cannot read it, and {name} may ignore it"),
            )
        });
        let mut found: Vec<Diagnosis> = unreadable.collect();
        if std::env::var_os(REVIEWER).is_some() {
            let text = format!("{REVIEWER} is set, so every hook and command here does nothing");
            found.push(Diagnosis::problem(text, format!("unset {REVIEWER}")));
        }
        for file in &self.files {
            let path = shown(&file.path);
            let is_true = |key: &str| file.json.get(key) == Some(&Json::Bool(true));
            if is_true(off) {
                found.push(Diagnosis::problem(
                    format!("{path} turns all hooks off, so nothing is reviewed"),
                    format!("remove \"{off}\" from it"),
                ));
            }
            if file.json.pointer(&format!("/env/{REVIEWER}")).is_some() {
                found.push(Diagnosis::problem(
                    format!("{path} sets {REVIEWER}, so every hook does nothing"),
                    format!("remove \"{REVIEWER}\" from its \"env\""),
                ));
            }
            if file.is_managed && is_true(only) {
                found.push(Diagnosis::problem(
                    format!("{path} allows only its own hooks, so nothing is reviewed"),
                    "ask the administrator of this machine",
                ));
            }
        }
        found
    }

    /// Returns what calls the Stop hook in this host: the plugin, or a settings file.
    fn caller(&self, choice: &Choice<'_>) -> Option<String> {
        let is_on = |value: &Json| {
            *value != Json::Bool(false) && value.get("enabled") != Some(&Json::Bool(false))
        };
        let mut plugins = self.plugins.iter();
        let plugin = plugins.find(|(key, value)| {
            matches!(choice, Choice::Embedded(chart) if is_of(key, chart.id)) && is_on(value)
        });
        let name = self.host.name;
        let plugin = plugin.map(|(key, _)| format!("{name} calls the hooks of the plugin {key}"));
        plugin.or_else(|| {
            let hooks = self.hooks(choice, STOP);
            let file = shown(&hooks.first()?.file.path);
            Some(format!("{name} calls the Stop hook in {file}"))
        })
    }

    /// Returns what is missing if prompts begin the change of each session, and no settings file calls the hook for them.
    fn uncalled(&self, choice: &Choice<'_>, subject: &Subject<'_>) -> Option<Diagnosis> {
        let (name, event) = EVENTS.iter().find(|(_, event)| *event == PROMPT)?;
        let setting = subject.of_sessions()?;
        self.hooks(choice, name).is_empty().then(|| {
            let text = format!(
                "`{setting}` is on, but no settings file calls the hook for prompts, so no change of a session is reviewed"
            );
            let program = subject.chart.program();
            Diagnosis::problem(text, format!("add `{program} hook {name}` to the hooks of {event}"))
        })
    }

    /// Returns the plugin of the chart `id`, with what is wrong with its version. The error says why it is not on.
    fn plugin(&self, id: &str) -> Option<Result<(&str, Option<Diagnosis>), Diagnosis>> {
        let off = |text: String, help: String| Some(Err(Diagnosis::problem(text, help)));
        let host = self.host.id;
        let mut switches: BTreeMap<&str, (bool, &File)> = BTreeMap::new();
        for file in &self.files {
            let keys = file.json.get(self.host.enabled).and_then(Json::as_object);
            for (key, value) in keys.into_iter().flatten().filter(|(key, _)| is_of(key, id)) {
                // A list of versions enables it as well.
                let is_on = !matches!(value, Json::Bool(false) | Json::Null);
                switches.insert(key, (is_on, file));
            }
        }
        let on = switches.iter().find(|(_, (is_on, _))| *is_on);
        if let Some((key, (_, file))) = on {
            let copies = self.plugins.get(*key).and_then(Json::as_array);
            let Some(copies) = copies.filter(|copies| !copies.is_empty()) else {
                let text = format!(
                    "the plugin {key} is enabled in {}, but not installed",
                    shown(&file.path)
                );
                return off(text, format!("`{host} plugin install {key}`"));
            };
            let own = env!("CARGO_PKG_VERSION");
            let mut versions = copies.iter().filter_map(|copy| copy.get("version")?.as_str());
            let other = versions.find(|version| *version != own);
            let flaw = other.map(|version| Diagnosis::warning(
                format!("the plugin {key} is version {version}, this program is {own}"),
                format!(
                    "bring both to the same version: `{host} plugin update {key}`, or install the program again"
                ),
            ));
            return Some(Ok((*key, flaw)));
        }
        let disabled = switches.first_key_value().map(|(key, (_, file))| {
            let text = format!("the plugin {key} is disabled in {}", shown(&file.path));
            (*key, text)
        });
        let installed = || {
            let key = self.plugins.keys().find(|key| is_of(key, id))?;
            let text = format!("the plugin {key} is installed, but not enabled");
            Some((key.as_str(), text))
        };
        let (key, text) = disabled.or_else(installed)?;
        off(text, format!("`{host} plugin enable {key}`"))
    }
}

/// Reports what is wrong with the time that the command of a hook counts on.
fn mistimed(hook: &Hook<'_>, subject: &Subject<'_>) -> Option<Diagnosis> {
    let name = format!("the hook in {}", shown(&hook.file.path));
    let lasts = hook.lasts();
    let said = match hook.says() {
        Ok(says) if says <= lasts => return too_short(&name, says, subject),
        Ok(says) => says.to_string(),
        Err(said) => said.to_owned(),
    };
    let text = format!("{name} has `--timeout {said}`, but is ended after {lasts} seconds");
    let help = format!("write `--timeout {lasts}` in its command, or raise its \"timeout\"");
    Some(Diagnosis::problem(text, help))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::doctor::Level;

    #[test]
    fn the_plugin_asks_for_its_time() {
        let hooks = include_str!("../../plugin/taskie/hooks/hooks.json");
        let said = format!(
            "hook stop --timeout {PLUGIN_HOOK}\",\n            \"timeout\": {PLUGIN_HOOK},"
        );
        assert!(hooks.contains(&said), "{hooks}");
    }

    #[test]
    fn the_managed_settings_win() {
        let dir = tempfile::tempdir().unwrap();
        let (user, managed) = (dir.path().join("user"), dir.path().join("managed"));
        fs::create_dir_all(managed.join("managed-settings.d")).unwrap();
        fs::create_dir_all(&user).unwrap();
        let files = ["managed-settings.json", "managed-settings.d"].map(|name| managed.join(name));
        let dirs = [dir.path().to_owned()];
        let read = || HostSettings::read_in(DEFAULT, Some(user.clone()), &dirs, &files);
        let levels =
            |found: Vec<Diagnosis>| found.iter().map(|found| found.level).collect::<Vec<_>>();
        assert_eq!(levels(read().in_the_way()), []);
        fs::write(
            user.join("settings.json"),
            r#"{"allowManagedHooksOnly": true, "enabledPlugins": {"x@m": true}}"#,
        )
        .unwrap();
        assert_eq!(levels(read().in_the_way()), [], "that is not the user's to say");
        fs::write(managed.join("managed-settings.json"), r#"{"allowManagedHooksOnly": true}"#)
            .unwrap();
        fs::write(
            managed.join("managed-settings.d/10-off.json"),
            r#"{"disableAllHooks": true, "enabledPlugins": {"x@m": false}}"#,
        )
        .unwrap();
        assert_eq!(levels(read().in_the_way()), [Level::Problem, Level::Problem]);
        let why = read().plugin("x").unwrap().unwrap_err().text;
        assert!(why.contains("disabled in"), "{why}");
    }
}
