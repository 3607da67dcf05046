//! What an agent asks the user in its last message, which ends no loop: it is often only polite.

use crate::text::plain_line;

/// The most characters that the user reads of it.
const LENGTH: usize = 300;

/// Returns the last paragraph of a message if it asks something: a sentence ends with a question mark.
pub fn asked(message: &str) -> Option<String> {
    let lines: Vec<&str> = message.trim_end().lines().collect();
    let start = lines.iter().rposition(|line| line.trim().is_empty()).map_or(0, |at| at + 1);
    let text = lines[start..].join("\n");
    let is_question = text.split_whitespace().any(|word| {
        let word = word.trim_end_matches(['*', '_', '"', '\'', ')', ']', '”', '’', '»']);
        let before = word.trim_end_matches(['?', '？', '؟']);
        before.len() < word.len() && !before.is_empty()
    });
    is_question.then(|| plain_line(&text, LENGTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_the_user() {
        for message in [
            "Shall the new table replace the old one? I need your answer.",
            "Done.\n\nShould I use `foo`?\n",
            "Two ways:\n\n- **Keep it?**\n- Drop it.",
            "(Really?)",
        ] {
            let last = message.rsplit("\n\n").next().unwrap_or_default();
            assert_eq!(asked(message), Some(plain_line(last, LENGTH)), "{message}");
        }
        for message in [
            "",
            "Done.",
            "Which one?\n\nI took the first.",
            "See https://example.invalid/?a=b, and `name?`: both work.",
            "`a ? b : c` is gone.",
        ] {
            assert_eq!(asked(message), None, "{message}");
        }
    }
}
