//! Patterns with holes, of two kinds: for the names of files, and for lines of Markdown. Each renders a text (`task-{id}.md`
//! with id 3) and matches one.
//!
//! A hole `{x}` is any text, `{x:int}` a number without leading zeros, `{x:slug}` letters, digits, `_`, `-` and single dots,
//! `{x:a|b}` one of the words.
//!
//! In a name, `*` is any text and `**/` any folders; neither `*` nor a hole spans a `/`. We don't use a glob crate, because this
//! runs for every file at every stop, and because no glob crate renders names. In a line, a hole spans everything, the
//! whitespace around the line does not count, and a `*` is emphasis, which does not count either: the line may have it, lack
//! it, or have it elsewhere between the words (`- **Status:** done`).

/// A parsed pattern: a row of pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pieces: Vec<Piece>,
    is_line: bool,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Hole {
        name: String,
        kind: HoleKind,
    },
    /// `*` in a name.
    Star,
    /// `**/` in a name.
    Folders,
    /// The signs of emphasis in a line.
    Emphasis(String),
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

/// Returns whether a text may be an id: such names, with single dots between them.
pub fn is_id(text: &str) -> bool {
    text.split('.').all(is_slug)
}

/// Returns why `name` cannot be the name of an instance, if it cannot.
pub(crate) fn name_flaw(name: &str) -> Option<&'static str> {
    let plain = is_id(name) && !name.starts_with('-');
    (!plain).then_some("a name has letters, digits, `_`, `-` and single dots only, and does not start with `-` or `.`")
}

fn is_slug_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

impl Pattern {
    /// Parses a pattern of names; the error says what is wrong with it.
    pub fn parse(source: &str) -> Result<Self, String> {
        Self::of(source, false)
    }

    /// Parses a pattern of lines.
    pub fn line(source: &str) -> Result<Self, String> {
        Self::of(source, true)
    }

    fn of(source: &str, is_line: bool) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = source;
        while let Some(length) = rest.bytes().position(|byte| matches!(byte, b'{' | b'}' | b'*')) {
            let (literal, special) = rest.split_at(length);
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            let (piece, after) = if let Some(special) = special.strip_prefix('{') {
                let (inside, after) = special
                    .split_once('}')
                    .ok_or_else(|| format!("`{source}` has a `{{` without its `}}`"))?;
                (parse_hole(inside)?, after)
            } else if special.starts_with('}') {
                return Err(format!("`{source}` has a `}}` without its `{{`"));
            } else if is_line {
                let after = special.trim_start_matches('*');
                (Piece::Emphasis(special[..special.len() - after.len()].to_owned()), after)
            } else if let Some(after) = special.strip_prefix("**/") {
                (Piece::Folders, after)
            } else {
                (Piece::Star, &special[1..])
            };
            pieces.push(piece);
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        Ok(Self { pieces, is_line })
    }

