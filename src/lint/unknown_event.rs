//! `unknown-event`: rules for an event that never comes.

use super::{Code, Subject};
use crate::chart::error::{Flaw, Step};
use crate::chart::suggest;
use crate::hook::protocol::EVENTS;

/// What rules can answer besides the host's events.
const OWN: [&str; 2] = ["enter", "next"];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let known = || EVENTS.iter().map(|(_, name)| *name).chain(OWN);
    let unknown = subject.chart.on.keys().filter(|event| known().all(|name| name != event.as_str()));
    unknown
        .map(|event| {
            let help = suggest(event, known()).map_or_else(
                || format!("known: {}", known().collect::<Vec<_>>().join(", ")),
                |name| format!("did you mean `{name}`?"),
            );
            let path = [Step::from("on"), Step::from(event)];
            subject.flaw(Code::UnknownEvent, &path, format!("there is no event `{event}`"), &help)
        })
        .collect()
}
