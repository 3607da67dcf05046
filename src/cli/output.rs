//! Prints output outside pages.

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Map, Value as Json, json};

use super::error::CliError;
use crate::host::events::REVIEWER;
use crate::host::hosts;

/// Returns whether this is a reviewer's session, which changes no state; says so if it is.
pub(crate) fn is_reviewer() -> bool {
    let is_reviewer = std::env::var_os(REVIEWER).is_some();
    if is_reviewer {
        say("taskie: this is a reviewer's session, which changes no state: nothing was done.");
    }
    is_reviewer
}

/// Refuses a command of the user's in an agent's session; `what` is what an agent cannot do.
pub(crate) fn refuse_agents(what: &str, command: &str) -> Result<(), CliError> {
    if hosts::around().is_none() {
        return Ok(());
    }
    Err(CliError::with_help(
        format!("an agent's session cannot {what} for the user"),
        format!("run `{command}` in a terminal of your own"),
    ))
}

/// Returns the event fields of a command: whether a person typed it, and what the host around it allows.
pub(super) fn typed() -> Json {
    let mut fields = json!({ "terminal": std::io::stdout().is_terminal() });
    if let Some(host) = hosts::around() {
        host.limit(&mut fields);
    }
    fields
}

/// Prints a line to stdout. A reader that is gone is not an error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Prints the fields of an object as one line of JSON, for programs.
pub(crate) fn say_json(fields: Json) {
    say(&versioned(fields).to_string());
}

/// Returns an object with the version of the format before its fields. The version changes when a field is removed or
/// changes its meaning.
pub(crate) fn versioned(fields: Json) -> Json {
    let mut object = Map::from_iter([("version".to_owned(), json!(1))]);
    if let Json::Object(fields) = fields {
        object.extend(fields);
    }
    Json::Object(object)
}

/// Writes a file that the user has named.
pub(super) fn write_file(file: &Path, text: &str) -> Result<(), CliError> {
    std::fs::write(file, text).map_err(CliError::because(format!(
        "{} cannot be written",
        file.display()
    )))
}

/// Returns the exit code for what went well, or not.
pub(super) fn exit(is_well: bool) -> ExitCode {
    match is_well {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Prints warnings to stderr.
pub(super) fn warn(warnings: impl IntoIterator<Item = impl Display>) {
    for warning in warnings {
        tell(&format!("taskie: {warning}"));
    }
}

/// Prints a line to stderr.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
