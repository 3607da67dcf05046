//! `misleading-text`: a text that says `taskie NAME`, `taskie run NAME` or `taskie enter NAME`, which the chart does not have.

use std::ops::Range;
use std::sync::Arc;

use super::subject::Subject;
use crate::chart::choice::OWN;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::{Flaw, SourceFile};
use crate::diagnostic::suggest::hint;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for place in subject.document.strings() {
        for (flaw, at) in unknown(subject, &subject.document.text[place.clone()]) {
            flaws.push(flaw.at(Some(place.start + at.start..place.start + at.end)));
        }
    }
    for name in subject.chart.templates.own_names() {
        let text = subject.chart.template(&name).unwrap_or_default();
        let unknown = unknown(subject, &text);
        let file = Arc::new(SourceFile { name, text });
        for (flaw, at) in unknown {
            flaws.push(Flaw { file: Some(Arc::clone(&file)), ..flaw.at(Some(at)) });
        }
    }
    flaws
}

/// Returns the unknown names in a text, and where they stand. Only what is quoted as a command is one.
fn unknown(subject: &Subject<'_>, text: &str) -> Vec<(Flaw, Range<usize>)> {
    let commands: Vec<&str> = subject.chart.commands.keys().map(String::as_str).collect();
    let phases: Vec<&str> = subject.chart.phases.keys().map(String::as_str).collect();
    let calls = [
        ("`taskie enter ", "phase", phases),
        ("`taskie run ", "command", commands.clone()),
        ("`taskie ", "command", [commands.as_slice(), OWN].concat()),
    ];
    let mut found = Vec::new();
    for (call, what, known) in calls {
        for (start, _) in text.match_indices(call) {
            let start = start + call.len();
            let name = text[start..].split(['`', ' ', '\n']).next().unwrap_or_default();
            // An option, a placeholder such as NAME, or a name with a hole.
            let is_name = name.starts_with(char::is_lowercase) && !name.contains(['{', '<']);
            if is_name && !known.contains(&name) {
                let flaw = Flaw::new(Code::MisleadingText, format!("unknown {what} `{name}`"));
                let help = hint(name, known.iter().copied());
                found.push((flaw.help(help), start..start + name.len()));
            }
        }
    }
    found
}
