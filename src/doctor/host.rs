//! Checks the settings of the host that taskie is made for: hooks, plugins and blocked stops.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value as Json;

use super::diagnosis::{Diagnosis, Level, shown};
use super::settings::{File, Hook, HostSettings, is_of};
use crate::chart::Chart;
use crate::chart::choice::Choice;
use crate::engine::context::{Context, initial};
use crate::host::events::{EVENTS, PROMPT, REVIEWER, STOP};
use crate::host::hosts::{BLOCKS, Host, RESERVE};
use crate::page::counted;
use crate::project::find;

/// How many seconds the plugin's hook asks for. (Below 1000: one host takes more for milliseconds.)
const PLUGIN_HOOK: u64 = 900;

impl HostSettings {
    /// Returns the files that cannot be read.
    pub(super) fn unreadable(&self) -> Vec<Diagnosis> {
        let files = self.unreadable.iter();
        files
            .map(|(path, why)| {
                Diagnosis::warning(
                    "settings",
                    format!("{} cannot be read: {why}", shown(path)),
                    format!("fix it: taskie cannot read it, and {} may ignore it", self.host.name),
                )
            })
            .collect()
    }

    /// Checks whether hooks run at all.
    pub(super) fn hooks_on(&self) -> Vec<Diagnosis> {
        let Host { off, only, .. } = self.host;
        let is_true = |file: &File, key: &str| file.json.get(key) == Some(&Json::Bool(true));
        let mut found = Vec::new();
        for file in &self.files {
            let path = shown(&file.path);
            if is_true(file, off) {
                let text = format!("{path} turns all hooks off, so nothing is reviewed");
                let help = format!("remove \"{off}\" from it");
                found.push(Diagnosis::problem("hooks", text, help));
            }
            if file.json.pointer(&format!("/env/{REVIEWER}")).is_some() {
                let text = format!("{path} sets {REVIEWER}, so every hook does nothing");
                let help = format!("remove \"{REVIEWER}\" from its \"env\"");
                found.push(Diagnosis::problem("hooks", text, help));
            }
            if file.is_managed && is_true(file, only) {
                let text = format!("{path} allows only its own hooks, so nothing is reviewed");
                let help = "ask the administrator of this machine";
                found.push(Diagnosis::problem("hooks", text, help));
            }
        }
        if found.is_empty() {
            let text = match self.unreadable.is_empty() {
                true => "no settings file turns hooks off",
                false => "no settings file that can be read turns hooks off",
            };
            found.push(Diagnosis::ok("hooks", text));
        }
        found
    }

    /// Checks whether something calls the Stop hook, and does so only once: the chart's plugin, or a settings file. Nothing
    /// has to if another host calls it. `of_sessions` is the setting that has each session's change reviewed, if it is on.
    pub(super) fn hook(
        &self,
        choice: &Choice<'_>,
        chart: &Chart,
        other_calls: bool,
        longest: Option<u64>,
        of_sessions: Option<&str>,
    ) -> Vec<Diagnosis> {
        let hooks = self.hooks(choice, STOP);
        let embedded = match choice {
            // Where a chart shares the settings of another one, that one's plugin calls both.
            Choice::Embedded(embedded) => Some(embedded.of_settings().id),
            Choice::File(_) => None,
        };
        let plugin = embedded.and_then(|id| self.plugin(id));
        let is_on = |plugin: &Diagnosis| plugin.level != Level::Problem;
        let is_on = plugin.as_ref().is_some_and(is_on);
        let mut found: Vec<Diagnosis> = plugin.into_iter().collect();
        match (is_on, hooks.as_slice()) {
            (true, []) => {
                let longest = longest.filter(|longest| *longest > PLUGIN_HOOK - RESERVE);
                found.extend(longest.map(|longest| {
                    let text = format!(
                        "the plugin's hook has {PLUGIN_HOOK} seconds, but a review may take {longest}, so the agent has to run it"
                    );
                    let most = PLUGIN_HOOK - RESERVE;
                    let help = format!("set the time limit of reviews to {most} or less");
                    Diagnosis::warning("plugin", text, help)
                }));
            }
            (true, [hook, ..]) => {
                let path = shown(&hook.file.path);
                let text = format!("{path} calls the Stop hook too, so it runs twice at each stop");
                let help = "remove the hook from that file: the plugin already calls it";
                found.push(Diagnosis::warning("plugin", text, help));
            }
            (false, []) if found.is_empty() && !other_calls => {
                found.push(self.nobody(embedded));
            }
            (false, []) => {}
            (false, hooks) => {
                // The user has chosen to use only the hook.
                found.clear();
                let text = format!("{} calls the Stop hook", shown(&hooks[0].file.path));
                found.push(Diagnosis::ok("plugin", text));
                if let Some(id) = embedded.filter(|_| chart.on.contains_key("next")) {
                    let text =
                        format!("the plugin is not used, so its commands (`/{id}:…`) don't exist");
                    let program = chart.program();
                    let help = format!(
                        "where a message names one, ask the agent to run `{program} next` and to do what it says"
                    );
                    found.push(Diagnosis::ok("plugin", text).and(help));
                }
                if let Some(hook) = hooks.get(1) {
                    let path = shown(&hook.file.path);
                    let text = format!("{path} calls it too, so it may run twice at each stop");
                    found.push(Diagnosis::warning("plugin", text, "keep one of the two"));
                }
                found.extend(hooks.iter().filter_map(|hook| mistimed(hook, longest)));
                found.extend(of_sessions.and_then(|setting| self.unprompted(choice, setting)));
                found.extend(self.unheard(choice, chart));
            }
        }
        found
    }