    /// Returns the holes, in order, with what they match.
    pub fn holes(&self) -> impl Iterator<Item = (&str, &HoleKind)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Hole { name, kind } => Some((name.as_str(), kind)),
            _ => None,
        })
    }

    /// Returns what the holes capture if the whole of `input` matches, otherwise `None`.
    pub fn matches(&self, input: &str) -> Option<Captures<'_>> {
        let input = if self.is_line { input.trim() } else { input };
        let mut captures = Vec::new();
        let is_match = self.fit(&self.pieces, input, &mut captures);
        captures.reverse();
        is_match.then_some(captures)
    }

    /// Returns the pattern with every hole filled; `fill` is called with a hole's name. A pattern of names must have no
    /// wildcard.
    pub fn render<E>(&self, mut fill: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) | Piece::Emphasis(literal) => text.push_str(literal),
                Piece::Hole { name, .. } => text.push_str(&fill(name)?),
                Piece::Star => text.push('*'),
                Piece::Folders => text.push_str("**/"),
            }
        }
        Ok(text)
    }

    /// Matches with backtracking, longest first: `{base}-review-{n:int}.md` matches the last `-review-` that it can.
    /// Adds the captures from the last one to the first.
    fn fit<'p>(&self, pieces: &'p [Piece], input: &str, captures: &mut Captures<'p>) -> bool {
        let Some((piece, rest)) = pieces.split_first() else {
            return input.is_empty();
        };
        let is_text = |byte| self.is_line || byte != b'/';
        match piece {
            Piece::Literal(text) => {
                self.after(text, input).is_some_and(|input| self.fit(rest, input, captures))
            }
            Piece::Star => {
                lengths(input, is_text).any(|length| self.fit(rest, &input[length..], captures))
            }
            Piece::Folders => {
                self.fit(rest, input, captures)
                    || (input.match_indices('/'))
                        .any(|(at, _)| at > 0 && self.fit(rest, &input[at + 1..], captures))
            }
            Piece::Emphasis(_) => self.fit(rest, input.trim_start_matches('*'), captures),
            Piece::Hole { name, kind } => {
                // Most attempts fail, so what is captured is copied last.
                let mut attempt = |length: usize| {
                    let (text, after) = input.split_at(length);
                    if !kind.fits(text) || !self.fit(rest, after, captures) {
                        return false;
                    }
                    captures.extend(kind.capture(text).map(|capture| (name.as_str(), capture)));
                    true
                };
                match kind {
                    HoleKind::OneOf(words) => words
                        .iter()
                        .any(|word| input.starts_with(word.as_str()) && attempt(word.len())),
                    HoleKind::Text => lengths(input, is_text).any(attempt),
                    HoleKind::Integer => lengths(input, |byte| byte.is_ascii_digit()).any(attempt),
                    HoleKind::Slug => {
                        lengths(input, |byte| is_slug_byte(byte) || byte == b'.').any(attempt)
                    }
                }
            }
        }
    }

    /// Returns the rest of `input` after a text of the pattern; `None` if it does not begin with it.
    fn after<'i>(&self, text: &str, input: &'i str) -> Option<&'i str> {
        if !self.is_line {
            return input.strip_prefix(text);
        }
        text.chars().try_fold(input, |input, sign| {
            let after = input.strip_prefix(sign);
            after.or_else(|| input.trim_start_matches('*').strip_prefix(sign))
        })
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
        self.pieces.iter().any(|piece| matches!(piece, Piece::Star | Piece::Folders))
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
        Self { pieces: pieces.collect(), is_line: false }
    }
}

fn parse_hole(inside: &str) -> Result<Piece, String> {
    let (name, kind) = match inside.split_once(':') {
        None => (inside, HoleKind::Text),
        Some((name, "int")) => (name, HoleKind::Integer),
        Some((name, "slug")) => (name, HoleKind::Slug),
        Some((name, words)) => {
            (name, HoleKind::OneOf(words.split('|').map(str::to_owned).collect()))
        }
    };
    let fits =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !fits {
        return Err(format!(
            "`{{{inside}}}` is not a hole: write {{name}}, {{name:int}}, {{name:slug}} or {{name:one|two}}"
        ));
    }
    if let HoleKind::OneOf(words) = &kind
        && let Some(bad) = words.iter().find(|word| !is_slug(word))
    {
        return Err(format!(
            "`{bad}` in `{{{inside}}}` is neither int, slug nor a word (letters, digits, _ and -)"
        ));
    }
    Ok(Piece::Hole { name: name.to_owned(), kind })
}

/// Returns the lengths of the prefixes of `input` that consist of `allowed` bytes, longest first, at char boundaries.
fn lengths(input: &str, allowed: impl Fn(u8) -> bool) -> impl Iterator<Item = usize> {
    let most = input.bytes().take_while(|byte| allowed(*byte)).count();
    (0..=most).rev().filter(|length| input.is_char_boundary(*length))
}

impl HoleKind {
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Text | Self::OneOf(_) => !text.is_empty(),
            Self::Slug => is_id(text),
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
                plain.then(|| text.parse().ok().map(Capture::Integer)).flatten()
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
            let pattern = Pattern::line(pattern).unwrap();
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

    #[test]
    fn names_that_are_safe_in_a_path_a_prompt_and_a_shell() {
        for name in ["a", "my-plan", "v1.2", "2026_x", "A.b-c"] {
            assert_eq!(name_flaw(name), None, "{name}");
        }
        for name in ["", ".", "..", "a b", "a/b", "-a", ".a", "a..b", "a'", "a\n", "ü", "$(x)"] {
            assert!(name_flaw(name).is_some(), "{name:?}");
        }
    }
}
