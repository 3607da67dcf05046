//! Whether the agent that drives an instance is at work, as far as this machine knows: hosts report only that an agent
//! stops, and the agent's own commands show that it has begun again.

use super::journal::{Line, RUN};
use crate::chart::Chart;
use crate::host::events::{is_event, is_stop};

/// Returns whether the agent of these sessions has stopped, by the journal's `lines`, oldest first. An agent at work is
/// one that was sent back by its last stop, or that has run a command since then. A command that ends a cycle is the user's:
/// what comes next waits until an agent is asked to go on.
pub(crate) fn has_stopped(chart: &Chart, lines: &[Line], drivers: &[String]) -> bool {
    let mut signs = lines.iter().rev().filter_map(|line| match line {
        Line::Decision(decided) => {
            let session = decided.session.as_ref();
            let is_drivers = session.is_some_and(|session| drivers.contains(session));
            let is_command = decided.event.starts_with(RUN);
            match decided.event.as_str() {
                _ if is_command && decided.fired().any(|rule| chart.advances(&rule.rule)) => {
                    Some(true)
                }
                _ if !is_drivers => None,
                event if is_stop(event) => Some(decided.answer != "block"),
                "SessionEnd" => Some(true),
                "UserPromptSubmit" => Some(false),
                event if is_event(event) => None,
                _ => Some(false),
            }
        }
        // A decision follows, unless the hook was killed.
        Line::Review(_) | Line::Gate(_) => Some(true),
    });
    signs.next().unwrap_or(true)
}
