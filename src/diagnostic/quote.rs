//! Words of shell lines that a person can copy.

/// Returns a word as a shell line needs it: in quotes if it has signs that the shell would act on.
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
