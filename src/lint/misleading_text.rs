//! `misleading-text`: a text that says `taskie NAME`, `taskie run NAME` or `taskie enter NAME`, which the chart does not have.

use std::ops::Range;
use std::sync::Arc;

use super::subject::Subject;
use crate::chart::choice::{CHARTS, Embedded, OWN};
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::{Flaw, SourceFile};
use crate::diagnostic::suggest::hint;
use crate::diagnostic::toml::Document;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let text = subject.text;
    let strings = Document::parse(text).strings().into_iter();
    let own = strings.flat_map(|place| {
        let unknown = unknown(subject, &text[place.clone()]).into_iter();
        unknown.map(move |(flaw, at)| flaw.at(Some(place.start + at.start..place.start + at.end)))
    });
    let templates = &subject.chart.templates;
    let of_templates = templates.own_names().into_iter().flat_map(|name| {
        let text = subject.chart.template(&name).unwrap_or_default();
        let unknown = unknown(subject, &text);
        let file = Arc::new(SourceFile { name, text });
        let flaws = unknown
            .into_iter()
            .map(move |(flaw, at)| Flaw { file: Some(Arc::clone(&file)), ..flaw.at(Some(at)) });
        flaws.collect::<Vec<_>>()
    });
    own.chain(of_templates).collect()
}

/// Returns the unknown names in a text, and where they stand. Only what is quoted as a command is one.
fn unknown(subject: &Subject<'_>, text: &str) -> Vec<(Flaw, Range<usize>)> {
    let chart = subject.chart;
    let calls = text.match_indices("`taskie ").map(|(at, _)| at + 1);
    let found = calls.filter_map(|start| {
        let call = text[start..].split(['`', '\n']).next()?;
        // Another workflow has its own commands and phases.
        let is_of = |other: &Embedded| call.contains(&format!(" --chart {} ", other.id));
        if CHARTS.iter().any(|other| other.id != chart.id && is_of(other)) {
            return None;
        }
        let mut words = words_without_options(call).skip(1);
        let commands = || chart.commands.keys().map(String::as_str);
        let first = words.next()?;
        let (what, known, (at, name)): (_, Vec<&str>, _) = match first.1 {
            "run" => ("command", commands().collect(), words.next()?),
            "enter" => {
                let phases = chart.phases.keys().map(String::as_str);
                ("phase", phases.collect(), words.next()?)
            }
            _ => {
                let known = commands().chain(OWN.iter().copied());
                ("command", known.collect(), first)
            }
        };
        // A placeholder such as NAME, or a name with a hole.
        let is_name = name.starts_with(char::is_lowercase) && !name.contains(['{', '<']);
        if !is_name || known.contains(&name) {
            return None;
        }
        let flaw = Flaw::new(Code::MisleadingText, format!("unknown {what} `{name}`"));
        let place = start + at..start + at + name.len();
        Some((flaw.help(hint(name, known.iter().copied())), place))
    });
    found.collect()
}

/// Returns the words of a command line and where they stand, without options and the values that may follow them.
fn words_without_options(call: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_value = false;
    let mut at = 0;
    call.split_inclusive(' ').filter_map(move |part| {
        let (start, word) = (at, part.trim_end());
        at += part.len();
        let is_option = word.starts_with('-');
        let is_word = !is_option && !is_value && !word.is_empty();
        // Only an option of a value has no `=` in front of the verb or the name.
        is_value = is_option && !word.contains('=');
        is_word.then_some((start, word))
    })
}
