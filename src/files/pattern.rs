//! File names with holes: one pattern renders a name (`task-{id}.md` with id 3) and matches one.
//!
//! `{x}` is any text, `{x:int}` a number without leading zeros, `{x:slug}` letters, digits, `_` and `-`, `{x:a|b}`
//! one of the words; `*` is any text and `**/` any folders. No hole spans a `/`. We don't use a glob crate, because
//! this runs for every file at every stop, and because no glob crate renders names.

use std::fmt::Write as _;

/// A parsed pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Hole { name: String, kind: HoleKind },
    Star,
    Folders,
}

/// What a hole can match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HoleKind {
    Text,
    Slug,
    Integer,
    OneOf(Vec<String>),
}

/// What a hole matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capture {
    Text(String),
    Integer(u64),
}

/// What the holes of a pattern matched, each with its name.
pub type Captures<'p> = Vec<(&'p str, Capture)>;

/// Returns whether a name may become part of a path or a shell line: letters, digits, `_` and `-`.
pub fn is_slug(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_slug_byte)
}

/// Returns why `name` cannot be the name of an instance, if it cannot.
pub(crate) fn name_flaw(name: &str) -> Option<&'static str> {
    let plain = name.split('.').all(is_slug) && !name.starts_with('-');
    (!plain).then_some("a name has letters, digits, `_`, `-` and single dots only, and does not start with `-` or `.`")
}

fn is_slug_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

impl Pattern {
    /// Parses a pattern; the error says what is wrong with it.
    pub fn parse(source: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = source;
        while let Some(length) = rest.find(['{', '}', '*']) {
            let (literal, special) = rest.split_at(length);
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            let (piece, after) = if let Some(special) = special.strip_prefix('{') {
                let (inside, after) = special
                    .split_once('}')
                    .ok_or_else(|| format!("`{source}` has a `{{` without its `}}`"))?;
                (parse_hole(inside)?, after)
            } else if let Some(after) = special.strip_prefix("**/") {
                (Piece::Folders, after)
            } else if let Some(after) = special.strip_prefix('*') {
                (Piece::Star, after)
            } else {
                return Err(format!("`{source}` has a `}}` without its `{{`"));
            };
            pieces.push(piece);
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        Ok(Self { pieces })
    }

    /// Returns the holes, in order, with what they match.
    pub fn holes(&self) -> impl Iterator<Item = (&str, &HoleKind)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Hole { name, kind } => Some((name.as_str(), kind)),
            _ => None,
        })
    }

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
            Piece::Folders => true,
            Piece::Literal(text) => text.contains('/'),
            _ => false,
        })
    }

    /// Returns whether the pattern has a `*`, and so cannot render a name.
    pub fn has_wildcard(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Star | Piece::Folders))
    }

    /// Returns what the holes capture if the whole of `name` matches, otherwise `None`.
    pub fn matches(&self, name: &str) -> Option<Captures<'_>> {
        let mut captures = Vec::new();
        let is_match = fit(&self.pieces, name, &mut captures);
        captures.reverse();
        is_match.then_some(captures)
    }

    /// Returns a pattern for the names that this one renders when `inner` fills the hole `hole`: the hole `number` is
    /// a number, and every other hole is a slug.
    pub fn recognizing(&self, hole: &str, inner: &Self, number: &str) -> Self {
        let pieces = self.pieces.iter().flat_map(|piece| match piece {
            Piece::Hole { name, .. } if name == hole => inner.pieces.clone(),
            other => vec![other.clone()],
        });
        let pieces = pieces.map(|piece| match piece {
            Piece::Hole { name, .. } if name == number => Piece::Hole {
                name,
                kind: HoleKind::Integer,
            },
            Piece::Hole {
                name,
                kind: HoleKind::Text,
            } => Piece::Hole {
                name,
                kind: HoleKind::Slug,
            },
            other => other,
        });
        Self {
            pieces: pieces.collect(),
        }
    }

    /// Returns the name with every hole filled; `fill` is called with a hole's name. The pattern must have no
    /// wildcard.
    pub fn render<E>(&self, mut fill: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
        let mut name = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => name.push_str(text),
                Piece::Hole { name: hole, .. } => name.push_str(&fill(hole)?),
                Piece::Star => name.push('*'),
                Piece::Folders => name.push_str("**/"),
            }
        }
        Ok(name)
    }
}

fn parse_hole(inside: &str) -> Result<Piece, String> {
    let (name, kind) = match inside.split_once(':') {
        None => (inside, HoleKind::Text),
        Some((name, "int")) => (name, HoleKind::Integer),
        Some((name, "slug")) => (name, HoleKind::Slug),
        Some((name, words)) => (
            name,
            HoleKind::OneOf(words.split('|').map(str::to_owned).collect()),
        ),
    };
    let fits = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !fits {
        return Err(format!(
            "`{{{inside}}}` is not a hole: write {{name}}, {{name:int}}, {{name:slug}} or {{name:one|two}}"
        ));
    }
    if let HoleKind::OneOf(words) = &kind
        && let Some(bad) = words.iter().find(|word| !is_slug(word))
    {
        let mut message = String::new();
        let _ = write!(
            message,
            "`{bad}` in `{{{inside}}}` is neither int, slug nor a word (letters, digits, _ and -)"
        );
        return Err(message);
    }
    Ok(Piece::Hole {
        name: name.to_owned(),
        kind,
    })
}