    /// Checks that the prompts of a session are heard: a change of its own begins with one.
    fn unprompted(&self, choice: &Choice<'_>, setting: &str) -> Option<Diagnosis> {
        let (name, event) = EVENTS.iter().find(|(_, event)| *event == PROMPT)?;
        let text = format!(
            "`{setting}` is on, but no settings file calls the hook for prompts, so no change of a session is reviewed"
        );
        let help = format!("add `taskie hook {name}` to the hooks of {event}");
        let is_heard = !self.hooks(choice, name).is_empty();
        (!is_heard).then(|| Diagnosis::problem("plugin", text, help))
    }

    /// Names the events for which the chart has rules, and that no settings file calls. The author of a chart wants them; a
    /// user of a built-in chart may want only its Stop hook.
    fn unheard(&self, choice: &Choice<'_>, chart: &Chart) -> Option<Diagnosis> {
        let events = EVENTS.iter().filter(|(_, event)| chart.on.contains_key(*event));
        let unheard = events.filter(|(name, _)| self.hooks(choice, name).is_empty());
        let unheard: Vec<&(&str, &str)> = unheard.collect();
        let (name, event) = unheard.first()?;
        let events: Vec<&str> = unheard.iter().map(|(_, event)| *event).collect();
        let events = events.join(", ");
        let text = format!("no settings file calls the rules that the chart has for {events}");
        let program = chart.program();
        let help = format!("add `{program} hook {name}` to the hooks of {event}");
        Some(match choice {
            Choice::Embedded(_) => Diagnosis::ok("plugin", text).and(help),
            Choice::File(_) => Diagnosis::warning("plugin", text, help),
        })
    }

