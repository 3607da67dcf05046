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
    let stdin = io::stdin();
    let mut input = Vec::new();
    stdin
        .lock()
        .take(EVENT_LIMIT + 1)
        .read_to_end(&mut input)
        .map_err(|error| invalid(error.to_string()))?;
    let is_cut = input.len() as u64 > EVENT_LIMIT;
    if is_cut {
        // A host that cannot write all of it may take that for a failure.
        let _ = io::copy(&mut stdin.lock(), &mut io::sink());
    }
    let mut fields = json::parse(&json::whole(&input)).map_err(|why| match is_cut {
        true => invalid(format!("it is larger than {} MiB", EVENT_LIMIT >> 20)),
        false => invalid(why),
    })?;
    if !fields.is_object() {
        return Err(invalid("a hook event is an object".to_owned()));
    }
    // A stop names its session, or none; anything else is refused.
    let session = session_of(&fields).map_err(invalid)?;
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
