//! `lookalike`: a word that is used once, and that is one slip away from another word of the chart.
//!
//! This is for words that nothing else checks: literals, parts of file names, names that the user types. A literal that
//! stands beside a field of the event is compared with the documented values of the field.

use std::ops::Range;

use super::subject::Subject;
use super::words::{Toml, places};
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::is_slip;
use crate::host::events::EVENT_WORDS;

/// Keys whose strings are texts for people, or arguments of other programs.
const TEXTS: &[&str] =
    &["about", "argv", "block", "by", "else", "message", "say", "stage", "streak", "text"];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let text = subject.text;
    let toml = Toml::of(text);
    let keys = toml.keys.into_iter().map(|(_, place)| place);
    let parts = toml.strings.into_iter().flat_map(|(path, place)| {
        let is_text_key = |key: &String| TEXTS.iter().any(|text| key == text || is_slip(key, text));
        let is_text = path.iter().any(is_text_key);
        let string = &text[place.clone()];
        let is_name = !string.contains(char::is_whitespace) && !string.contains("{{");
        let parts: Vec<_> = match is_name {
            true if is_text => Vec::new(),
            true => vec![place],
            // Of an expression or a text with expressions, the literals of one word.
            false => {
                let is_of_word = |sign: char| sign.is_alphanumeric() || "_-".contains(sign);
                let is_word = |part: &Range<usize>| text[part.clone()].chars().all(is_of_word);
                literals(text, place).filter(is_word).collect()
            }
        };
        parts
    });
    let words = keys.chain(parts).flat_map(|part| {
        let words = places(&text[part.clone()]);
        words.into_iter().map(move |word| part.start + word.start..part.start + word.end)
    });
    let flaw = |place: Range<usize>| {
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

/// Returns the places of the quoted literals in an expression.
fn literals(text: &str, expression: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = expression.start;
    let parts = text[expression].split('\'').map(move |part| {
        at += part.len() + 1;
        at - 1 - part.len()..at - 1
    });
    parts.skip(1).step_by(2)
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
            for span in literals(text, place.clone()) {
                let part = &text[span.clone()];
                let meant = words.iter().find(|word| is_slip(part, word));
                if let Some(meant) = meant.filter(|_| !words.contains(&part)) {
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
