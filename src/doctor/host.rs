//! Checks the settings of Claude Code about hooks, plugins and blocked stops.
//!
//! Settings are merged key by key: the user's, the project's, the project's local ones, the administrator's. Each one
//! overrides the previous ones.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::diagnosis::{Diagnosis, shown};
use crate::chart::Chart;
use crate::chart::embedded::{CHARTS, Choice};
use crate::engine::context::{Context, initial};
use crate::host::hosts::BLOCKS;

/// Where the settings are that the user cannot change.
#[cfg(target_os = "macos")]
const MANAGED: &str = "/Library/Application Support/ClaudeCode";
#[cfg(not(target_os = "macos"))]
const MANAGED: &str = "/etc/claude-code";

/// The variable that limits how many stops in a row may be blocked; 0: no limit.
const BLOCK_CAP: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";

/// All settings, and the installed plugins.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// The files in order of precedence; the last one wins.
    files: Vec<File>,
    /// Plugin and marketplace (`a@b`) → its installed copies.
    installed: BTreeMap<String, Vec<Copy>>,
    /// Files that could not be read, and why.
    unreadable: Vec<(PathBuf, String)>,
}

/// An installed copy of a plugin, as the client's file describes it.
#[derive(Debug)]
struct Copy {
    version: Option<String>,
    path: Option<PathBuf>,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    is_managed: bool,
    json: Json,
}

/// A Stop hook in a settings file that calls this program.
#[derive(Debug)]
struct Hook<'s> {
    file: &'s File,
    timeout: Option<u64>,
}

