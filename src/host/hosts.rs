//! The hosts whose hook events taskie answers, and what differs between them: rows of a table, measured with the versions in
//! docs/hosts.md.
//!
//! The first host with a mark that an event has is its host; without any mark, it is the last one. `--host` overrides this.

use std::env;

use serde_json::Value as Json;

/// How many seconds before the host ends the hook a reviewer has to end.
pub const RESERVE: u64 = 10;

/// How many seconds a hook has whose entry does not say how long it asks for.
pub const HOOK: u64 = 600;

/// The most seconds that a hook can have on any host.
pub const LONGEST_HOOK: u64 = 3_600;

/// The variable that a plugin's launcher sets.
pub const PLUGIN: &str = "TASKIE_PLUGIN";

/// A program that runs hooks, and what is particular to it.
#[derive(Debug)]
pub struct Host {
    /// Its name for `--host`, which is also the name of its program.
    pub id: &'static str,
    pub name: &'static str,
    /// Variables that only the environment of its hooks has.
    variables: &'static [&'static str],
    /// The variable that the environment of all its hooks has, if there is one.
    project: &'static str,
    /// Fields that only its events have.
    fields: &'static [&'static str],
    /// The field of its stops with the agent's last message, if it is not `last_assistant_message`.
    last_message: &'static str,
    /// The variables that hold the session id in the environment of its tools.
    pub sessions: &'static [&'static str],
    /// Other variables of its tools' environment that a user's own terminal does not have.
    shell: &'static [&'static str],
    /// The event at which the agent receives the id of its session, because its tools cannot know it; empty if they can.
    pub names_session: &'static str,
    /// How a text reaches the agent on an event that cannot be blocked.
    pub context: ContextForm,
    /// What the user types before the name of a command; `PLUGIN` stands for the plugin's name.
    command: &'static str,
    /// After this many blocks in a row it lets the agent stop; `None` if it never does.
    pub blocks: Option<usize>,
    /// A tool that the agent uses ends the row: only an agent that does nothing is let go.
    tools_reset_blocks: bool,
    /// The variable that replaces that number, if there is one; 0: no limit.
    block_cap: &'static str,
    /// The most seconds for which it is known to wait for a hook whose entry asks for them.
    pub longest_hook: u64,
    /// It shows the user the message of a stop.
    pub shows_messages: bool,
    /// It may run the agent's commands in a sandbox. Its events do not say whether it does.
    pub has_sandbox: bool,
    /// The folder with the settings, in the home directory and in projects.
    pub folder: &'static str,
    /// The variable that names another folder for the user's.
    pub home: &'static str,
    /// The files below `folder` that may have hooks or say which plugins are on; each one overrides the previous ones.
    pub hooks: &'static [&'static str],
    /// The key in the settings that turns all hooks off.
    pub off: &'static str,
    /// How to install the plugin `PLUGIN`.
    pub install: &'static str,
}

/// Patterns of files in a project that some host gives to its agents as instructions, apart from those in the folders of hosts.
/// (Plugins of Claude Code have the folders of the last three.)
const INSTRUCTIONS: [&str; 16] = [
    "AGENTS.md",
    ".github/copilot-instructions.md",
    ".github/instructions/**",
    ".github/prompts/**",
    ".github/agents/**",
    ".github/skills/**",
    "GEMINI.md",
    "QWEN.md",
    "AGENTS.override.md",
    "**/.agents/**",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "SKILL.md",
    "**/skills/**",
    "**/commands/*.md",
    "**/agents/*.md",
];

/// How a text reaches the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextForm {
    /// As plain text.
    Text,
    /// In JSON, as `hookSpecificOutput.additionalContext`.
    Nested,
    /// In JSON, as `additionalContext`.
    Top,
}

/// What is true of a host that says nothing else.
const ANY: Host = Host {
    id: "",
    name: "",
    variables: &[],
    project: "",
    fields: &[],
    last_message: "",
    sessions: &[],
    shell: &[],
    names_session: "",
    context: ContextForm::Nested,
    command: "/PLUGIN:",
    blocks: None,
    tools_reset_blocks: false,
    block_cap: "",
    longest_hook: HOOK,
    shows_messages: true,
    has_sandbox: false,
    folder: "",
    home: "",
    hooks: &["settings.json", "settings.local.json"],
    off: "",
    install: "",
};

