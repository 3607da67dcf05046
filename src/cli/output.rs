//! What commands print, outside a page.

use std::io::Write as _;

use crate::host::events::REVIEWER;

/// True in a reviewer's session, which changes no state; says so.
pub(crate) fn is_reviewer() -> bool {
    let is_reviewer = std::env::var_os(REVIEWER).is_some();
    if is_reviewer {
        say("taskie: this is a reviewer's session, which changes no state: nothing was done.");
    }
    is_reviewer
}

/// A line on stdout; a reader that has gone away is no error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// A line on stderr.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
