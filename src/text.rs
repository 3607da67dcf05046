//! Makes text from outside safe to show. A file name, a table cell or the output of a program can contain characters
//! that move the cursor, change the writing direction, or are visible to an agent but not to a person.

use std::borrow::Cow;

use anstream::adapter::strip_str;
use serde_json::Value as Json;

/// Returns whether a character is invisible or changes the text around it.
pub fn is_harmful(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns the text with every harmful character escaped, including line ends.
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, is_harmful)
}

/// Returns the same for a text of several lines, which keeps its line ends.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |char| {
        is_harmful(char) && !matches!(char, '\n' | '\t')
    })
}

/// Returns a line without escape sequences, harmful characters and surrounding whitespace; a tab becomes a space.
pub fn plain(line: &str) -> String {
    let text = strip_str(line).to_string().replace('\t', " ");
    let text: String = text.chars().filter(|char| !is_harmful(*char)).collect();
    text.trim().to_owned()
}

/// Returns the same for a text of any number of lines, as one line that is cut at so many characters.
pub fn plain_line(text: &str, most: usize) -> String {
    cut(
        plain(&text.split_whitespace().collect::<Vec<_>>().join(" ")),
        most,
    )
}

/// Returns a text cut at so many characters.
pub fn cut(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns a value for a person: a string without quotes, everything else as JSON.
pub fn in_words(value: &Json) -> String {
    match value.as_str() {
        Some(text) => shown(text).into_owned(),
        None => shown(&value.to_string()).into_owned(),
    }
}

/// Returns a line with a `?` for each byte of a harmful character, so that every other byte stays where it is.
pub fn masked(line: &str) -> String {
    let mask = |char: char| match char {
        '\t' => "\t".to_owned(),
        '\r' => " ".to_owned(),
        _ if is_harmful(char) => "?".repeat(char.len_utf8()),
        _ => char.to_string(),
    };
    line.chars().map(mask).collect()
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match is_escaped(char) {
            true => shown.extend(char.escape_default()),
            false => shown.push(char),
        }
    }
    Cow::Owned(shown)
}

/// Returns a text for XML and HTML.
pub fn markup(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Returns what ends the sentence `text`: nothing if it ends with a question.
pub fn full_stop(text: &str) -> &'static str {
    if text.ends_with('?') { "" } else { "." }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (text, on one line, on several lines, masked)
    #[test]
    fn invisible_characters() {
        let cases = [
            ("a\tä b\n", r"a\tä b\n", "a\tä b\n", "a\tä b?"),
            ("\u{1b}[31m", r"\u{1b}[31m", r"\u{1b}[31m", "?[31m"),
            ("\u{7f}\u{9b}", r"\u{7f}\u{9b}", r"\u{7f}\u{9b}", "???"),
            ("a\u{202e}b\r", r"a\u{202e}b\r", r"a\u{202e}b\r", "a???b "),
            (
                "x\u{e0041}\u{200b}",
                r"x\u{e0041}\u{200b}",
                r"x\u{e0041}\u{200b}",
                "x???????",
            ),
        ];
        for (text, line, lines, mask) in cases {
            assert_eq!((&*shown(text), &*shown_lines(text)), (line, lines));
            assert_eq!(masked(text), mask);
        }
    }
}
