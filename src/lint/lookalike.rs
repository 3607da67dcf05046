//! `lookalike`: a word that is used once, and that is one slip away from another word of the chart.
//!
//! This is for words that nothing else checks: literals, parts of file names, names that the user types. A literal that
//! stands beside a field of the event is compared with the documented values of the field.

use super::subject::Subject;
use super::words::{Toml, places};
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::is_slip;
use crate::host::events::EVENT_WORDS;

/// Keys whose strings are texts for people, or arguments of other programs.
const TEXTS: &[&str] = &[
    "about", "argv", "block", "by", "else", "message", "say", "stage", "streak", "text",
];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let text = subject.text;
    let toml = Toml::of(text);
    let keys = toml.keys.into_iter().map(|(_, place)| place);
    let literals = toml.strings.into_iter().flat_map(|(path, place)| {
        let is_text_key = |key: &String| TEXTS.iter().any(|text| key == text || is_slip(key, text));
        let is_text = path.iter().any(is_text_key);
        let string = &text[place.clone()];
        let is_name = !string.contains(char::is_whitespace) && !string.contains("{{");
        let parts: Vec<_> = match is_name {
            true if is_text => Vec::new(),
            true => vec![place],
            // Of an expression or a text with expressions, the literals of one word.
            false => {
                let mut at = place.start;
                let parts = string.split('\'').map(|part| {
                    at += part.len() + 1;
                    at - 1 - part.len()..at - 1
                });
                let is_word = |(index, part): &(usize, std::ops::Range<usize>)| {
                    let is_of_word = |sign: char| sign.is_alphanumeric() || "_-".contains(sign);
                    index % 2 == 1 && text[part.clone()].chars().all(is_of_word)
                };
                parts
                    .enumerate()
                    .filter(is_word)
                    .map(|(_, part)| part)
                    .collect()
            }
        };
        parts
    });
    let words = keys.chain(literals).flat_map(|part| {
        let words = places(&text[part.clone()]);
        words
            .into_iter()
            .map(move |word| part.start + word.start..part.start + word.end)
    });
    let flaw = |place: std::ops::Range<usize>| {
        let word = &text[place.clone()];
        let (meant, count) = subject.words.meant_by(word)?;
        let message = format!("`{word}` is used only here, and `{meant}` {count} times");
        let flaw = Flaw::new(Code::Lookalike, message).help(format!("did you mean `{meant}`?"));
        Some(flaw.at(Some(place)))
    };
    let mut flaws: Vec<Flaw> = words.filter_map(flaw).collect();
    for flaw in words_of_events(text) {
        if !flaws.iter().any(|known| known.span == flaw.span) {
            flaws.push(flaw);
        }
    }
    flaws
}

/// Returns the literals that stand beside a field of the event and are one slip away from a documented word of it.
fn words_of_events(text: &str) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (_, place) in Toml::of(text).strings {
        let string = &text[place.clone()];
        for (field, words) in EVENT_WORDS {
            if !string.contains(&format!("event.{field}")) {
                continue;
            }
            let mut at = place.start;
            for (index, part) in string.split('\'').enumerate() {
                let span = at..at + part.len();
                at = span.end + 1;
                let meant = words.iter().find(|word| is_slip(part, word));
                if let (1, Some(meant)) = (index % 2, meant.filter(|_| !words.contains(&part))) {
                    let message = format!("`{part}` is no documented value of `event.{field}`");
                    let flaw = Flaw::new(Code::Lookalike, message);
                    let help = format!("did you mean `{meant}`?");
                    flaws.push(flaw.help(help).at(Some(span)));
                }
            }
        }
    }
    flaws
}
