//! The hook events of the hosts: their names and fields.

use serde_json::Value as Json;

/// This variable is set for every process that a chart invokes: in it, hooks and commands do nothing.
pub const REVIEWER: &str = "TASKIE_REVIEWER";

/// Subcommand → the host's name of the event.
pub const EVENTS: &[(&str, &str)] = &[
    ("stop", "Stop"),
    ("subagent-stop", "SubagentStop"),
    ("user-prompt-submit", "UserPromptSubmit"),
    ("pre-compact", "PreCompact"),
    ("post-compact", "PostCompact"),
    ("session-start", "SessionStart"),
    ("session-end", "SessionEnd"),
];

/// The same, as the host calls it.
pub const STOPPED: &str = "Stop";

/// The event at which the user asks for something.
pub const PROMPT: &str = "UserPromptSubmit";

/// The rules for a stop of a session that has claimed no instance, where no session drives the one that was modified last.
pub const UNCLAIMED: &str = "unclaimed";

/// Returns whether this is an event of a host.
pub fn is_event(name: &str) -> bool {
    EVENTS.iter().any(|(_, event)| *event == name)
}

/// Returns whether the event is answered in JSON and can be blocked. Only then does it matter whose session it is.
pub fn is_stop(event: &str) -> bool {
    matches!(event, "Stop" | "SubagentStop")
}

/// Returns whether the answer to the event may be JSON with one text for the agent and one for the user.
pub fn takes_context(event: &str) -> bool {
    matches!(event, "SessionStart" | "UserPromptSubmit")
}

/// Lists the fields of an event: the name, the value of an absent one, and what it is.
macro_rules! fields {
    ($($name:literal, $absent:ident, $about:literal;)*) => {
        /// The fields of events, with the values that they have where a host leaves them out.
        pub const EVENT_DEFAULTS: &[(&str, FieldDefault)] = &[$(($name, FieldDefault::$absent),)*];

        /// The same fields as expressions name them, each with what it is.
        pub const EVENT_FIELDS: &[(&str, &str)] = &[$((concat!("event.", $name), $about),)*];
    };
}

// Sources: the host's hook reference, and events captured from two of its versions (`tests/fixtures`). Some fields are not
// from a host: they say what this program has found out about the change, the host or the last stop, or what a person has
// asked for.
fields! {
    "against", Text, "what the change is compared with, in words: `since HEAD`";
    "asked", List, "what the user has asked for since the session's own change began";
    "background_tasks", List, "the agents that work in the background";
    "bare", False, "a settings file calls the hook, not the plugin: its commands do not exist";
    "base", Text, "the commit that the change starts from";
    "change", List, "the files that have changed, each with its number of lines";
    "cwd", Text, "the directory that the agent works in";
    "host", Text, "the name of the host, such as `Claude Code`";
    "ignores_blocks", False, "the host ignores further blocks in this turn";
    "last_assistant_message", Text, "the agent's last message";
    "lines", Nothing, "how many lines have changed in the files that count; none if no such file has changed";
    "lost", False, "what the change was compared with cannot be read anymore, so it is compared with something else";
    "longest_review", Nothing, "how many seconds a review can take because the host waits no longer for a hook; none if it waits as long as the hook asks for";
    "max_cost", Amount, "the value of `--max-cost`; none without it";
    "model", Text, "the value of `--model`";
    "own", False, "the change is that of a session, reviewed at its stops; else it is that of a branch";
    "permission_mode", Text, "the host's permission mode";
    "prompt", Text, "the user's prompt";
    "range", Text, "what was there before and after the change, as arguments of `git diff`";
    "readable", False, "a reviewer can read something of the change that counts";
    "rules", Text, "a number for the settings that the review goes by, and for what the user has ruled";
    "sandboxed", False, "the host may run the agent's commands in a sandbox, where `.git` may be read-only";
    "source", Text, "how the session began: startup, resume, clear or compact";
    "stop_hook_active", False, "the agent has already been blocked in this turn";
    "terminal", False, "a person typed the command in a terminal, not an agent";
    "tree", Text, "the git tree after the change";
    "unread", List, "the files that have changed and that no reviewer can read, each with the reason";
}

/// The names that hosts give to the field with the session's id.
pub const SESSION_FIELDS: &[&str] = &["session_id", "sessionId", "conversation_id"];

/// Returns the session that an event names, and whether the field with its name is one that can be used.
pub fn session_of(event: &Json) -> Result<Option<&str>, String> {
    let named = SESSION_FIELDS
        .iter()
        .find_map(|name| Some((name, event.get(name).filter(|id| !id.is_null())?)));
    match named {
        None => Ok(None),
        Some((_, Json::String(id))) => Ok(Some(id.as_str()).filter(|id| !id.is_empty())),
        Some((name, _)) => Err(format!("the {name} of an event is a string")),
    }
}

/// The fields that contain text by the user or the agent.
pub const PROSE: &[&str] = &["asked", "last_assistant_message", "prompt"];

/// The value of an absent event field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldDefault {
    False,
    Text,
    List,
    /// None, where a whole number is expected.
    Nothing,
    /// None, where any number is expected.
    Amount,
}
