//! `message-too-long`: a text for the user or the agent that can be longer than the host shows.

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::expr::syntax::{filters, literal_length};

/// The host truncates longer texts.
const LIMIT: usize = 10_000;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (path, text) in subject.said() {
        // A text contains what its lets contain.
        let lets = subject
            .chart
            .lets
            .iter()
            .filter(|(name, _)| mentions(&text.0, name))
            .map(|(_, expr)| &expr.0);
        let joined = std::iter::once(&text.0)
            .chain(lets)
            .any(|source| filters(source).iter().any(|name| name == "join"));
        if joined {
            let message =
                "a list joined in a message can exceed the host's limit of 10,000 characters"
                    .to_owned();
            let help = "use `brief`, which joins the list and cuts it off with \"and N more\"";
            flaws.push(subject.flaw(Code::MessageTooLong, &path, message, help));
        }
        let template = |name: &str| subject.chart.template(name).ok();
        let length = literal_length(&text.0, &template);
        if length > LIMIT {
            let message = format!(
                "this message has {length} characters before its holes are filled, but the host shows only 10,000"
            );
            let help = "name a file to read instead of its text";
            flaws.push(subject.flaw(Code::MessageTooLong, &path, message, help));
        }
    }
    flaws
}

fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let is_word = |sign: Option<char>| {
            sign.is_some_and(|sign| sign.is_alphanumeric() || sign == '_' || sign == '.')
        };
        !is_word(text[..at].chars().next_back()) && !is_word(text[at + name.len()..].chars().next())
    })
}
