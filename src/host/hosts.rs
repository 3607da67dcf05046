//! The hosts, as data: `hosts.toml` beside this file, which is read when taskie is built. Nothing else in the code knows
//! one of them by name.

use std::env;

use serde_json::Value as Json;

/// A program with hooks, and how it talks.
#[derive(Debug)]
pub struct Host {
    /// What `--host` calls it.
    pub id: &'static str,
    pub name: &'static str,
    /// Variables that only its hooks have.
    variables: &'static [&'static str],
    /// Fields that only its events have.
    fields: &'static [&'static str],
    /// The variables in which it gives the tools of a session the session's id.
    pub sessions: &'static [&'static str],
    /// How it takes a text for the agent where nothing can be blocked.
    pub context: Context,
    /// What its users write before a command's name; `PLUGIN` stands for the plugin's.
    command: &'static str,
    /// After so many blocks in a row it lets the agent go; `None` if it never does.
    pub blocks: Option<usize>,
    /// `stop_hook_active` is true at every stop, so it says nothing.
    pub is_active_always: bool,
}

/// How a host takes a text for the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// As plain text.
    Text,
    /// In JSON, as `hookSpecificOutput.additionalContext`.
    Nested,
    /// In JSON, as `additionalContext`.
    Top,
}

include!(concat!(env!("OUT_DIR"), "/hosts.rs"));

impl Host {
    /// Returns the host of that name.
    pub fn named(id: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.id == id)
    }

    /// Returns the host that an event with these fields is from, as far as its marks tell.
    pub fn of(event: &Json) -> &'static Self {
        let has_mark = |host: &&Self| {
            let has = |name: &&str| env::var_os(name).is_some();
            host.fields.iter().any(|field| event.get(field).is_some())
                || host.variables.iter().any(has)
        };
        HOSTS.iter().find(has_mark).unwrap_or(DEFAULT)
    }

    /// Returns `text` with the commands of `plugin`, `/PLUGIN:NAME`, as this host's users write them.
    pub fn rename_commands(&self, text: &str, plugin: &str) -> String {
        let before = format!("/{plugin}:");
        text.replace(&before, &self.command.replace("PLUGIN", plugin))
    }
}

/// Returns the variables in which hosts tell the tools of a session its id.
pub fn session_variables() -> impl Iterator<Item = &'static str> {
    HOSTS
        .iter()
        .rev()
        .flat_map(|host| host.sessions.iter().copied())
}

/// Returns the session whose tool this process is, if a host says so.
pub fn session() -> Option<String> {
    session_variables().find_map(|name| env::var(name).ok().filter(|id| !id.is_empty()))
}

/// Returns how many blocks in a row every host honors.
pub fn blocks_in_a_row() -> usize {
    let caps = HOSTS.iter().filter_map(|host| host.blocks);
    caps.min().unwrap_or(usize::MAX)
}
