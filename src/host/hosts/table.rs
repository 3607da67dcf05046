//! The table of hosts. The facts are measured, with the versions in docs/hosts.md.
//!
//! The first host with a mark that the event has is its host; without any mark, it is the last one. `--host` overrides
//! this.

use super::{Context, Host};

/// What is true of a host that says nothing else.
const ANY: Host = Host {
    id: "",
    name: "",
    variables: &[],
    fields: &[],
    sessions: &[],
    shell: &[],
    names_session: "",
    context: Context::Nested,
    command: "/PLUGIN:",
    blocks: None,
    tools_reset_blocks: false,
    block_cap: "",
    longest_hook: None,
    shows_messages: true,
    ended: &[
        "completed",
        "failed",
        "cancelled",
        "canceled",
        "killed",
        "stopped",
    ],
    unconfined: "",
    tested: "",
    unasked: "",
    sandbox: "",
    folder: "",
    home: "",
    since: "",
    plugins: "",
    enabled: "",
    hooks: &["settings.json"],
    local: &[],
    managed: &[],
    off: "",
    only: "",
    trusted: "",
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
        context: Context::Top,
        blocks: Some(8),
        shows_messages: false,
        folder: ".copilot",
        home: "COPILOT_HOME",
        plugins: "settings.json#/enabledPlugins",
        hooks: &["hooks", "settings.json"],
        local: &[".github/hooks"],
        install: "`copilot plugin marketplace add ./` and `copilot plugin install PLUGIN@taskie`",
        ..ANY
    },
    Host {
        id: "gemini",
        name: "Gemini CLI",
        variables: &["GEMINI_SESSION_ID"],
        fields: &["prompt_response"],
        shell: &["GEMINI_CLI"],
        names_session: "UserPromptSubmit",
        folder: ".gemini",
        plugins: "extensions",
        install: "`gemini extensions install ./plugin`",
        ..ANY
    },
    Host {
        id: "qwen",
        name: "Qwen Code",
        variables: &["QWEN_PROJECT_DIR"],
        sessions: &["QWEN_CODE_SESSION_ID"],
        shell: &["QWEN_CODE"],
        command: "/",
        // The eighth ends the turn.
        blocks: Some(7),
        block_cap: "QWEN_CODE_STOP_HOOK_BLOCK_CAP",
        longest_hook: Some(60),
        folder: ".qwen",
        home: "QWEN_HOME",
        plugins: "extensions",
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
        unconfined: "\"sandbox_policy\":{\"type\":\"danger-full-access\"",
        folder: ".codex",
        home: "CODEX_HOME",
        since: "0.132.0",
        plugins: "config.toml#/plugins",
        hooks: &["hooks.json", "config.toml"],
        trusted: "config.toml#/hooks/state",
        install: "`codex plugin marketplace add ./` and `codex plugin add PLUGIN@taskie`",
        ..ANY
    },
    Host {
        id: "droid",
        name: "Factory droid",
        variables: &["DROID_PROJECT_DIR"],
        fields: &["tool_execution_count"],
        shell: &[
            "FACTORY_EXEC_TARGET_AUTONOMY",
            "FACTORY_DISABLE_SETTINGS_PERSISTENCE",
        ],
        names_session: "SessionStart",
        context: Context::Text,
        folder: ".factory",
        plugins: "settings.json#/enabledPlugins",
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
    sessions: &["CLAUDE_CODE_SESSION_ID"],
    shell: &["CLAUDECODE"],
    context: Context::Text,
    blocks: Some(8),
    tools_reset_blocks: true,
    block_cap: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
    tested: "2.1.197",
    unasked: "--dangerously-skip-permissions",
    sandbox: "IS_SANDBOX",
    folder: ".claude",
    home: "CLAUDE_CONFIG_DIR",
    plugins: "plugins/installed_plugins.json#/plugins",
    enabled: "enabledPlugins",
    local: &[".claude/settings.local.json"],
    managed: &[
        "/etc/claude-code/managed-settings.json",
        "/etc/claude-code/managed-settings.d",
        "/Library/Application Support/ClaudeCode/managed-settings.json",
        "/Library/Application Support/ClaudeCode/managed-settings.d",
    ],
    off: "disableAllHooks",
    only: "allowManagedHooksOnly",
    install: "`claude plugin marketplace add ./` and `claude plugin install PLUGIN@taskie`",
    ..ANY
};
