//! Quotes words so that a person can copy them into a shell.

use crate::text::is_harmful;

/// Returns a word for a shell line, in quotes if it has characters that are special to the shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |sign: char| {
        sign.is_ascii_alphanumeric()
            || matches!(sign, '-' | '_' | '.' | '/' | '=' | ':' | ',' | '@')
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.contains(is_harmful) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let escaped = |sign: char| match sign {
        '\'' | '\\' => format!("\\{sign}"),
        _ if is_harmful(sign) => format!("\\U{:08x}", u32::from(sign)),
        _ => sign.to_string(),
    };
    format!("$'{}'", word.chars().map(escaped).collect::<String>())
}

/// Returns the words of a shell line that has only single quotes; `None` if a quote is not closed.
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match signs.next()? {
                        '\'' => break,
                        sign => word.push(sign),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(signs.next()?),
            sign if sign.is_whitespace() => words.extend(word.take()),
            sign => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::{quoted, words};

    #[test]
    fn a_line_is_read_as_it_was_quoted() {
        let given = ["--model", "", "it's", "a b\t", r"\"];
        let line: Vec<String> = given.iter().map(|word| quoted(word)).collect();
        let line = line[..3].join(" ") + "  'a b\t' " + &line[4];
        assert_eq!(words(&line).as_deref(), Some(&given.map(str::to_owned)[..]));
        assert_eq!(words("it's"), None);
    }

    #[test]
    fn words_of_a_shell_line() {
        for (word, expected) in [
            ("--model", "--model"),
            ("", "''"),
            ("it's", r"'it'\''s'"),
            ("a\n'\u{1b}\\", r"$'a\U0000000a\'\U0000001b\\'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
