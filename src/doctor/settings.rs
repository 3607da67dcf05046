//! Reads what the settings of a host say about hooks and plugins, going by the table of hosts.
//!
//! Settings are merged key by key: the user's, the project's, the project's local ones, the administrator's. Each one
//! overrides the previous ones.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use indexmap::IndexSet;
use serde_json::{Map, Value as Json};

use crate::chart::choice::Choice;
use crate::disk;
use crate::host::hosts::{HOOK, Host};

/// Where a file has the events that call something, unless the table of hosts says otherwise.
const EVENTS: &str = "/hooks";

/// All settings of a host, and what is installed there.
#[derive(Debug)]
pub(super) struct HostSettings {
    pub(super) host: &'static Host,
    /// The user's folder, unless there is no home directory.
    folder: Option<PathBuf>,
    /// The files in order of precedence; the last one wins.
    pub(super) files: Vec<File>,
    /// The installed plugins, and what the host knows about each.
    pub(super) plugins: Map<String, Json>,
    /// Files that could not be read, and why.
    pub(super) unreadable: Vec<(PathBuf, String)>,
}

#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) is_managed: bool,
    pub(super) json: Json,
    /// Where in it the events are that call something, as a JSON pointer.
    events: &'static str,
}

/// A hook in a settings file that calls this program.
#[derive(Debug)]
pub(super) struct Hook<'s> {
    pub(super) file: &'s File,
    pub(super) timeout: Option<u64>,
    /// Its command line.
    line: String,
}

impl Hook<'_> {
    /// Returns how many seconds its command line says it has. The error is what it says if that is no number.
    pub(super) fn says(&self) -> Result<u64, &str> {
        let is_end = |sign: char| sign.is_whitespace() || sign == '=';
        let mut words = self.line.split(is_end);
        let said = words.find(|word| *word == "--timeout");
        said.map_or(Ok(HOOK), |_| {
            let said = words.next().unwrap_or_default();
            let said = said.trim_matches(['"', '\'']);
            said.parse().map_err(|_| said)
        })
    }

    /// Returns after how many seconds the host ends it.
    pub(super) fn lasts(&self) -> u64 {
        self.timeout.unwrap_or(HOOK)
    }
}

