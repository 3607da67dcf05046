//! Patterns of lines: `- **Status**: {status}` matches a line of Markdown.
//!
//! A hole spans everything, also a `/`. A `*` is emphasis, and emphasis does not count: the line may have it, lack it, or
//! have it elsewhere between the words (`- **Status:** done`).

use super::hole::{Grammar, Row};

/// A parsed pattern. The whitespace around a line does not count.
pub type LinePattern = Row<Emphasis>;

/// The signs of emphasis, as the pattern has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emphasis(String);

impl Grammar for Emphasis {
    fn wild(source: &str) -> Option<(Self, &str)> {
        let rest = source.trim_start_matches('*');
        let signs = &source[..source.len() - rest.len()];
        (!signs.is_empty()).then(|| (Self(signs.to_owned()), rest))
    }

    fn leaves(&self, input: &str, mut fits: impl FnMut(&str) -> bool) -> bool {
        fits(input.trim_start_matches('*'))
    }

    fn after<'i>(text: &str, input: &'i str) -> Option<&'i str> {
        text.chars().try_fold(input, |input, sign| {
            let after = input.strip_prefix(sign);
            after.or_else(|| input.trim_start_matches('*').strip_prefix(sign))
        })
    }

    fn is_text(_: u8) -> bool {
        true
    }

    fn trimmed(input: &str) -> &str {
        input.trim()
    }

    fn rendered(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::Capture;
    use super::*;

    #[test]
    fn lines_match_as_a_whole() {
        let status = "- **Status**: {status}";
        let commands = "- **Must-run commands**: {commands}";
        let cases: &[(&str, &str, Option<&str>)] = &[
            (status, "- **Status**: done", Some("done")),
            (status, "  - Status: done ", Some("done")),
            (status, "- **Status:** done", Some("done")),
            (status, "- **Status**: **done**", Some("**done**")),
            (status, "- **Status**: in-progress, see src/x.rs", Some("in-progress, see src/x.rs")),
            (status, "- HTTP Status: 404", None),
            (status, "- **Status of it**: done", None),
            (status, "- **Status**:", None),
            (commands, "- **Must-run commands**: `./check.sh`", Some("`./check.sh`")),
            (
                commands,
                "- **Must-run commands**: `go test ./...`, `a/b *.c`",
                Some("`go test ./...`, `a/b *.c`"),
            ),
            ("## {title}", "## Overview / goals", Some("Overview / goals")),
            ("## {title}", "### Overview", None),
            ("{x}/{y}", "a/b/c", Some("a/b c")),
            ("**/{x}", "/a", Some("a")),
            ("- **{n:int}**: {x:a|b}", "- 7: b", Some("7 b")),
            ("- **{n:int}**: {x:a|b}", "- 07: b", None),
            ("ü*{x}", "ü*é", Some("é")),
        ];
        for (pattern, line, expected) in cases {
            let pattern = LinePattern::parse(pattern).unwrap();
            let found = pattern.matches(line).map(|captures| {
                let captures = captures.iter().map(|(_, capture)| match capture {
                    Capture::Text(text) => text.clone(),
                    Capture::Integer(number) => number.to_string(),
                });
                captures.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found.as_deref(), *expected, "{line}");
        }
    }
}
