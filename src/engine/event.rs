//! What happened: a hook's event, a phase to enter, the question what is next, or a command.

use indexmap::IndexMap;
use serde_json::Value as Json;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// A hook event of the host, by its name there: `Stop`, `SessionStart` …
    Hook(String),
    /// `taskie enter PHASE`; forced past the guards or not.
    Enter { phase: String, force: bool },
    /// `taskie run NAME`.
    Command(String),
}

/// An event with what came with it.
#[derive(Debug, Clone)]
pub struct Event {
    pub trigger: Trigger,
    /// A hook event's JSON; an empty object otherwise.
    pub fields: Json,
    /// The options given, each already of its type.
    pub args: IndexMap<String, Json>,
    /// The session that asks, where known.
    pub session: Option<String>,
}

impl Event {
    /// Returns a hook event of the given name.
    pub fn hook(name: &str, fields: Json) -> Self {
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
