//! What happened: a hook's event, a phase to enter, the question what is next, or a command.

use indexmap::IndexMap;
use serde_json::Value as Json;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// A hook event of the host, by its name there: `Stop`, `SessionStart` …
    Hook(String),
    /// `taskie enter PHASE`; forced past the guards or not.
    Enter { phase: String, force: bool },
    /// `taskie run NAME`.
    Command(String),
}

/// An event with what came with it.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) trigger: Trigger,
    /// A hook event's JSON; an empty object otherwise.
    pub(crate) fields: Json,
    /// The options given, each already of its type.
    pub(crate) args: IndexMap<String, Json>,
    /// The session that asks, where known.
    pub(crate) session: Option<String>,
}

impl Event {
    /// A hook event of the given name.
    pub(crate) fn hook(name: &str, fields: Json) -> Self {
        let session = fields
            .get("session_id")
            .and_then(Json::as_str)
            .filter(|id| !id.is_empty())
            .map(str::to_owned);
        Self {
            trigger: Trigger::Hook(name.to_owned()),
            fields,
            args: IndexMap::new(),
            session,
        }
    }
}

/// The documented fields of hook events that an older host may leave out, with the values they then have.
/// Source: the host's hook reference, and events captured from two of its versions (`tests/fixtures`).
pub(crate) const EVENT_DEFAULTS: &[(&str, FieldDefault)] = &[
    ("background_tasks", FieldDefault::List),
    ("custom_instructions", FieldDefault::Text),
    ("cwd", FieldDefault::Text),
    ("hook_event_name", FieldDefault::Text),
    ("last_assistant_message", FieldDefault::Text),
    ("permission_mode", FieldDefault::Text),
    ("prompt", FieldDefault::Text),
    ("session_crons", FieldDefault::List),
    ("session_id", FieldDefault::Text),
    ("source", FieldDefault::Text),
    ("stop_hook_active", FieldDefault::False),
    ("transcript_path", FieldDefault::Text),
    ("trigger", FieldDefault::Text),
];

/// The value of an absent event field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldDefault {
    False,
    Text,
    List,
}