    /// Checks the plugin of the chart `id`: a problem if it is not on, and nothing if there is none.
    fn plugin(&self, id: &str) -> Option<Diagnosis> {
        let off = |text: String, help: String| Some(Diagnosis::problem("plugin", text, help));
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
            let Some(copies) = self.plugins.get(*key).filter(|list| items(list).count() > 0) else {
                let text = format!(
                    "the plugin {key} is enabled in {}, but not installed",
                    shown(&file.path)
                );
                return off(text, format!("`{host} plugin install {key}`"));
            };
            // Each project may have its own copy, and the project may be gone.
            let path = |copy: &'_ Json| Some(PathBuf::from(copy.get("installPath")?.as_str()?));
            let is_there = |copy: &Json| path(copy).is_none_or(|path| path.is_dir());
            let gone = match items(copies).any(is_there) {
                true => None,
                false => items(copies).find_map(path),
            };
            if let Some(gone) = gone {
                let text = format!("the plugin {key} is enabled, but {} is missing", shown(&gone));
                return off(
                    text,
                    format!("`{host} plugin uninstall {key}`, then `{host} plugin install {key}`"),
                );
            }
            let own = env!("CARGO_PKG_VERSION");
            return Some(match versions(copies).find(|version| *version != own) {
                Some(version) => Diagnosis::warning(
                    "plugin",
                    format!("the plugin {key} is version {version}, this program is {own}"),
                    format!(
                        "bring both to the same version: `{host} plugin update {key}`, or install the program again"
                    ),
                ),
                None => {
                    let (_, market) = key.split_once('@').unwrap_or((key, ""));
                    let update = format!(
                        "`{host} plugin marketplace update {market}`, then `{host} plugin update {key}`"
                    );
                    Diagnosis::ok("plugin", format!("the plugin {key} is enabled")).and(update)
                }
            });
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

    /// Reports that nothing calls the Stop hook.
    fn nobody(&self, embedded: Option<&str>) -> Diagnosis {
        let host = self.host;
        let (text, help) = match embedded {
            Some(id) => (
                format!(
                    "nothing calls the Stop hook: the plugin {id} is not installed, and no settings file has the hook"
                ),
                format!("in a clone of the repository: {}", host.install.replace("PLUGIN", id)),
            ),
            None => (
                "no settings file calls the Stop hook for this chart".to_owned(),
                format!(
                    "add `{} --chart PATH hook stop` to the Stop hooks of {}/settings.json",
                    env!("CARGO_PKG_NAME"),
                    host.folder
                ),
            ),
        };
        Diagnosis::problem("plugin", text, help)
    }

    /// Checks whether a session may run the commands of a loop without asking. Whoever wants to be asked sets no rule, but one
    /// rule without the others interrupts the loop all the same.
    pub(super) fn rules(&self, chart: &Chart) -> Option<Diagnosis> {
        if chart.scope.is_per_session() {
            return None;
        }
        let permissions = || {
            let files = self.files.iter();
            files.filter_map(|file| file.json.get("permissions"))
        };
        let mut modes = permissions().filter_map(|table| table.get("defaultMode")?.as_str());
        let allowed = permissions().filter_map(|table| table.get("allow")?.as_array());
        let allowed: Vec<&str> = allowed.flatten().filter_map(Json::as_str).collect();
        let mode = modes.next_back();
        let program = chart.program();
        let own = ["enter", "next", "findings"].map(|name| format!("{program} {name}"));
        let git = ["git add", "git commit"].map(str::to_owned);
        // Rules, and what each of them is for. A turn that begins with a command of a plugin may use its skills anyway.
        let commands = own.into_iter().chain(git);
        let commands = commands.map(|line| (format!("Bash({line}:*)"), format!("`{line}`")));
        let folder = find::folder(&chart.scope);
        let edits = format!("{}/**", folder.display());
        let plugin = chart.plugin();
        let others = [
            (format!("Skill({plugin}:*)"), format!("the skills of {plugin}")),
            // With `/`, it is below the folder of the settings, whatever directory the session starts in.
            (format!("Edit(/{edits})"), format!("edits of {edits}")),
        ];
        let needed = commands.chain(others);
        let (allowed, missing): (Vec<_>, Vec<_>) = needed.partition(|(needed, _)| {
            let edits_freely = mode == Some("acceptEdits") && needed.starts_with("Edit(");
            edits_freely || allowed.iter().any(|rule| covers(rule, needed))
        });
        let rules = missing.iter().map(|(rule, _)| format!("\"{rule}\""));
        let help = format!(
            "to prevent these questions, add {} to \"permissions\", \"allow\" in {}/settings.json",
            rules.collect::<Vec<_>>().join(", "),
            self.host.folder
        );
        let missing: Vec<String> = missing.into_iter().map(|(_, name)| name).collect();
        let missing = missing.join(", ");
        Some(match (missing.is_empty(), allowed.is_empty()) {
            (true, _) => Diagnosis::ok("permissions", "the settings allow what a loop needs"),
            _ if mode == Some("bypassPermissions") => {
                Diagnosis::ok("permissions", "sessions ask for no permission")
            }
            (false, true) => {
                let text = format!("a session may ask before it uses {missing}");
                Diagnosis::ok("permissions", text).and(help)
            }
            (false, false) => {
                let text = format!("a part of what a loop needs is allowed, but not {missing}");
                Diagnosis::warning("permissions", text, help)
            }
        })
    }

    /// Checks whether the host allows the blocks in a row that a cycle may need.
    pub(super) fn blocks(&self, chart: &Chart, context: Option<&Context>) -> Vec<Diagnosis> {
        let variable = self.host.block_cap;
        let initial = initial(chart);
        let context = context.unwrap_or(&initial);
        let limits = chart.cycles.values().filter_map(|cycle| {
            let limit = context.get(&cycle.limit)?.as_i64()?;
            Some((limit, cycle.limit.as_str()))
        });
        let Some((limit, field)) = limits.max() else {
            return Vec::new();
        };
        let of_files = self.files.iter().rev().find_map(|file| {
            let value = file.json.get("env")?.get(variable)?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        });
        let given = of_files.or_else(|| std::env::var(variable).ok());
        let given = given.unwrap_or_else(|| BLOCKS.to_string());
        let Ok(cap) = given.trim().parse::<i64>() else {
            let text = format!("{variable} is {given:?}, which is not a number");
            let help = "set it to a number; 0: no limit";
            return vec![Diagnosis::warning("blocks", text, help)];
        };
        if cap == 0 || cap >= limit {
            let cap = match cap {
                0 => "any number of".to_owned(),
                cap => cap.to_string(),
            };
            let text = format!(
                "{cap} blocked stops in a row are allowed, and a cycle has at most {} ({field})",
                counted(limit, "review")
            );
            return vec![Diagnosis::ok("blocks", text)];
        }
        let text = format!(
            "a cycle may have {limit} reviews ({field}), but an agent that uses no tool in between may stop after {cap} blocks"
        );
        let help = format!("set {variable} to {limit} under \"env\" in settings.json");
        vec![Diagnosis::warning("blocks", text, help)]
    }
}

/// Returns whether a permission rule allows a command with any arguments: `Bash`, `Bash(*)`, `Bash(git:*)`, `Bash(git add *)`.
fn allows(rule: &str, command: &str) -> bool {
    let Some(rest) = rule.strip_prefix("Bash") else {
        return false;
    };
    let words = match rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        None => return rest.is_empty(),
        Some("*") => return true,
        Some(words) => words.strip_suffix(":*").or_else(|| words.strip_suffix(" *")),
    };
    let rest = words.and_then(|words| command.strip_prefix(words));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Returns whether a rule allows what another one does: the same, or all that the tool does.
fn covers(rule: &str, needed: &str) -> bool {
    let command = needed.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(":*)"));
    match command {
        Some(command) => allows(rule, command),
        None => rule == needed || needed.split('(').next() == Some(rule),
    }
}