/// The hosts, in the order in which an event is compared with their marks.
pub static HOSTS: &[Host] = &[
    Host {
        id: "copilot",
        name: "GitHub Copilot CLI",
        variables: &["COPILOT_PLUGIN_ROOT"],
        fields: &["stop_reason", "stopReason"],
        sessions: &["COPILOT_AGENT_SESSION_ID"],
        shell: &["COPILOT_CLI"],
        context: ContextForm::Top,
        blocks: Some(8),
        shows_messages: false,
        folder: ".copilot",
        home: "COPILOT_HOME",
        install: "`copilot plugin marketplace add ./` and `copilot plugin install PLUGIN@taskie`",
        ..ANY
    },
    Host {
        id: "gemini",
        name: "Gemini CLI",
        variables: &["GEMINI_SESSION_ID"],
        project: "GEMINI_PROJECT_DIR",
        fields: &["prompt_response"],
        last_message: "prompt_response",
        shell: &["GEMINI_CLI"],
        names_session: "UserPromptSubmit",
        folder: ".gemini",
        hooks: &["settings.json", "extensions/taskie/hooks/hooks.json"],
        install: "`gemini extensions install ./plugin`",
        ..ANY
    },
    Host {
        id: "qwen",
        name: "Qwen Code",
        variables: &["QWEN_PROJECT_DIR"],
        project: "QWEN_PROJECT_DIR",
        sessions: &["QWEN_CODE_SESSION_ID"],
        shell: &["QWEN_CODE"],
        command: "/",
        // The eighth ends the turn.
        blocks: Some(7),
        block_cap: "QWEN_CODE_STOP_HOOK_BLOCK_CAP",
        longest_hook: 60,
        folder: ".qwen",
        home: "QWEN_HOME",
        hooks: &["settings.json", "extensions/taskie/hooks/hooks.json"],
        install: "`qwen extensions install ./:PLUGIN`",
        ..ANY
    },
    Host {
        id: "codex",
        name: "Codex",
        variables: &["PLUGIN_ROOT"],
        fields: &["turn_id"],
        sessions: &["CODEX_SESSION_ID", "CODEX_THREAD_ID"],
        command: "$PLUGIN:",
        has_sandbox: true,
        folder: ".codex",
        home: "CODEX_HOME",
        hooks: &["hooks.json", "config.toml"],
        install: "`codex plugin marketplace add ./` and `codex plugin add PLUGIN@taskie`",
        ..ANY
    },
    Host {
        id: "droid",
        name: "Factory droid",
        variables: &["DROID_PROJECT_DIR"],
        project: "DROID_PROJECT_DIR",
        fields: &["tool_execution_count"],
        shell: &["FACTORY_EXEC_TARGET_AUTONOMY", "FACTORY_DISABLE_SETTINGS_PERSISTENCE"],
        names_session: "SessionStart",
        context: ContextForm::Text,
        folder: ".factory",
        hooks: &["hooks.json", "settings.json"],
        install: "`droid plugin marketplace add ./` and `droid plugin install PLUGIN@FOLDER`, where FOLDER is the name of the clone's folder",
        ..ANY
    },
    CLAUDE,
];

/// The host of an event without marks: the one that taskie is made for.
pub static DEFAULT: &Host = &HOSTS[HOSTS.len() - 1];

const CLAUDE: Host = Host {
    id: "claude",
    name: "Claude Code",
    project: "CLAUDE_PROJECT_DIR",
    sessions: &["CLAUDE_CODE_SESSION_ID"],
    shell: &["CLAUDECODE"],
    context: ContextForm::Text,
    blocks: Some(8),
    tools_reset_blocks: true,
    longest_hook: LONGEST_HOOK,
    folder: ".claude",
    home: "CLAUDE_CONFIG_DIR",
    off: "disableAllHooks",
    install: "`claude plugin marketplace add ./` and `claude plugin install PLUGIN@taskie`",
    ..ANY
};