impl Settings {
    /// Reads the settings of the user, of `dirs`, and of the machine.
    pub(super) fn read(dirs: &[PathBuf]) -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let user = set("CLAUDE_CONFIG_DIR")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(set("HOME")?).join(".claude")));
        Self::read_in(user.as_deref(), dirs, Path::new(MANAGED))
    }

    fn read_in(user: Option<&Path>, dirs: &[PathBuf], managed: &Path) -> Self {
        let mut settings = Self::default();
        let of_dirs = |name| dirs.iter().map(move |dir| dir.join(".claude").join(name));
        let paths = user.map(|user| user.join("settings.json")).into_iter();
        let paths = paths
            .chain(of_dirs("settings.json"))
            .chain(of_dirs("settings.local.json"));
        // The home directory itself may be a project.
        for path in paths.collect::<IndexSet<PathBuf>>() {
            settings.add(&path, false);
        }
        settings.add(&managed.join("managed-settings.json"), true);
        let more = fs::read_dir(managed.join("managed-settings.d"));
        let more = more
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let is_json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
        let mut more: Vec<PathBuf> = more.filter(is_json).collect();
        more.sort();
        for path in &more {
            settings.add(path, true);
        }
        if let Some(user) = user {
            settings.add_installed(&user.join("plugins/installed_plugins.json"));
        }
        settings
    }

    fn add(&mut self, path: &Path, is_managed: bool) {
        if let Some(json) = self.json(path) {
            self.files.push(File {
                path: path.to_owned(),
                is_managed,
                json,
            });
        }
    }

    fn add_installed(&mut self, path: &Path) {
        let json = self.json(path).unwrap_or_default();
        for (name, places) in fields(&json, "plugins") {
            let text = |place: &Json, key: &str| place.get(key)?.as_str().map(str::to_owned);
            let copies = places.as_array().into_iter().flatten().map(|place| Copy {
                version: text(place, "version"),
                path: text(place, "installPath").map(PathBuf::from),
            });
            self.installed.insert(name.clone(), copies.collect());
        }
    }

    fn json(&mut self, path: &Path) -> Option<Json> {
        let why = match read(path) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(json @ Json::Object(_)) => return Some(json),
                Ok(_) => "it is not a JSON object".to_owned(),
                Err(error) => format!("it is not valid JSON: {error}"),
            },
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return None;
            }
            Err(error) => error.to_string(),
        };
        self.unreadable.push((path.to_owned(), why));
        None
    }

    /// Returns the files that cannot be read.
    pub(super) fn unreadable(&self) -> Vec<Diagnosis> {
        let files = self.unreadable.iter();
        files
            .map(|(path, why)| {
                Diagnosis::warning(
                    "settings",
                    format!("{} cannot be read: {why}", shown(path)),
                    "fix it: taskie cannot read it, and Claude Code may ignore it",
                )
            })
            .collect()
    }

    /// Checks whether hooks run at all.
    pub(super) fn hooks_on(&self) -> Vec<Diagnosis> {
        let is_true =
            |file: &File, key: &str| file.json.get(key).and_then(Json::as_bool) == Some(true);
        let mut found = Vec::new();
        for file in &self.files {
            let path = shown(&file.path);
            if is_true(file, "disableAllHooks") {
                let text = format!("{path} turns all hooks off, so nothing is reviewed");
                let help = "remove \"disableAllHooks\" from it";
                found.push(Diagnosis::problem("hooks", text, help));
            }
            if file.is_managed && is_true(file, "allowManagedHooksOnly") {
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
    /// has to if another host calls it.
    pub(super) fn hook(
        &self,
        choice: &Choice<'_>,
        chart: &Chart,
        other_calls: bool,
    ) -> Vec<Diagnosis> {
        let hooks = self.stop_hooks(choice);
        let has_plugin = matches!(choice, Choice::Embedded(_));
        let plugin = match has_plugin {
            true => self.plugin(&chart.id),
            false => Plugin::default(),
        };
        let mut found = plugin.found;
        match (plugin.is_on, hooks.as_slice()) {
            (true, []) => {}
            (true, [hook, ..]) => {
                let path = shown(&hook.file.path);
                let text = format!("{path} calls the Stop hook too, so it runs twice at each stop");
                let help = "remove the hook from that file: the plugin already calls it";
                found.push(Diagnosis::warning("plugin", text, help));
            }
            (false, []) if found.is_empty() && !other_calls => {
                found.push(nobody(has_plugin, &chart.id));
            }
            (false, []) => {}
            (false, hooks) => {
                // The user has chosen to use only the hook.
                found.clear();
                let text = format!("{} calls the Stop hook", shown(&hooks[0].file.path));
                found.push(Diagnosis::ok("plugin", text));
                if let Some(hook) = hooks.get(1) {
                    let path = shown(&hook.file.path);
                    let text = format!("{path} calls it too, so it may run twice at each stop");
                    found.push(Diagnosis::warning("plugin", text, "keep one of the two"));
                }
                found.extend(hooks.iter().filter_map(|hook| too_short(hook, chart)));
            }
        }
        found
    }

    /// Returns the installed plugins of this program, and how to update them.
    pub(super) fn plugins(&self) -> Vec<Diagnosis> {
        let mut found = Vec::new();
        for (key, copies) in &self.installed {
            let (id, market) = key.split_once('@').unwrap_or((key, ""));
            if !CHARTS.iter().any(|chart| chart.id == id) {
                continue;
            }
            let mut versions: Vec<&str> = copies
                .iter()
                .filter_map(|copy| copy.version.as_deref())
                .collect();
            versions.dedup();
            let text = format!("{key} {} in Claude Code", versions.join(", "));
            let update = format!(
                "`claude plugin marketplace update {market}`, then `claude plugin update {key}`"
            );
            found.push(Diagnosis::ok("plugin", text).and(update));
        }
        if found.is_empty() {
            found.push(Diagnosis::ok("plugin", "none is installed in Claude Code"));
        }
        found
    }

    /// Returns the state of the plugin `id`.
    fn plugin(&self, id: &str) -> Plugin {
        let is_ours = |key: &str| key.split('@').next() == Some(id);
        let mut switches: BTreeMap<&str, (bool, &File)> = BTreeMap::new();
        for file in &self.files {
            let keys = fields(&file.json, "enabledPlugins");
            for (key, value) in keys.filter(|(key, _)| is_ours(key)) {
                // A list of versions enables it as well.
                let is_on = !matches!(value, Json::Bool(false) | Json::Null);
                switches.insert(key, (is_on, file));
            }
        }
        let on = switches.iter().find(|(_, (is_on, _))| *is_on);
        if let Some((key, (_, file))) = on {
            let Some(copies) = self.installed.get(*key).filter(|copies| !copies.is_empty()) else {
                let text = format!(
                    "the plugin {key} is enabled in {}, but not installed",
                    shown(&file.path)
                );
                return Plugin::off(text, format!("`claude plugin install {key}`"));
            };
            // Each project may have its own copy, and the project may be gone.
            let is_there = |copy: &Copy| copy.path.as_ref().is_none_or(|path| path.is_dir());
            let gone = match copies.iter().any(is_there) {
                true => None,
                false => copies.iter().find_map(|copy| copy.path.as_ref()),
            };
            if let Some(gone) = gone {
                let text = format!(
                    "the plugin {key} is enabled, but {} is missing",
                    shown(gone)
                );
                return Plugin::off(
                    text,
                    format!("`claude plugin uninstall {key}`, then `claude plugin install {key}`"),
                );
            }
            let own = env!("CARGO_PKG_VERSION");
            let mut versions = copies.iter().filter_map(|copy| copy.version.as_deref());
            let diagnosis = match versions.find(|version| *version != own) {
                Some(version) => Diagnosis::warning(
                    "plugin",
                    format!("the plugin {key} is version {version}, this program is {own}"),
                    format!(
                        "bring both to the same version: `claude plugin update {key}`, or install the program again"
                    ),
                ),
                None => Diagnosis::ok("plugin", format!("the plugin {key} is enabled")),
            };
            return Plugin {
                is_on: true,
                found: vec![diagnosis],
            };
        }
        if let Some((key, (_, file))) = switches.first_key_value() {
            let text = format!("the plugin {key} is disabled in {}", shown(&file.path));
            return Plugin::off(text, format!("`claude plugin enable {key}`"));
        }
        if let Some(key) = self.installed.keys().find(|key| is_ours(key)) {
            let text = format!("the plugin {key} is installed, but not enabled");
            return Plugin::off(text, format!("`claude plugin enable {key}`"));
        }
        Plugin::default()
    }

    /// Returns the Stop hooks that call this program for the chart that was chosen.
    fn stop_hooks(&self, choice: &Choice<'_>) -> Vec<Hook<'_>> {
        let mut found = Vec::new();
        for file in &self.files {
            let groups = items(file.json.pointer("/hooks/Stop"));
            for hook in groups.flat_map(|group| items(group.get("hooks"))) {
                let words = hook
                    .get("command")
                    .into_iter()
                    .chain(items(hook.get("args")));
                let words: Vec<&str> = words.filter_map(Json::as_str).collect();
                let line = words.join(" ");
                if calls(&line, choice) {
                    found.push(Hook {
                        file,
                        timeout: hook.get("timeout").and_then(Json::as_u64),
                    });
                }
            }
        }
        found
    }

    /// Checks whether the host allows as many blocks in a row as a cycle may need.
    pub(super) fn blocks(&self, chart: &Chart, context: Option<&Context>) -> Vec<Diagnosis> {
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
            let value = file.json.get("env")?.get(BLOCK_CAP)?;
            Some(
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned),
            )
        });
        let given = of_files.or_else(|| std::env::var(BLOCK_CAP).ok());
        let given = given.unwrap_or_else(|| BLOCKS.to_string());
        let Ok(cap) = given.trim().parse::<i64>() else {
            let text = format!("{BLOCK_CAP} is {given:?}, which is not a number");
            let help = "set it to a number; 0: no limit";
            return vec![Diagnosis::warning("blocks", text, help)];
        };
        if cap == 0 || cap >= limit {
            let cap = match cap {
                0 => "any number of".to_owned(),
                cap => cap.to_string(),
            };
            let text = format!(
                "{cap} blocked stops in a row are allowed, and a cycle has at most {limit} reviews ({field})"
            );
            return vec![Diagnosis::ok("blocks", text)];
        }
        let text = format!(
            "a cycle may have {limit} reviews ({field}), but an agent that uses no tool in between may stop after {cap} blocks"
        );
        let help = format!("set {BLOCK_CAP} to {limit} under \"env\" in settings.json");
        vec![Diagnosis::warning("blocks", text, help)]
    }
}

