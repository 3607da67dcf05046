//! `misleading-text`: a text that says `taskie run NAME` or `taskie enter NAME`, which the chart does not have.

use std::ops::Range;
use std::sync::Arc;

use super::subject::Subject;
use super::words::Toml;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::{Flaw, SourceFile};
use crate::diagnostic::suggest::hint;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let text = subject.text;
    let strings = Toml::of(text).strings.into_iter();
    let own = strings.flat_map(|(_, place)| {
        let unknown = unknown(subject, &text[place.clone()]).into_iter();
        unknown.map(move |(flaw, at)| flaw.at(Some(place.start + at.start..place.start + at.end)))
    });
    let templates = &subject.chart.templates;
    let of_templates = templates.own_names().into_iter().flat_map(|name| {
        let text = subject.chart.template(&name).unwrap_or_default();
        let unknown = unknown(subject, &text);
        let file = Arc::new(SourceFile { name, text });
        let flaws = unknown.into_iter().map(move |(flaw, at)| Flaw {
            file: Some(Arc::clone(&file)),
            ..flaw.at(Some(at))
        });
        flaws.collect::<Vec<_>>()
    });
    own.chain(of_templates).collect()
}

/// The unknown names in a text, and where they stand. Only what is quoted as a command is one.
fn unknown(subject: &Subject<'_>, text: &str) -> Vec<(Flaw, Range<usize>)> {
    let chart = subject.chart;
    let commands: Vec<&str> = chart.commands.keys().map(String::as_str).collect();
    let phases: Vec<&str> = chart.phases.keys().map(String::as_str).collect();
    let kinds = [("`taskie run ", "command", commands), ("`taskie enter ", "phase", phases)];
    let found = kinds.into_iter().flat_map(|(call, what, known)| {
        let calls = text.match_indices(call).map(|(at, _)| at + call.len());
        calls.filter_map(move |start| {
            let is_of_name = |sign: char| sign.is_alphanumeric() || "_-".contains(sign);
            let rest = &text[start..];
            let end = rest.find(|sign| !is_of_name(sign)).unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            // An option, a placeholder such as NAME, or a name with a hole.
            let is_name = name.starts_with(|sign: char| sign.is_lowercase()) && !behind.starts_with('{');
            if !is_name || known.contains(&name) {
                return None;
            }
            let flaw = Flaw::new(Code::MisleadingText, format!("unknown {what} `{name}`"));
            Some((flaw.help(hint(name, known.iter().copied())), start..start + end))
        })
    });
    found.collect()
}
