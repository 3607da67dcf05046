//! Command lines that are run without a shell: their words, and what in them only a shell understands.

use std::borrow::Cow;

/// Returns the words of a command line, split as a shell does. The error says why it cannot be run, and what to write.
pub(crate) fn words(line: &str) -> Result<Vec<String>, String> {
    let line = line.trim();
    let words = shlex::split(line).filter(|words| !words.is_empty());
    match for_a_shell(line) {
        Some(part) => {
            let quoted = shlex::try_quote(line).unwrap_or(Cow::Borrowed(line));
            Err(format!("`{part}` needs a shell: write `sh -c {quoted}`"))
        }
        None => words.ok_or_else(|| "it is empty, or a quote in it is not closed".to_owned()),
    }
}

/// Returns the first part of a line that a shell does not pass on as it is written: an operator, a variable, a pattern of
/// file names, a comment, an assignment before a command. In quotes, most of these are text.
fn for_a_shell(line: &str) -> Option<&str> {
    let first = line.split_whitespace().next().unwrap_or_default();
    if matches!(first, "!" | "{") || is_assignment(first) {
        return Some(first);
    }
    let mut quote = None;
    let mut last = ' ';
    let mut signs = line.char_indices();
    while let Some((at, sign)) = signs.next() {
        let rest = &line[at..];
        let word = rest.split_whitespace().next().unwrap_or_default();
        let begins = last.is_whitespace();
        last = sign;
        match (quote, sign) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                last = '\\';
                signs.next();
            }
            (_, '`') => return rest.get(..1),
            (_, '$') if is_variable(&rest[1..]) => {
                let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
                let name = rest[1..].find(|sign| !is_part(sign));
                let length = name.unwrap_or(rest.len() - 1);
                return rest.get(..1 + length.max(1));
            }
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(sign),
            (None, '&' | '|' | ';' | '<' | '>' | '(' | ')') => {
                let length = rest.len() - rest.trim_start_matches(['&', '|', '<', '>']).len();
                return rest.get(..length.max(1));
            }
            // A second line is a second command.
            (None, '\n') => return Some("\\n"),
            (None, '*' | '?') => return rest.get(..1),
            (None, '[') if word.contains(']') => return rest.get(..1),
            (None, '~' | '#') if begins => return rest.get(..1),
            (None, _) => {}
        }
    }
    None
}

/// Returns whether a shell replaces a `$` that is followed by this.
fn is_variable(rest: &str) -> bool {
    let next = rest.chars().next();
    next.is_some_and(|next| next.is_ascii_alphanumeric() || "_{(@*#?$!-".contains(next))
}

/// Returns whether a word sets a variable: `A=b`.
fn is_assignment(word: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(is_part) && !name.as_bytes()[0].is_ascii_digit()
    })
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn lines_that_run_without_a_shell() {
        let cases: &[(&str, &[&str])] = &[
            ("cargo test --quiet", &["cargo", "test", "--quiet"]),
            (" go test ./... ", &["go", "test", "./..."]),
            ("./check 'a && b' \"c | d\"", &["./check", "a && b", "c | d"]),
            ("sh -c 'echo $HOME > x; ls *'", &["sh", "-c", "echo $HOME > x; ls *"]),
            (
                r"find . -name \*.rs -exec cat {} \;",
                &["find", ".", "-name", "*.rs", "-exec", "cat", "{}", ";"],
            ),
            ("grep 'a$' \"b$\" c$ $", &["grep", "a$", "b$", "c$", "$"]),
            ("env A=b make X=y", &["env", "A=b", "make", "X=y"]),
            ("[ -f a~ ]", &["[", "-f", "a~", "]"]),
            ("npm run a#b 'ü & é'", &["npm", "run", "a#b", "ü & é"]),
        ];
        for (line, expected) in cases {
            let expected: Vec<String> = expected.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(words(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn lines_that_need_a_shell() {
        let cases = [
            ("a && b", "&&", "'a && b'"),
            ("a||b", "||", "'a||b'"),
            ("a | tail -3", "|", "'a | tail -3'"),
            ("a; b", ";", "'a; b'"),
            ("a &", "&", "'a &'"),
            ("a >out 2>&1", ">", "'a >out 2>&1'"),
            ("a <in", "<", "'a <in'"),
            ("(a)", "(", "'(a)'"),
            ("a $HOME/x", "$HOME", "'a $HOME/x'"),
            ("a \"${X}\"", "${", "'a \"${X}\"'"),
            ("a \"`b`\"", "`", "'a \"`b`\"'"),
            ("a $(b)", "$(", "'a $(b)'"),
            ("a *.rs", "*", "'a *.rs'"),
            ("a src/?.rs", "?", "'a src/?.rs'"),
            ("a [xy].rs", "[", "'a [xy].rs'"),
            ("ls ~/x", "~", "'ls ~/x'"),
            ("A=b make", "A=b", "'A=b make'"),
            ("! grep x y", "!", "'! grep x y'"),
            ("make # all", "#", "'make # all'"),
            ("echo 'it' | b", "|", "\"echo 'it' | b\""),
        ];
        for (line, part, quoted) in cases {
            let expected = format!("`{part}` needs a shell: write `sh -c {quoted}`");
            assert_eq!(words(line), Err(expected), "{line}");
        }
        assert!(words("a\nb").unwrap_err().starts_with(r"`\n` needs a shell"));
        for line in ["", " ", "a 'b", "a \"b", "a \\"] {
            let expected = "it is empty, or a quote in it is not closed";
            assert_eq!(words(line), Err(expected.to_owned()), "{line:?}");
        }
    }
}
