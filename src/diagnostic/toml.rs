//! Finds places in a TOML text: from the path of a value to its bytes.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// A segment of the path to a value in a chart file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    Key(String),
    Index(usize),
}

impl From<&str> for Segment {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<&String> for Segment {
    fn from(key: &String) -> Self {
        Self::Key(key.clone())
    }
}

impl From<usize> for Segment {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// Makes a path to a value of the chart from its keys and indices.
macro_rules! at {
    ($($step:expr),* $(,)?) => { &[$($crate::diagnostic::toml::Segment::from($step)),*] };
}
pub(crate) use at;

/// Returns the path with one more step.
pub(crate) fn below(path: &[Segment], step: impl Into<Segment>) -> Vec<Segment> {
    [path, &[step.into()]].concat()
}

/// How far a text follows a path.
#[derive(Default)]
struct Way {
    /// The places of the last key or item, and of its value. That of a table is its key.
    key: Option<Range<usize>>,
    value: Option<Range<usize>>,
}

/// The values of a TOML text, or of several one after the other, and their places.
#[derive(Debug)]
pub struct Document<'t> {
    pub text: &'t str,
    pub table: DeTable<'t>,
    pub errors: Vec<toml::de::Error>,
}

impl<'t> Document<'t> {
    /// Parses as much of the text as possible.
    pub fn parse(text: &'t str) -> Self {
        let (table, errors) = DeTable::parse_recoverable(text);
        Self { text, table: table.into_inner(), errors }
    }

    /// Returns the place of the value at `path`; if it is absent, that of the nearest table above.
    pub fn locate(&self, path: &[Segment]) -> Option<Range<usize>> {
        self.walk(path).value
    }

    /// Returns the place of the last key of `path`; if it is absent, that of the nearest table above.
    pub fn locate_key(&self, path: &[Segment]) -> Option<Range<usize>> {
        self.walk(path).key
    }

    /// Follows `path` as far as the text does.
    fn walk(&self, path: &[Segment]) -> Way {
        let mut way = Way::default();
        let mut table: Option<&DeTable<'_>> = Some(&self.table);
        let mut value: Option<&DeValue<'_>> = None;
        for step in path {
            let next = match (step, table, value) {
                (Segment::Key(key), Some(table), _) => {
                    table.get_key_value(key.as_str()).map(|(key, value)| (key.span(), value))
                }
                (Segment::Index(index), _, Some(DeValue::Array(items))) => {
                    items.get(*index).map(|item| (item.span(), item))
                }
                _ => None,
            };
            let Some((key, found)) = next else {
                break;
            };
            let is_container = matches!(found.get_ref(), DeValue::Table(_) | DeValue::Array(_));
            way = Way {
                value: Some(if is_container { key.clone() } else { found.span() }),
                key: Some(key),
            };
            value = Some(found.get_ref());
            table = found.get_ref().as_table();
        }
        way
    }
}

/// Returns the path for a place as messages write it: `on.Stop[2]`.
pub fn steps(place: &str) -> Option<Vec<Segment>> {
    let mut steps = Vec::new();
    for part in place.split('.') {
        let (key, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        steps.push(Segment::from(key));
        for index in indices.split_terminator(']') {
            steps.push(Segment::from(index.strip_prefix('[')?.parse::<usize>().ok()?));
        }
    }
    Some(steps)
}

/// Returns the place in `text` of the part `span` of `source`, which is the value of the TOML string at `value`; `None` if escapes
/// leave open where that is.
pub fn token(
    text: &str,
    value: &Range<usize>,
    source: &str,
    span: &Range<usize>,
) -> Option<Range<usize>> {
    let raw = text.get(value.clone())?;
    let start = match raw.find(source) {
        Some(at) => at + span.start,
        // It is written in another way, but the part may be there once as it is.
        None => {
            let word = source.get(span.clone())?;
            let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
            let mut places = raw.match_indices(word).filter(|(at, _)| {
                let (before, after) = (&raw[..*at], &raw[at + word.len()..]);
                !before.ends_with(is_part) && !after.starts_with(is_part)
            });
            places.next().filter(|_| places.next().is_none())?.0
        }
    };
    let start = value.start + start;
    Some(start..start + span.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what `token` finds for `part` of the value of `x`, as it is written.
    fn found(text: &str, source: &str, part: &str) -> Option<String> {
        let value = Document::parse(text).locate(&[Segment::from("x")])?;
        let at = source.find(part)?;
        let place = token(text, &value, source, &(at..at + part.len()))?;
        text.get(place).map(str::to_owned)
    }

    #[test]
    fn a_token_is_found_in_every_kind_of_string() {
        let cases = [
            (r#"x = "a \"b\" c""#, "a \"b\" c", "c", "c"),
            (r"x = 'a \ b'", r"a \ b", "b", "b"),
            ("x = \"\"\"\n  a\n  or b\"\"\"", "  a\n  or b", "b", "b"),
            ("x = \"\"\"\\\n  a \\\n\n  b c\"\"\"", "a b c", "b c", "b c"),
            ("x = '''\na 'b' \\\nc'''", "a 'b' \\\nc", "c", "c"),
            (r#"x = "{{ ab }}""#, "ab", "b", "b"),
        ];
        for (text, source, part, expected) in cases {
            let found = found(text, source, part);
            assert_eq!(found.as_deref(), Some(expected), "{text}");
        }
        assert_eq!(found(r#"x = "\u00e4\n b""#, "ä\n b", "ä"), None);
        assert_eq!(found("x = \"ab\"", "ac", "c"), None);
        assert_eq!(found("x = \"\"", "", ""), Some(String::new()));
    }

    #[test]
    fn places_are_paths() {
        let keys = [Segment::from("on"), Segment::from("Stop")];
        let rest = [Segment::from(2), Segment::from("block")];
        assert_eq!(steps("on.Stop[2].block"), Some([keys, rest].concat()));
        assert_eq!(steps("commands.pause[x]"), None);
    }
}
