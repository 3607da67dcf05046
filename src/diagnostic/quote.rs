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

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_line_is_read_as_it_was_quoted() {
        let given = ["--model", "", "it's", "a b\t", r"\"];
        let line: Vec<String> = given.iter().map(|word| quoted(word)).collect();
        let line = line[..3].join(" ") + "  'a b\t' " + &line[4];
        assert_eq!(shlex::split(&line).as_deref(), Some(&given.map(str::to_owned)[..]));
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
