//! Patterns of file names: one pattern renders a name (`task-{id}.md` with id 3) and matches one.
//!
//! `*` is any text and `**/` any folders; neither `*` nor a hole spans a `/`. We don't use a glob crate, because this
//! runs for every file at every stop, and because no glob crate renders names.

use super::hole::{Grammar, HoleKind, Piece, Row, lengths};

/// A parsed pattern.
pub type Pattern = Row<Wildcard>;

/// What a `*` in a pattern of names can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wildcard {
    /// `*`.
    Star,
    /// `**/`.
    Folders,
}

impl Grammar for Wildcard {
    fn wild(source: &str) -> Option<(Self, &str)> {
        let folders = source.strip_prefix("**/").map(|rest| (Self::Folders, rest));
        folders.or_else(|| Some((Self::Star, source.strip_prefix('*')?)))
    }

    fn leaves(&self, input: &str, mut fits: impl FnMut(&str) -> bool) -> bool {
        match self {
            Self::Star => lengths(input, Self::is_text).any(|length| fits(&input[length..])),
            Self::Folders => {
                fits(input)
                    || (input.match_indices('/')).any(|(at, _)| at > 0 && fits(&input[at + 1..]))
            }
        }
    }

    fn after<'i>(text: &str, input: &'i str) -> Option<&'i str> {
        input.strip_prefix(text)
    }

    fn is_text(byte: u8) -> bool {
        byte != b'/'
    }

    fn trimmed(input: &str) -> &str {
        input
    }

    fn rendered(&self) -> &str {
        match self {
            Self::Star => "*",
            Self::Folders => "**/",
        }
    }
}

impl Pattern {
    /// Returns the only name that the pattern matches; `None` if it has a hole or a wildcard.
    pub fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns whether the pattern matches files in subfolders.
    pub fn is_nested(&self) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Wild(Wildcard::Folders) => true,
            Piece::Literal(text) => text.contains('/'),
            _ => false,
        })
    }

    /// Returns whether the pattern has a `*`, and so cannot render a name.
    pub fn has_wildcard(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Wild(_)))
    }

    /// Returns a pattern for the names that this one renders when `inner` fills the hole `hole`: the hole `number` is
    /// a number, and every other hole is a slug.
    pub fn recognizing(&self, hole: &str, inner: &Self, number: &str) -> Self {
        let pieces = self.pieces.iter().flat_map(|piece| match piece {
            Piece::Hole { name, .. } if name == hole => inner.pieces.clone(),
            other => vec![other.clone()],
        });
        let pieces = pieces.map(|piece| match piece {
            Piece::Hole { name, .. } if name == number => {
                Piece::Hole { name, kind: HoleKind::Integer }
            }
            Piece::Hole { name, kind: HoleKind::Text } => {
                Piece::Hole { name, kind: HoleKind::Slug }
            }
            other => other,
        });
        Self { pieces: pieces.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Capture;
    use super::*;

    fn matched(pattern: &str, name: &str) -> Option<String> {
        let pattern = Pattern::parse(pattern).unwrap();
        pattern.matches(name).map(|captures| {
            captures
                .iter()
                .map(|(hole, capture)| match capture {
                    Capture::Text(text) => format!("{hole}={text}"),
                    Capture::Integer(number) => format!("{hole}:{number}"),
                })
                .collect::<Vec<_>>()
                .join(" ")
        })
    }

    #[test]
    fn names_match_as_a_whole() {
        let cases: &[(&str, &str, Option<&str>)] = &[
            ("*.md", "plan.md", Some("")),
            ("*.md", ".md", Some("")),
            ("*.md", "a/b.md", None),
            ("*.md", "plan.mdx", None),
            ("task-{id:slug}.md", "task-3.md", Some("id=3")),
            ("task-{id:slug}.md", "task-1.2.md", Some("id=1.2")),
            ("task-{id:slug}.md", "task-1..2.md", None),
            ("task-{id:slug}.md", "task-.2.md", None),
            ("task-{id:slug}.md", "task-.md", None),
            ("task-{id:slug}.md", "task-a b.md", None),
            ("{base:plan|design}-review-{n:int}.md", "plan-review-12.md", Some("base=plan n:12")),
            ("{base:plan|design}-review-{n:int}.md", "plan-review-012.md", None),
            ("{base:plan|design}-review-{n:int}.md", "plan-review-99999999999999999999.md", None),
            ("{base}-post-review-{n:int}.md", "task-1-post-review-2.md", Some("base=task-1 n:2")),
            ("{base}-review-{n:int}.md", "a-review-1-review-2.md", Some("base=a-review-1 n:2")),
            ("*/**/*.md", "a/b.md", Some("")),
            ("*/**/*.md", "a/b/c.md", Some("")),
            ("*/**/*.md", "b.md", None),
            ("{x}.md", "ü.md", Some("x=ü")),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matched(pattern, name).as_deref(), *expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn a_pattern_renders_what_it_matches() {
        let pattern = Pattern::parse("{base}-review-{n:int}.md").unwrap();
        let name = pattern
            .render(|hole| {
                Ok::<_, String>(if hole == "n" { "7".to_owned() } else { "task-1".to_owned() })
            })
            .unwrap();
        assert_eq!(name, "task-1-review-7.md");
        assert!(pattern.matches(&name).is_some());
    }

    #[test]
    fn broken_patterns_are_refused() {
        for source in ["{n", "n}", "{}", "{a b}", "{a:x y}", "{a:}"] {
            assert!(Pattern::parse(source).is_err(), "{source}");
        }
    }
}
