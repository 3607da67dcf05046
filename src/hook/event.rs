//! The event that a host sends on stdin, and the directory that it is about.

use std::io::{self, Read as _};

use serde_json::Value as Json;

use crate::files::json;
use crate::host::events::session_of;

/// The most bytes of an event.
const EVENT_LIMIT: u64 = 16 * 1024 * 1024;

/// Reads the event, changes to its directory, and gives its session the name that it has on every host. The error is the message
/// about it.
pub(super) fn read() -> Result<Json, String> {
    let invalid = |why: String| format!("Invalid JSON on stdin: {why}");
    let mut input = Vec::new();
    // What is cut off there is no JSON.
    let read = io::stdin().lock().take(EVENT_LIMIT).read_to_end(&mut input);
    read.map_err(|error| invalid(error.to_string()))?;
    let mut fields = json::parse(&json::whole(&input)).map_err(invalid)?;
    if !fields.is_object() {
        return Err(invalid("a hook event is an object".to_owned()));
    }
    // A stop names its session, or none; anything else is refused.
    let session = session_of(&fields).map_err(invalid)?;
    if let Some(session) = session.map(str::to_owned) {
        fields["session_id"] = Json::from(session);
    }
    if let Some(cwd) = fields.get("cwd").and_then(Json::as_str) {
        std::env::set_current_dir(cwd).map_err(|error| {
            format!("Cannot change to the session's directory {cwd:?}: {error}")
        })?;
    }
    Ok(fields)
}