/// The number of blocks in a row that every host accepts from an agent that does nothing. A host that also counts those
/// after which the agent did something is not among them: there, `event.ignores_blocks` says so in the chart.
pub const BLOCKS: usize = 8;

/// The statuses of background agents that have ended, but stay in the events of a host.
const ENDED: [&str; 6] = ["completed", "failed", "cancelled", "canceled", "killed", "stopped"];

/// The type of a background task that is a program.
const SHELL: &str = "shell";

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

    /// Returns how many blocks it takes in one turn, if it counts all of them.
    pub fn most_blocks(&self) -> Option<usize> {
        let own = self.blocks.filter(|_| !self.tools_reset_blocks)?;
        let given = env::var(self.block_cap).ok();
        Some(given.and_then(|cap| cap.trim().parse().ok()).unwrap_or(own))
    }

    /// Returns whether this process is a hook that a settings file calls: the host runs it, and no plugin does. Without a
    /// session, nothing is known about the caller.
    pub fn is_bare(&self, event: &Json) -> bool {
        let has = |name: &str| !name.is_empty() && env::var_os(name).is_some();
        event.get("session_id").is_some() && has(self.project) && !has(PLUGIN)
    }

    /// Returns the same host for a command that answers in its place, in a process that has all the time it needs.
    pub fn patient(&self) -> Self {
        Self { blocks: None, shows_messages: true, ..*self }
    }

    /// Returns whether this process is a tool of the host's agent.
    fn is_around(&self) -> bool {
        let mut marks = self.sessions.iter().chain(self.shell);
        marks.any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
    }

    /// Adds to an event what is known about the host. Of the background tasks, only agents that are still at work are left: a
    /// program may never end.
    pub fn describe(&self, event: &mut Json) {
        let is_over = |task: &Json| task["status"].as_str().is_some_and(|it| ENDED.contains(&it));
        if let Some(Json::Array(tasks)) = event.get_mut("background_tasks") {
            tasks.retain(|task| task["type"] != SHELL && !is_over(task));
        }
        if let Some(said) = event.get_mut(self.last_message).map(Json::take) {
            event["last_assistant_message"] = said;
        }
        event["sandboxed"] = Json::from(self.has_sandbox);
    }

    /// Adds to an event how long a review can take on this host, where the hook's entry asks for `asked` seconds; `None` if
    /// it is unknown how many it asks for.
    pub fn limit(&self, event: &mut Json, asked: Option<u64>) {
        let longest = asked.map_or(self.longest_hook, |asked| self.longest_hook.min(asked));
        event["host"] = Json::from(self.name);
        event["longest_review"] = Json::from(longest.saturating_sub(RESERVE));
    }

    /// Returns `text` with every `/PLUGIN:NAME` of `plugin` written as the user types it on this host.
    pub fn rename_commands(&self, text: &str, plugin: &str) -> String {
        if self.command == ANY.command {
            return text.to_owned();
        }
        text.replace(&format!("/{plugin}:"), &self.command.replace("PLUGIN", plugin))
    }
}

/// Returns the host whose agent this process is a tool of, going by the marks of the hosts' shells.
pub fn around() -> Option<&'static Host> {
    HOSTS.iter().find(|host| host.is_around())
}

/// Returns the patterns of files that any host gives to its agents as instructions.
pub fn instructions() -> impl Iterator<Item = String> {
    let folders = HOSTS.iter().map(|host| format!("**/{}/**", host.folder));
    folders.chain(INSTRUCTIONS.into_iter().map(str::to_owned))
}

/// Returns the session that this process is a tool of, going by the ids in its environment.
pub fn session() -> Option<String> {
    let mut variables = HOSTS.iter().rev().flat_map(|host| host.sessions);
    variables.find_map(|name| env::var(name).ok().filter(|id| !id.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_accepts_that_many_blocks_in_a_row() {
        let hosts = HOSTS.iter().filter(|host| host.tools_reset_blocks);
        assert_eq!(hosts.filter_map(|host| host.blocks).min(), Some(BLOCKS));
    }
}
