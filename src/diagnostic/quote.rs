//! Words of shell lines that a person can copy.

/// Returns a word for a shell line, in quotes if it has characters that are special to the shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |sign: char| {
        sign.is_ascii_alphanumeric()
            || matches!(sign, '-' | '_' | '.' | '/' | '=' | ':' | ',' | '@')
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