impl HostSettings {
    /// Reads the settings of the user, of `dirs`, and of the machine.
    pub(super) fn read(host: &'static Host, dirs: &[PathBuf]) -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let folder = set(host.home)
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(set("HOME")?).join(host.folder)));
        let managed: Vec<PathBuf> = host.managed.iter().map(PathBuf::from).collect();
        Self::read_in(host, folder, dirs, &managed)
    }

    pub(super) fn read_in(
        host: &'static Host,
        folder: Option<PathBuf>,
        dirs: &[PathBuf],
        managed: &[PathBuf],
    ) -> Self {
        let mut settings =
            Self { host, folder, files: Vec::new(), plugins: Map::new(), unreadable: Vec::new() };
        // The home directory itself may be a project.
        let mut paths: IndexSet<(PathBuf, &str)> = IndexSet::new();
        for name in host.hooks {
            let (name, events) = name.split_once('#').unwrap_or((name, EVENTS));
            let folder = settings.folder.iter().map(|folder| folder.join(name));
            let folders = dirs.iter().map(|dir| dir.join(host.folder).join(name));
            paths.extend(folder.chain(folders).map(|path| (path, events)));
        }
        for name in host.local {
            paths.extend(dirs.iter().map(|dir| (dir.join(name), EVENTS)));
        }
        for (path, events) in &paths {
            settings.add(path, events, false);
        }
        for path in managed {
            settings.add(path, EVENTS, true);
        }
        settings.plugins = settings.table(host.plugins);
        settings
    }

    /// Adds a file, or the files of a folder.
    fn add(&mut self, path: &Path, events: &'static str, is_managed: bool) {
        if let Ok(entries) = fs::read_dir(path) {
            let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            entries.retain(|path| path.extension().is_some_and(|end| end == "json"));
            entries.sort();
            for path in entries {
                self.add(&path, events, is_managed);
            }
        } else if let Some(json) = self.parsed(path) {
            self.files.push(File { path: path.to_owned(), is_managed, json, events });
        }
    }

    /// Returns the table at a place in the user's folder, or a row for each folder that is there.
    fn table(&mut self, place: &str) -> Map<String, Json> {
        let Some(folder) = self.folder.clone().filter(|_| !place.is_empty()) else {
            return Map::new();
        };
        if let Some((file, table)) = place.split_once('#') {
            let json = self.parsed(&folder.join(file)).unwrap_or_default();
            let table = json.pointer(table).and_then(Json::as_object);
            return table.cloned().unwrap_or_default();
        }
        let entries = fs::read_dir(folder.join(place)).into_iter().flatten();
        let folders = entries.flatten().filter(|entry| entry.path().is_dir());
        let name = |entry: fs::DirEntry| entry.file_name().into_string().ok();
        let rows = folders.filter_map(|entry| Some((name(entry)?, Json::Null)));
        rows.collect()
    }

    /// Returns what a file in TOML or JSON says, if it exists.
    fn parsed(&mut self, path: &Path) -> Option<Json> {
        let why = match disk::text(path) {
            Ok(text) if path.extension().is_some_and(|end| end == "toml") => {
                match toml::from_str(&text) {
                    Ok(json) => return Some(json),
                    Err(error) => format!("it is not valid TOML: {error}"),
                }
            }
            Ok(text) => match serde_json::from_str(&text) {
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

    /// Returns the hooks that call this program for the chart that was chosen, with an event by its name on the command
    /// line.
    pub(super) fn hooks(&self, choice: &Choice<'_>, event: &str) -> Vec<Hook<'_>> {
        let mut found = Vec::new();
        for file in &self.files {
            let mut calls = Vec::new();
            let events = file.json.pointer(file.events);
            let lists = events.and_then(Json::as_object).into_iter().flatten();
            for (_, list) in lists.filter(|(_, list)| list.is_array()) {
                add_calls(list, choice, event, &mut calls);
            }
            found.extend(calls.into_iter().map(|(fields, line)| Hook {
                file,
                line,
                timeout: fields.get("timeout").and_then(Json::as_u64),
            }));
        }
        found
    }
}

/// Returns whether `key` is the plugin of the chart `id`: `taskie`, `taskie@MARKETPLACE`.
pub(super) fn is_of(key: &str, id: &str) -> bool {
    key.split('@').next() == Some(id)
}

/// Adds the fields and the command line of each hook below that is a shell line that calls the hook of an event.
fn add_calls<'j>(
    json: &'j Json,
    choice: &Choice<'_>,
    event: &str,
    found: &mut Vec<(&'j Map<String, Json>, String)>,
) {
    match json {
        Json::Array(items) => {
            for item in items {
                add_calls(item, choice, event, found);
            }
        }
        Json::Object(fields) => {
            let args = fields.get("args").and_then(Json::as_array);
            let args: Vec<&str> = args.into_iter().flatten().filter_map(Json::as_str).collect();
            let words = fields.values().filter_map(Json::as_str);
            let mut lines = words.map(|word| format!("{word} {}", args.join(" ")));
            if let Some(line) = lines.find(|line| calls(line, choice, event)) {
                found.push((fields, line));
            }
            for field in fields.values() {
                add_calls(field, choice, event, found);
            }
        }
        _ => {}
    }
}

/// Returns whether a shell line is `taskie hook EVENT`, for the chart that was chosen.
fn calls(line: &str, choice: &Choice<'_>, event: &str) -> bool {
    let words: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    let is_own = |word: &&str| {
        Path::new(word).file_name().is_some_and(|name| name == env!("CARGO_PKG_NAME"))
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
    is_same && rest.windows(2).any(|pair| pair == ["hook", event])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_call_the_hook() {
        let ours = Choice::of(None);
        for line in [
            "taskie hook stop",
            "\"/a b/bin/taskie\" hook stop",
            "PATH=$HOME/bin:$PATH taskie hook stop 2>/dev/null",
            "taskie --chart=taskie hook stop",
        ] {
            assert!(calls(line, &ours, "stop"), "{line}");
        }
        for line in [
            "taskie hook session-start",
            "other hook stop",
            "taskie --chart my.toml hook stop",
            "taskie stop",
            "",
        ] {
            assert!(!calls(line, &ours, "stop"), "{line}");
        }
        assert!(calls(
            "taskie --chart ./my.toml hook pre-compact",
            &Choice::of(Some("x/my.toml")),
            "pre-compact"
        ));
    }
}
