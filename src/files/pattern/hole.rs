//! Holes, and what patterns of both kinds do alike: they are parsed, matched and rendered as a row of pieces.

use std::fmt::Write as _;

/// A pattern: a row of pieces. `W` is what a `*` in it can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<W> {
    pub(super) pieces: Vec<Piece<W>>,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<W> {
    Literal(String),
    Hole { name: String, kind: HoleKind },
    Wild(W),
}

/// One kind of patterns.
pub trait Grammar: Sized {
    /// Returns what the `*` at the beginning of `source` is, and the rest of the source.
    fn wild(source: &str) -> Option<(Self, &str)>;

    /// Calls `fits` with what can be left of `input` after this, until it returns true; returns whether it did.
    fn leaves(&self, input: &str, fits: impl FnMut(&str) -> bool) -> bool;

    /// Returns what is left of `input` after a text of the pattern; `None` if it does not begin with it.
    fn after<'i>(text: &str, input: &'i str) -> Option<&'i str>;

    /// Returns whether a hole for any text can match this byte.
    fn is_text(byte: u8) -> bool;

    /// Returns what of a name or a line is matched.
    fn trimmed(input: &str) -> &str;

    /// Returns how a name or a line is rendered with it.
    fn rendered(&self) -> &str;
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

impl<W: Grammar> Row<W> {
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
            } else if let Some((wild, after)) = W::wild(special) {
                (Piece::Wild(wild), after)
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

    /// Returns what the holes capture if the whole of `input` matches, otherwise `None`.
    pub fn matches(&self, input: &str) -> Option<Captures<'_>> {
        let mut captures = Vec::new();
        let is_match = fit(&self.pieces, W::trimmed(input), &mut captures);
        captures.reverse();
        is_match.then_some(captures)
    }

    /// Returns the pattern with every hole filled; `fill` is called with a hole's name. A pattern of names must have no
    /// wildcard.
    pub fn render<E>(&self, mut fill: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Hole { name, .. } => text.push_str(&fill(name)?),
                Piece::Wild(wild) => text.push_str(wild.rendered()),
            }
        }
        Ok(text)
    }
}

fn parse_hole<W>(inside: &str) -> Result<Piece<W>, String> {
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
        let mut message = String::new();
        // Writing to a text does not fail.
        let _ = write!(
            message,
            "`{bad}` in `{{{inside}}}` is neither int, slug nor a word (letters, digits, _ and -)"
        );
        return Err(message);
    }
    Ok(Piece::Hole { name: name.to_owned(), kind })
}

/// Matches with backtracking, longest first: `{base}-review-{n:int}.md` matches the last `-review-` that it can.
/// Adds the captures from the last one to the first.
fn fit<'p, W: Grammar>(pieces: &'p [Piece<W>], input: &str, captures: &mut Captures<'p>) -> bool {
    let Some((piece, rest)) = pieces.split_first() else {
        return input.is_empty();
    };
    match piece {
        Piece::Literal(text) => {
            W::after(text, input).is_some_and(|input| fit(rest, input, captures))
        }
        Piece::Wild(wild) => wild.leaves(input, |input| fit(rest, input, captures)),
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
                HoleKind::OneOf(words) => {
                    words.iter().any(|word| input.starts_with(word.as_str()) && attempt(word.len()))
                }
                HoleKind::Text => lengths(input, W::is_text).any(attempt),
                HoleKind::Integer => lengths(input, |byte| byte.is_ascii_digit()).any(attempt),
                HoleKind::Slug => {
                    lengths(input, |byte| is_slug_byte(byte) || byte == b'.').any(attempt)
                }
            }
        }
    }
}

/// Returns the lengths of the prefixes of `input` that consist of `allowed` bytes, longest first, at char boundaries.
pub(super) fn lengths(input: &str, allowed: impl Fn(u8) -> bool) -> impl Iterator<Item = usize> {
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
    use super::name_flaw;

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
