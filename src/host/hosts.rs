//! The hosts whose hook events taskie answers, and what differs between them. The facts are rows of a table in
//! `table.rs`; no other code knows a host by its name.

mod table;

use std::env;

use serde_json::Value as Json;

pub use table::{DEFAULT, HOSTS};

/// A program that runs hooks, and what is particular to it.
#[derive(Debug)]
pub struct Host {
    /// Its name for `--host`, which is also the name of its program.
    pub id: &'static str,
    pub name: &'static str,
    /// Variables that only the environment of its hooks has.
    variables: &'static [&'static str],
    /// Fields that only its events have.
    fields: &'static [&'static str],
    /// The variables that hold the session id in the environment of its tools.
    pub sessions: &'static [&'static str],
    /// Variables that only the environment of its tools has.
    shell: &'static [&'static str],
    /// How a text reaches the agent on an event that cannot be blocked.
    pub context: Context,
    /// What the user types before the name of a command; `PLUGIN` stands for the plugin's name.
    command: &'static str,
    /// After this many blocks in a row it lets the agent stop; `None` if it never does.
    pub blocks: Option<usize>,
    /// Whether `stop_hook_active` is true at every stop, which makes it useless.
    pub is_active_always: bool,
    /// The variable that replaces that number, if there is one; 0: no limit.
    pub block_cap: &'static str,
    /// The oldest version that was tested, if it was recorded.
    pub tested: &'static str,
    /// The option without which a reviewer could run nothing, and the variable that has to be 1 for root to use it.
    pub unasked: &'static str,
    pub sandbox: &'static str,
    /// The folder with the settings, in the home directory and in projects.
    pub folder: &'static str,
    /// The variable that names another folder for the user's.
    pub home: &'static str,
    /// The first version that runs the hooks of plugins, if older ones exist.
    pub since: &'static str,
    /// In the user's folder: the file and the table in it (`FILE#/POINTER`) with the installed plugins, or the folder with
    /// a folder for each of them.
    pub plugins: &'static str,
    /// The key in the settings that says which plugins are on.
    pub enabled: &'static str,
    /// The files that may have hooks, and folders of them, below `folder`; each one overrides the previous ones.
    pub hooks: &'static [&'static str],
    /// Those that only projects have.
    pub local: &'static [&'static str],
    /// Those of the administrator.
    pub managed: &'static [&'static str],
    /// The key in the settings that turns all hooks off.
    pub off: &'static str,
    /// The key in the administrator's settings that turns all other hooks off.
    pub only: &'static str,
    /// The file and the table in it with the hooks that the user trusts; empty if it asks for no trust.
    pub trusted: &'static str,
    /// How to install the plugin `PLUGIN`.
    pub install: &'static str,
}

/// How a text reaches the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// As plain text.
    Text,
    /// In JSON, as `hookSpecificOutput.additionalContext`.
    Nested,
    /// In JSON, as `additionalContext`.
    Top,
}

/// The number of blocks in a row that every host accepts.
pub const BLOCKS: usize = least_blocks();

const fn least_blocks() -> usize {
    let (mut least, mut index) = (usize::MAX, 0);
    while index < HOSTS.len() {
        if let Some(blocks) = HOSTS[index].blocks
            && blocks < least
        {
            least = blocks;
        }
        index += 1;
    }
    least
}

impl Host {
    /// Returns the host of that name.
    pub fn named(id: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.id == id)
    }

    /// Returns the host that has sent this event, going by its marks.
    pub fn of(event: &Json) -> &'static Self {
        let has_mark = |host: &&Self| {
            let has = |name: &&str| env::var_os(name).is_some();
            host.fields.iter().any(|field| event.get(field).is_some())
                || host.variables.iter().any(has)
        };
        HOSTS.iter().find(has_mark).unwrap_or(DEFAULT)
    }

    /// Returns `text` with every `/PLUGIN:NAME` of `plugin` written as the user types it on this host.
    pub fn rename_commands(&self, text: &str, plugin: &str) -> String {
        let before = format!("/{plugin}:");
        text.replace(&before, &self.command.replace("PLUGIN", plugin))
    }
}

/// Returns the variables that may hold the session id, in the order in which they are looked up.
pub fn session_variables() -> impl Iterator<Item = &'static str> {
    HOSTS
        .iter()
        .rev()
        .flat_map(|host| host.sessions.iter().copied())
}

/// Returns the session that this process is a tool of, if a host has put its id into the environment.
pub fn session() -> Option<String> {
    session_variables().find_map(|name| env::var(name).ok().filter(|id| !id.is_empty()))
}
