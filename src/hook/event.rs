//! The event that a host sends on stdin, and the directory that it is about.

use std::io::{IsTerminal as _, Read as _};

use serde_json::Value as Json;

use super::output::tell;
use crate::files::json::{self, Unread};
use crate::host::events::session_of;

/// The most bytes of an event.
const EVENT_LIMIT: u64 = 16 * 1024 * 1024;

/// Reads the event and changes to its directory. The error is the message about it.
pub(super) fn read(event: &str, name: &str) -> Result<Json, String> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        tell(&format!(
            "waiting for the {name} event as JSON on stdin; try: echo '{{}}' | taskie hook {event}"
        ));
    }
    let mut input = Vec::new();
    stdin
        .lock()
        .take(EVENT_LIMIT + 1)
        .read_to_end(&mut input)
        .map_err(|error| format!("stdin cannot be read: {error}"))?;
    if input.len() as u64 > EVENT_LIMIT {
        let limit = EVENT_LIMIT / (1024 * 1024);
        return Err(format!("the event on stdin is larger than {limit} MiB"));
    }
    let invalid = |why: &str| format!("Invalid JSON on stdin: {why}");
    let mut fields = match json::parse(&input) {
        Ok(fields @ Json::Object(_)) => fields,
        Ok(_) => return Err(invalid("a hook event is an object")),
        Err(Unread::Invalid(error)) => return Err(invalid(&error.to_string())),
        Err(why) => return Err(format!("The event on stdin cannot be used: {why}")),
    };
    // A stop names its session, or none; anything else is refused.
    let session = session_of(&fields).map_err(|why| invalid(&why))?;
    if let Some(session) = session.map(str::to_owned) {
        fields["session_id"] = Json::from(session);
    }
    if let Some(cwd) = fields.get("cwd").and_then(Json::as_str) {
        // JSON cannot name a directory whose name is not text, but the host has started its hook there.
        let is_here = || std::env::current_dir().is_ok_and(|here| here.to_string_lossy() == cwd);
        std::env::set_current_dir(cwd)
            .or_else(|error| is_here().then_some(()).ok_or(error))
            .map_err(|error| {
                format!("Cannot change to the session's directory {cwd:?}: {error}")
            })?;
    }
    Ok(fields)
}
