//! Whether the agent that drives an instance is at work, as far as this machine knows: hosts report only that an agent
//! stops, and the agent's own commands show that it has begun again.

use super::facts::RUN;
use super::journal::Line;
use crate::chart::Chart;
use crate::host::events::{is_event, is_stop};

/// What the journal shows of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AtWork {
    /// It was not sent back by its last stop, and has not run a command since then.
    pub(crate) has_stopped: bool,
    /// A command has ended a cycle since then. That is the user's: what comes next waits until an agent is asked to go on,
    /// unless its next stop goes on by itself.
    pub(crate) is_cut_short: bool,
}

impl AtWork {
    /// Returns what the journal's `lines`, oldest first, show of the agent of these sessions.
    pub(crate) fn of(chart: &Chart, lines: &[Line], drivers: &[String]) -> Self {
        let ends_cycle = |line: &Line| match line {
            Line::Decision(decided) => {
                decided.event.starts_with(RUN)
                    && decided.fired().any(|rule| chart.advances(&rule.rule))
            }
            Line::Review(_) | Line::Gate(_) => false,
        };
        let has_stopped = |line: &Line| match line {
            _ if ends_cycle(line) => None,
            Line::Decision(decided) => {
                let session = decided.session.as_ref();
                let is_drivers = session.is_some_and(|session| drivers.contains(session));
                match decided.event.as_str() {
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
        };
        let sign = lines.iter().rposition(|line| has_stopped(line).is_some());
        let since = sign.map_or(lines, |at| lines.get(at..).unwrap_or_default());
        Self {
            has_stopped: since.first().and_then(has_stopped).unwrap_or(true),
            is_cut_short: since.iter().any(ends_cycle),
        }
    }
}
