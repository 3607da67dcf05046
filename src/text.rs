//! Makes text from outside safe to show. A file name, a table cell or the output of a program can contain characters
//! that move the cursor, change the writing direction, or are visible to an agent but not to a person.

use std::borrow::Cow;

use anstream::adapter::strip_str;
use serde_json::Value as Json;

/// Returns whether a character is invisible or changes the text around it: what Unicode calls default ignorable, and its
/// controls. Two of the variation selectors are none: they say whether a sign is drawn as text or as a picture.
pub fn is_harmful(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns whether a text has ASCII's visible characters only, as most names have. This is the fast answer.
fn is_simple(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns the text with every harmful character escaped, including line ends.
pub fn shown(text: &str) -> Cow<'_, str> {
    if is_simple(text) || !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match is_harmful(char) {
            true => shown.extend(char.escape_default()),
            false => shown.push(char),
        }
    }
    Cow::Owned(shown)
}

/// Returns the same for a text of several lines, which keeps its line ends; those of Windows become plain ones.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    shown_but(text, |_| None)
}

/// Returns the same for a text in which our own pages and reports have set styles. A style stays, from wherever it is, because
/// none of those that stay can hide a text.
pub fn styled_lines(text: &str) -> Cow<'_, str> {
    shown_but(text, style)
}

/// Returns a JSON text with the same value in which every harmful character is an escape.
pub fn shown_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        // Outside strings, a JSON text has only spaces and these.
        match is_harmful(char) && !matches!(char, '\n' | '\r' | '\t') {
            true => {
                let units = char.encode_utf16(&mut [0; 2]).to_vec();
                shown.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
            false => shown.push(char),
        }
    }
    Cow::Owned(shown)
}

/// Escapes every harmful character, except line ends, tabs, and what `kept` returns the length of.
fn shown_but(text: &str, kept: impl Fn(&str) -> Option<usize>) -> Cow<'_, str> {
    let is_kept = |char| matches!(char, '\n' | '\t') || !is_harmful(char);
    if is_simple(text) || text.chars().all(is_kept) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let mut length = char.len_utf8();
        if let Some(kept) = kept(rest) {
            length = kept;
            shown.push_str(&rest[..length]);
        } else if is_kept(char) {
            shown.push(char);
        } else if !rest.starts_with("\r\n") {
            shown.extend(char.escape_default());
        }
        rest = &rest[length..];
    }
    Cow::Owned(shown)
}

/// Returns the length of the escape sequence that a text begins with, if it sets a style or ends one: bold, dim, italic,
/// underlined, or a color that differs from the background.
fn style(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find('m')?;
    let is_visible = |parameter: &str| {
        let parameter = parameter.parse::<u8>();
        parameter.is_ok_and(|parameter| matches!(parameter, 0..=4 | 22..=24 | 31..=36 | 39))
    };
    let is_style = parameters[..end].split(';').all(is_visible);
    is_style.then_some("\u{1b}[".len() + end + 1)
}

/// Returns a line without escape sequences, harmful characters and surrounding whitespace; a tab becomes a space.
pub fn plain(line: &str) -> String {
    let text = strip_str(line).to_string().replace('\t', " ");
    let text: String = text.chars().filter(|char| !is_harmful(*char)).collect();
    text.trim().to_owned()
}

/// Returns the same for a text of any number of lines, as one line that is cut at this number of characters.
pub fn plain_line(text: &str, most: usize) -> String {
    cut(plain(&text.split_whitespace().collect::<Vec<_>>().join(" ")), most)
}

/// Returns a text that is cut at this number of characters.
pub fn cut(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns a text that is cut at this number of bytes: an argument of a program has an end.
pub fn cut_bytes(text: String, most: usize) -> String {
    let ends = text.char_indices().map(|(start, char)| start + char.len_utf8());
    match ends.take_while(|end| *end <= most).last() {
        Some(end) if end < text.len() => format!("{}…", &text[..end]),
        _ => text,
    }
}

/// Returns a value for a person: a string without quotes, a hash by its start, everything else as JSON.
pub fn in_words(value: &Json) -> String {
    let is_hash = |text: &&str| {
        matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let text = value.as_str();
    match text.map(|text| text.get(..8).filter(|_| is_hash(&text)).unwrap_or(text)) {
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

/// Returns a sentence that begins with a capital letter.
pub fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    first.chain(rest).collect()
}

/// Returns what ends the sentence `text`: nothing if it is a question, or has its end already.
pub fn full_stop(text: &str) -> &'static str {
    match text.ends_with(['?', '!', '.', '…']) {
        true => "",
        false => ".",
    }
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
            ("x\u{e0041}\u{200b}", r"x\u{e0041}\u{200b}", r"x\u{e0041}\u{200b}", "x???????"),
        ];
        // Each hides a letter, or is one that nobody sees. The last two choose how the sign before them is drawn.
        let unseen = "\u{34f}\u{115f}\u{17b4}\u{180b}\u{3164}\u{fe00}\u{fe0d}\u{ffa0}\u{13430}\u{1bca0}\u{1d173}";
        assert!(unseen.chars().all(is_harmful));
        assert!(!"\u{fe0e}\u{fe0f}".contains(is_harmful));
        for (text, line, lines, mask) in cases {
            assert_eq!((&*shown(text), &*shown_lines(text)), (line, lines));
            assert_eq!(masked(text), mask);
        }
    }

    /// (text, shown without styles, shown with them)
    #[test]
    fn only_styles_that_hide_nothing_stay() {
        let cases = [
            ("a\r\nb\rc", "a\nb\\rc", "a\nb\\rc"),
            ("\u{1b}[1;31mx\u{1b}[0m", r"\u{1b}[1;31mx\u{1b}[0m", "\u{1b}[1;31mx\u{1b}[0m"),
            ("\u{1b}[8mx", r"\u{1b}[8mx", r"\u{1b}[8mx"),
            ("\u{1b}[0;30mx", r"\u{1b}[0;30mx", r"\u{1b}[0;30mx"),
            ("\u{1b}[2J", r"\u{1b}[2J", r"\u{1b}[2J"),
            ("\u{1b}[38;5;0m", r"\u{1b}[38;5;0m", r"\u{1b}[38;5;0m"),
            ("\u{1b}[", r"\u{1b}[", r"\u{1b}["),
        ];
        for (text, plain, styled) in cases {
            assert_eq!((&*shown_lines(text), &*styled_lines(text)), (plain, styled));
        }
    }

    #[test]
    fn harmful_characters_in_json_keep_its_value() {
        let value = Json::from("a\u{9b}\u{202e}\u{e0041}\u{7f}\n");
        let text = value.to_string();
        let shown = shown_json(&text);
        assert_eq!(shown, r#""a\u009b\u202e\udb40\udc41\u007f\n""#);
        assert_eq!(serde_json::from_str::<Json>(&shown).unwrap(), value);
    }
}
