//! What a hook prints: its answer on stdout, everything else on stderr.

use std::io::Write as _;

use crate::text::shown_lines;

/// Prints the answer; returns false if the host did not get it.
pub(super) fn print(answer: &str) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(answer.as_bytes()).and_then(|()| out.flush()).is_ok()
}

/// Prints a line to stderr. It is not an error if the host does not read it.
pub(super) fn tell(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "taskie: {}", shown_lines(line));
}