fn fields<'j>(json: &'j Json, key: &str) -> impl Iterator<Item = (&'j String, &'j Json)> {
    let fields = json.get(key).and_then(Json::as_object);
    fields.into_iter().flatten()
}

fn items(json: Option<&Json>) -> impl Iterator<Item = &Json> {
    json.and_then(Json::as_array).into_iter().flatten()
}

/// Reads a regular file. (Reading from a pipe might never end.)
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    match fs::metadata(path)?.is_file() {
        true => fs::read(path),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Whether the plugin is installed and enabled, and the problems with it.
#[derive(Debug, Default)]
struct Plugin {
    is_on: bool,
    found: Vec<Diagnosis>,
}

impl Plugin {
    fn off(text: String, help: String) -> Self {
        Self {
            is_on: false,
            found: vec![Diagnosis::problem("plugin", text, help)],
        }
    }
}

/// Returns whether a shell line is `taskie hook stop`, for the chart that was chosen.
pub(super) fn calls(line: &str, choice: &Choice<'_>) -> bool {
    let words: Vec<&str> = line
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'']))
        .collect();
    let is_own = |word: &&str| {
        Path::new(word)
            .file_name()
            .is_some_and(|name| name == env!("CARGO_PKG_NAME"))
    };
    let Some(at) = words.iter().position(is_own) else {
        return false;
    };
    let rest = &words[at + 1..];
    let chart = rest.iter().enumerate().find_map(|(at, word)| match *word {
        "--chart" => rest.get(at + 1).copied(),
        word => word.strip_prefix("--chart="),
    });
    let is_same = match (choice, Choice::of(chart)) {
        (Choice::Embedded(wanted), Choice::Embedded(called)) => wanted.id == called.id,
        // The path may depend on the directory from which it is called.
        (Choice::File(wanted), Choice::File(called)) => wanted.file_name() == called.file_name(),
        _ => false,
    };
    is_same && rest.windows(2).any(|pair| pair == ["hook", "stop"])
}

