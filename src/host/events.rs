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

/// What the event is called on the command line at which an agent wants to stop.
pub const STOP: &str = "stop";

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

/// The documented fields of hook events that an older host may leave out, with the values that they have then.
/// Source: the host's hook reference, and events captured from two of its versions (`tests/fixtures`).
pub const EVENT_DEFAULTS: &[(&str, FieldDefault)] = &[
    // Not from a host, like the others of a change: what `taskie review` has found out, and what it was asked for.
    ("against", FieldDefault::Text),
    ("asked", FieldDefault::List),
    // Not from a host: a hook waits until a reviewer can run.
    ("awaited", FieldDefault::False),
    ("background_tasks", FieldDefault::List),
    // Not from the host itself: a settings file has called the hook.
    ("bare", FieldDefault::False),
    ("base", FieldDefault::Text),
    // Not from the host itself: another entry of the hook can run the review beside the turn.
    ("can_wake", FieldDefault::False),
    ("change", FieldDefault::List),
    ("custom_instructions", FieldDefault::Text),
    ("cwd", FieldDefault::Text),
    // Not from the host: what the journal says about the agent's last stop.
    ("failed_gate", FieldDefault::Text),
    ("hook_event_name", FieldDefault::Text),
    // Not from the host itself: what the table of hosts says about it.
    ("host", FieldDefault::Text),
    ("ignores_blocks", FieldDefault::False),
    ("last_assistant_message", FieldDefault::Text),
    ("lines", FieldDefault::Nothing),
    ("longest_review", FieldDefault::Nothing),
    ("max_cost", FieldDefault::Nothing),
    ("model", FieldDefault::Text),
    // Not from a host: the change is that of a session, which nobody has asked to be reviewed.
    ("own", FieldDefault::False),
    ("paths", FieldDefault::Text),
    ("permission_mode", FieldDefault::Text),
    ("permissions", FieldDefault::Text),
    ("prompt", FieldDefault::Text),
    ("range", FieldDefault::Text),
    ("sandboxed", FieldDefault::False),
    ("session_crons", FieldDefault::List),
    ("session_id", FieldDefault::Text),
    ("source", FieldDefault::Text),
    ("stop_hook_active", FieldDefault::False),
    // Not from the host: what `taskie status` knows about the agent.
    ("stopped", FieldDefault::False),
    // Not from the host: a person has typed the command.
    ("terminal", FieldDefault::False),
    ("transcript_path", FieldDefault::Text),
    ("tree", FieldDefault::Text),
    ("trigger", FieldDefault::Text),
];

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

/// The documented words of event fields. A host may send others.
pub const EVENT_WORDS: &[(&str, &[&str])] = &[
    ("source", &["startup", "resume", "clear", "compact"]),
    ("trigger", &["manual", "auto"]),
    (
        "permission_mode",
        &[
            "default",
            "plan",
            "acceptEdits",
            "dontAsk",
            "bypassPermissions",
        ],
    ),
];

/// The fields that contain text by the user or the agent.
pub const PROSE: &[&str] = &[
    "asked",
    "custom_instructions",
    "last_assistant_message",
    "prompt",
];

/// The value of an absent event field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldDefault {
    False,
    Text,
    List,
    /// None, where a whole number is expected.
    Nothing,
}
