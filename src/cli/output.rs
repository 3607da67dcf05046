//! What commands print, outside a page.

use std::io::{IsTerminal as _, Write as _};

use serde_json::{Value as Json, json};

use crate::host::events::REVIEWER;

/// Returns true in a reviewer's session, which changes no state, and says so.
pub(crate) fn is_reviewer() -> bool {
    let is_reviewer = std::env::var_os(REVIEWER).is_some();
    if is_reviewer {
        say("taskie: this is a reviewer's session, which changes no state: nothing was done.");
    }
    is_reviewer
}

/// Returns the fields of a command's event: whether a person typed it.
pub(super) fn typed() -> Json {
    json!({ "terminal": std::io::stdout().is_terminal() })
}

/// Prints a line to stdout. A reader that is gone is not an error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Prints a line to stderr.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
