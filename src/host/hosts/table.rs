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
    context: Context::Nested,
    command: "/PLUGIN:",
    blocks: None,
    is_active_always: false,
    block_cap: "",
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
        fields: &["stop_reason"],
        sessions: &["COPILOT_AGENT_SESSION_ID"],
        context: Context::Top,
        command: "/",
        blocks: Some(8),
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
        command: "/",
        blocks: Some(8),
        is_active_always: true,
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
        folder: ".codex",
        home: "CODEX_HOME",
        since: "0.132.0",
        plugins: "config.toml#/plugins",
        hooks: &["hooks.json", "config.toml"],
        trusted: "config.toml#/hooks/state",
        install: "`codex plugin marketplace add ./` and `codex plugin add PLUGIN@taskie`",
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
    context: Context::Text,
    blocks: Some(8),
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
