//! What a chart's author calls a rule: the comment at the end of the line that it begins on.

use crate::diagnostic::toml::{Document, Step};

/// The label of the rule at `place` (`on.Stop[2]`, `commands.pause`) of the chart with this text; `None`
/// where that line has no comment, or where the place is not written in the chart as such.
pub fn label(text: &str, place: &str) -> Option<String> {
    let span = Document::parse(text).locate_exactly(&steps(place)?)?;
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(start..)?.lines().next()?;
    let label = comment(line)?.trim_matches(|sign: char| sign == '.' || sign.is_whitespace());
    (!label.is_empty()).then(|| label.to_owned())
}

/// `on.Stop[2]` as the way there.
pub fn steps(place: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for part in place.split('.') {
        let (key, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        steps.push(Step::from(key));
        for index in indices.split_terminator(']') {
            steps.push(Step::from(index.strip_prefix('[')?.parse::<usize>().ok()?));
        }
    }
    Some(steps)
}

/// What follows the first `#` outside quotes. A line inside a multi-line string begins no rule.
fn comment(line: &str) -> Option<&str> {
    let mut quote = None;
    let mut escaped = false;
    for (index, sign) in line.char_indices() {
        match (quote, sign) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), _) if open == sign && !escaped => quote = None,
            (None, '"' | '\'') => quote = Some(sign),
            (None, '#') => return line.get(index + 1..),
            _ => {}
        }
        escaped = false;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"
[[on.Stop]]   # the first one ...
guard = "a"

[[on.Stop]]
guard = "b"   # not this

[commands]  # a table of them
pause = { about = "x" }   # rests
[commands.resume]         # goes on
about = "y"
"##;

    #[test]
    fn labels_are_the_comments_where_rules_begin() {
        let cases = [
            ("on.Stop[0]", Some("the first one")),
            ("on.Stop[1]", None),
            ("on.Stop[2]", None),
            ("commands.pause", Some("rests")),
            ("commands.resume", Some("goes on")),
            ("commands.absent", None),
            ("commands.pause[x]", None),
        ];
        for (place, expected) in cases {
            assert_eq!(label(TEXT, place).as_deref(), expected, "{place}");
        }
        let inline = "on.next = [\n  { guard = \"\\\"# no\\\"\", say = '# no' },  # in one line\n]";
        assert_eq!(label(inline, "on.next[0]").as_deref(), Some("in one line"));
    }
}
