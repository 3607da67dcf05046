//! Events: a hook event (the question what comes next is one, too), a phase to enter, or a command.

use std::fmt;

use serde_json::Value as Json;

use crate::hash::IndexMap;
use crate::host::events;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// A hook event of the host, by its name there: `Stop`, `SessionStart` …
    Hook(String),
    /// `taskie enter PHASE`; with `force`, the guards are skipped.
    Enter { phase: String, force: bool },
    /// `taskie NAME`, a command of the chart.
    Command(String),
}

/// Says what it is called.
impl fmt::Display for Trigger {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Enter { phase, force: true } => write!(out, "enter {phase} --force"),
            Self::Enter { phase, .. } => write!(out, "enter {phase}"),
            Self::Hook(name) | Self::Command(name) => out.write_str(name),
        }
    }
}

/// An event with its data.
#[derive(Debug, Clone)]
pub struct Event {
    pub trigger: Trigger,
    /// The JSON of a hook event; an empty object otherwise.
    pub fields: Json,
    /// The given options, already converted to their types.
    pub args: IndexMap<String, Json>,
    /// The session of the event, if known.
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
        Self { trigger: Trigger::Hook(name.to_owned()), fields, args: IndexMap::default(), session }
    }

    /// Returns the event of a command without arguments.
    pub fn command(name: &str) -> Self {
        Self {
            trigger: Trigger::Command(name.to_owned()),
            fields: Json::Object(serde_json::Map::new()),
            args: IndexMap::default(),
            session: None,
        }
    }

    /// Returns whether the agent wants to stop.
    pub fn is_stop(&self) -> bool {
        matches!(&self.trigger, Trigger::Hook(name) if events::is_stop(name))
    }
}