/// Matches with backtracking, longest first: `{base}-review-{n:int}.md` matches the last `-review-` that it can.
/// Adds the captures from the last one to the first.
fn fit<'p>(pieces: &'p [Piece], input: &str, captures: &mut Captures<'p>) -> bool {
    let Some((piece, rest)) = pieces.split_first() else {
        return input.is_empty();
    };
    match piece {
        Piece::Literal(text) => input
            .strip_prefix(text.as_str())
            .is_some_and(|input| fit(rest, input, captures)),
        Piece::Star => {
            lengths(input, |byte| byte != b'/').any(|length| fit(rest, &input[length..], captures))
        }
        Piece::Folders => {
            if fit(rest, input, captures) {
                return true;
            }
            input
                .match_indices('/')
                .any(|(at, _)| at > 0 && fit(rest, &input[at + 1..], captures))
        }
        Piece::Hole { name, kind } => {
            // Most attempts fail, so what is captured is copied last.
            let mut attempt = |length: usize| {
                let (text, after) = input.split_at(length);
                if !kind.fits(text) || !fit(rest, after, captures) {
                    return false;
                }
                captures.extend(kind.capture(text).map(|capture| (name.as_str(), capture)));
                true
            };
            match kind {
                HoleKind::OneOf(words) => words
                    .iter()
                    .any(|word| input.starts_with(word.as_str()) && attempt(word.len())),
                HoleKind::Text => lengths(input, |byte| byte != b'/').any(attempt),
                HoleKind::Integer => lengths(input, |byte| byte.is_ascii_digit()).any(attempt),
                HoleKind::Slug => lengths(input, is_slug_byte).any(attempt),
            }
        }
    }
}

/// Returns the lengths of the prefixes of `input` that consist of `allowed` bytes, longest first, at char boundaries.
fn lengths(input: &str, allowed: impl Fn(u8) -> bool) -> impl Iterator<Item = usize> {
    let most = input.bytes().take_while(|byte| allowed(*byte)).count();
    (0..=most)
        .rev()
        .filter(|length| input.is_char_boundary(*length))
}

impl HoleKind {
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Text | Self::Slug | Self::OneOf(_) => !text.is_empty(),
            Self::Integer => self.capture(text).is_some(),
        }
    }

    fn capture(&self, text: &str) -> Option<Capture> {
        match self {
            Self::Text | Self::Slug | Self::OneOf(_) => {
                (!text.is_empty()).then(|| Capture::Text(text.to_owned()))
            }
            Self::Integer => {
                let plain = text == "0" || !text.starts_with('0');
                plain
                    .then(|| text.parse().ok().map(Capture::Integer))
                    .flatten()
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
            ("task-{id:slug}.md", "task-.md", None),
            ("task-{id:slug}.md", "task-a b.md", None),
            (
                "{base:plan|design}-review-{n:int}.md",
                "plan-review-12.md",
                Some("base=plan n:12"),
            ),
            (
                "{base:plan|design}-review-{n:int}.md",
                "plan-review-012.md",
                None,
            ),
            (
                "{base:plan|design}-review-{n:int}.md",
                "plan-review-99999999999999999999.md",
                None,
            ),
            (
                "{base}-post-review-{n:int}.md",
                "task-1-post-review-2.md",
                Some("base=task-1 n:2"),
            ),
            (
                "{base}-review-{n:int}.md",
                "a-review-1-review-2.md",
                Some("base=a-review-1 n:2"),
            ),
            ("*/**/*.md", "a/b.md", Some("")),
            ("*/**/*.md", "a/b/c.md", Some("")),
            ("*/**/*.md", "b.md", None),
            ("{x}.md", "ü.md", Some("x=ü")),
            (
                "- **Status**: {status}",
                "- **Status**: done",
                Some("status=done"),
            ),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(
                matched(pattern, name).as_deref(),
                *expected,
                "{pattern} on {name}"
            );
        }
    }

    #[test]
    fn a_pattern_renders_what_it_matches() {
        let pattern = Pattern::parse("{base}-review-{n:int}.md").unwrap();
        let name = pattern
            .render(|hole| {
                Ok::<_, String>(if hole == "n" {
                    "7".to_owned()
                } else {
                    "task-1".to_owned()
                })
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

    #[test]
    fn names_that_are_safe_in_a_path_a_prompt_and_a_shell() {
        for name in ["a", "my-plan", "v1.2", "2026_x", "A.b-c"] {
            assert_eq!(name_flaw(name), None, "{name}");
        }
        for name in [
            "", ".", "..", "a b", "a/b", "-a", ".a", "a..b", "a'", "a\n", "ü", "$(x)",
        ] {
            assert!(name_flaw(name).is_some(), "{name:?}");
        }
    }
}