fn nobody(has_plugin: bool, id: &str) -> Diagnosis {
    let market = env!("CARGO_PKG_NAME");
    match has_plugin {
        true => Diagnosis::problem(
            "plugin",
            format!(
                "nothing calls the Stop hook: the plugin {id} is not installed, and no settings file has the hook"
            ),
            format!(
                "in a clone of the repository: `claude plugin marketplace add ./` and `claude plugin install {id}@{market}`"
            ),
        ),
        false => Diagnosis::problem(
            "plugin",
            "no settings file calls the Stop hook for this chart",
            format!(
                "add `{market} --chart PATH hook stop` to the Stop hooks of .claude/settings.json"
            ),
        ),
    }
}

/// Reports a hook whose time limit is shorter than a review's.
fn too_short(hook: &Hook<'_>, chart: &Chart) -> Option<Diagnosis> {
    let (longest, timeout) = (
        chart
            .invoke
            .values()
            .filter_map(|invoke| invoke.timeout.longest(&chart.config))
            .max()?,
        hook.timeout?,
    );
    (timeout <= longest).then(|| {
        Diagnosis::problem(
            "plugin",
            format!(
                "the hook in {} times out after {timeout} seconds, but a review may take {longest}",
                shown(&hook.file.path)
            ),
            format!("set its \"timeout\" to {} or more", longest + 30),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::diagnosis::Level;

    #[test]
    fn the_managed_settings_win() {
        let dir = tempfile::tempdir().unwrap();
        let (user, managed) = (dir.path().join("user"), dir.path().join("managed"));
        fs::create_dir_all(managed.join("managed-settings.d")).unwrap();
        fs::create_dir_all(&user).unwrap();
        let read = || Settings::read_in(Some(&user), &[dir.path().to_owned()], &managed);
        let levels =
            |found: Vec<Diagnosis>| found.iter().map(|found| found.level).collect::<Vec<_>>();
        assert_eq!(levels(read().hooks_on()), [Level::Ok]);
        fs::write(
            user.join("settings.json"),
            r#"{"allowManagedHooksOnly": true, "enabledPlugins": {"x@m": true}}"#,
        )
        .unwrap();
        assert_eq!(
            levels(read().hooks_on()),
            [Level::Ok],
            "that is not the user's to say"
        );
        fs::write(
            managed.join("managed-settings.json"),
            r#"{"allowManagedHooksOnly": true}"#,
        )
        .unwrap();
        fs::write(
            managed.join("managed-settings.d/10-off.json"),
            r#"{"disableAllHooks": true, "enabledPlugins": {"x@m": false}}"#,
        )
        .unwrap();
        assert_eq!(levels(read().hooks_on()), [Level::Problem, Level::Problem]);
        assert!(read().plugin("x").found[0].text.contains("disabled in"));
    }

    #[test]
    fn the_lines_that_call_the_hook() {
        let ours = Choice::of(None);
        for line in [
            "taskie hook stop",
            "\"/a b/bin/taskie\" hook stop",
            "PATH=$HOME/bin:$PATH taskie hook stop 2>/dev/null",
            "taskie --chart=taskie hook stop",
        ] {
            assert!(calls(line, &ours), "{line}");
        }
        for line in [
            "taskie hook session-start",
            "other hook stop",
            "taskie --chart my.toml hook stop",
            "taskie stop",
            "",
        ] {
            assert!(!calls(line, &ours), "{line}");
        }
        assert!(calls(
            "taskie --chart ./my.toml hook stop",
            &Choice::of(Some("x/my.toml"))
        ));
    }
}