/// Returns the installed copies of a plugin.
fn items(copies: &Json) -> impl Iterator<Item = &Json> {
    copies.as_array().into_iter().flatten()
}

/// Returns the versions of the installed copies of a plugin.
fn versions(copies: &Json) -> impl Iterator<Item = &str> {
    items(copies).filter_map(|copy| copy.get("version")?.as_str())
}

/// Reports what is wrong with the time of a hook: what its command says, what its entry says, and how long the `longest` review
/// may take.
fn mistimed(hook: &Hook<'_>, longest: Option<u64>) -> Option<Diagnosis> {
    let path = shown(&hook.file.path);
    let problem = |text: String, help: String| Some(Diagnosis::problem("plugin", text, help));
    let lasts = hook.lasts();
    let says = match hook.says() {
        Ok(says) => says,
        Err(said) => {
            let text = format!(
                "the hook in {path} fails at each stop: `--timeout {said}` is not a number of seconds"
            );
            return problem(text, format!("write `--timeout {lasts}`"));
        }
    };
    if let Some(longest) = longest {
        let enough = longest + 30;
        if let Some(timeout) = hook.timeout.filter(|timeout| *timeout <= longest) {
            let text = format!(
                "the hook in {path} times out after {timeout} seconds, but a review may take {longest}"
            );
            return problem(text, format!("set its \"timeout\" to {enough} or more"));
        }
        if says < longest + RESERVE {
            let text = format!(
                "the hook in {path} counts on {says} seconds, but a review may take {longest}, so the agent has to run it"
            );
            let help =
                format!("add `--timeout {enough}` to its command, and set its \"timeout\" to that");
            return Some(Diagnosis::warning("plugin", text, help));
        }
    }
    if says <= lasts {
        return None;
    }
    let text = format!("the hook in {path} counts on {says} seconds, but times out after {lasts}");
    problem(text, format!("set its \"timeout\" to {says}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::host::hosts::DEFAULT;

    #[test]
    fn the_plugin_asks_for_its_time() {
        let hooks = include_str!("../../plugin/taskie/hooks/hooks.json");
        let said = format!(
            "hook stop --timeout {PLUGIN_HOOK}\",\n            \"timeout\": {PLUGIN_HOOK},"
        );
        assert!(hooks.contains(&said), "{hooks}");
    }

    #[test]
    fn rules_that_allow_a_command() {
        for rule in ["Bash", "Bash(*)", "Bash(git:*)", "Bash(git commit:*)", "Bash(git *)"] {
            assert!(allows(rule, "git commit"), "{rule}");
        }
        for rule in
            ["Bash(git com:*)", "Bash(git commit)", "Bash(git add:*)", "Read", "Bashful", ""]
        {
            assert!(!allows(rule, "git commit"), "{rule}");
        }
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
        assert_eq!(levels(read().hooks_on()), [Level::Ok]);
        fs::write(
            user.join("settings.json"),
            r#"{"allowManagedHooksOnly": true, "enabledPlugins": {"x@m": true}}"#,
        )
        .unwrap();
        assert_eq!(levels(read().hooks_on()), [Level::Ok], "that is not the user's to say");
        fs::write(managed.join("managed-settings.json"), r#"{"allowManagedHooksOnly": true}"#)
            .unwrap();
        fs::write(
            managed.join("managed-settings.d/10-off.json"),
            r#"{"disableAllHooks": true, "enabledPlugins": {"x@m": false}}"#,
        )
        .unwrap();
        assert_eq!(levels(read().hooks_on()), [Level::Problem, Level::Problem]);
        assert!(read().plugin("x").unwrap().text.contains("disabled in"));
    }
}
