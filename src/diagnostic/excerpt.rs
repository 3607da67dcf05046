//! Shows a file in a message: the lines around a place, cut to fit a terminal. A prompt is often one line of a
//! thousand characters, in which nobody would find a token.

use std::ops::Range;

use miette::{
    LabeledSpan, MietteDiagnostic, MietteError, MietteSpanContents, Report, SourceCode, SourceSpan,
    SpanContents,
};

use crate::text::masked;

/// A line with more characters is cut.
const LONGEST: usize = 100;

/// How many characters of a cut line are shown: a terminal's 80 minus the line number.
const WIDTH: usize = 70;

/// Marks what is cut off. Its three bytes replace three others, so that offsets don't change.
const CUT: &str = "…";

/// A file and a place in it, for miette.
#[derive(Debug)]
pub struct Excerpt {
    name: String,
    text: String,
    /// The place, in `shown`.
    place: Range<usize>,
    /// The line of the place and its neighbors, cut.
    shown: String,
    /// Where `shown` begins, as if nothing before the place were cut.
    offset: usize,
    /// The number of its first line, from 0.
    line: usize,
}

impl Excerpt {
    /// Returns `None` if `place` is not in `text`.
    pub fn new(name: String, text: String, place: Range<usize>) -> Option<Self> {
        text.get(place.clone())?;
        let begin = text[..place.start].rfind('\n').map_or(0, |end| end + 1);
        let end = text[begin..].find('\n').map_or(text.len(), |length| begin + length);
        // A place of several lines is a table of the chart: its first line says which.
        let place = place.start..place.end.min(end);
        let window = window(&text[begin..end], place.start - begin);
        let before = text[..begin]
            .strip_suffix('\n')
            .map(|before| before.rsplit('\n').next().unwrap_or_default());
        let after = text.get(end + 1..).and_then(|after| after.lines().next());
        let mut shown = before.map(|line| format!("{}\n", head(line))).unwrap_or_default();
        let offset = (begin + window.start).saturating_sub(shown.len());
        shown.push_str(&cut(&text[begin..end], &window));
        if let Some(line) = after {
            shown.push('\n');
            shown.push_str(&head(line));
        }
        let line = text[..begin].matches('\n').count() - usize::from(before.is_some());
        let place = place.start..place.end.min(begin + window.end);
        Some(Self { name, place, shown, offset, line, text })
    }

    /// Returns the diagnostic with this excerpt, in which the place is underlined.
    pub fn report(self, diagnostic: MietteDiagnostic) -> Report {
        let label = LabeledSpan::underline(self.place.clone());
        Report::new(diagnostic.with_label(label)).with_source_code(self)
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // Without neighbors, it is the place's line and column in the requested file.
        if (before, after) == (0, 0) {
            let whole = self.text.as_str().read_span(span, before, after)?;
            let (line, column, count) = (whole.line(), whole.column(), whole.line_count());
            let contents = MietteSpanContents::new_named(
                self.name.clone(),
                whole.data(),
                *whole.span(),
                line,
                column,
                count,
            );
            return Ok(Box::new(contents));
        }
        let span = (self.offset, self.shown.len()).into();
        let count = self.shown.matches('\n').count() + 1;
        let data = self.shown.as_bytes();
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            data,
            span,
            self.line,
            0,
            count,
        )))
    }
}

/// Returns the part of a line that is shown: all of it, or a window around `at`.
fn window(line: &str, at: usize) -> Range<usize> {
    let before = line[..at].chars().count();
    let all = before + line[at..].chars().count();
    if all <= LONGEST {
        return 0..line.len();
    }
    // A third of the window is before the place, or more if the line ends soon after it.
    let first = before.saturating_sub(WIDTH / 3).min(all - WIDTH);
    let byte = |index: usize| line.char_indices().nth(index).map_or(line.len(), |(byte, _)| byte);
    byte(first)..byte(first + WIDTH)
}

/// Returns a part of a line, with marks at the ends that were cut. A mark replaces only ASCII characters.
fn cut(line: &str, window: &Range<usize>) -> String {
    let mut part = masked(&line[window.clone()]);
    let is_plain = |end: &str| end.len() == CUT.len() && end.is_ascii();
    if window.start > 0 && part.get(..CUT.len()).is_some_and(is_plain) {
        part.replace_range(..CUT.len(), CUT);
    }
    let end = part.len().saturating_sub(CUT.len());
    if window.end < line.len() && part.get(end..).is_some_and(is_plain) {
        part.replace_range(end.., CUT);
    }
    part
}

fn head(line: &str) -> String {
    cut(line, &window(line, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is shown around a token, and the part of it that is labeled.
    fn around(text: &str, token: &str) -> (String, String) {
        let start = text.find(token).unwrap();
        let excerpt =
            Excerpt::new("x.md".to_owned(), text.to_owned(), start..start + token.len()).unwrap();
        let place = excerpt.place.clone();
        let label =
            excerpt.shown[place.start - excerpt.offset..place.end - excerpt.offset].to_owned();
        (excerpt.shown, label)
    }

    #[test]
    fn lines_of_a_usual_length_are_whole() {
        let (shown, label) = around("one\ntwo\nthree {{ x }}\nfour\nfive\n", "x");
        assert_eq!((shown.as_str(), label.as_str()), ("two\nthree {{ x }}\nfour", "x"));
        let (shown, label) = around("ä x", "x");
        assert_eq!((shown.as_str(), label.as_str()), ("ä x", "x"));
    }

    #[test]
    fn a_long_line_is_cut_around_the_token() {
        let words = |count: usize| "word ".repeat(count);
        let text = format!("{}\n{}TOKEN {}\nend", words(200), words(80), words(90));
        let (shown, label) = around(&text, "TOKEN");
        let head = "word word word word word word word word word word word word word wo…";
        assert_eq!(
            shown,
            format!(
                "{head}\n…word word word word TOKEN word word word word word word word wor…\nend"
            )
        );
        assert_eq!(label, "TOKEN");
        let (shown, label) = around(&format!("{}TOKEN", words(80)), "TOKEN");
        assert_eq!(
            (shown.chars().count(), label.as_str(), shown.ends_with(" TOKEN")),
            (WIDTH - 2, "TOKEN", true)
        );
    }

    #[test]
    fn a_mark_takes_no_part_of_a_letter() {
        let text = format!("{}TOKEN{}", "ä".repeat(200), "ä".repeat(200));
        let (shown, label) = around(&text, "TOKEN");
        assert_eq!((shown.chars().count(), label.as_str()), (WIDTH, "TOKEN"));
    }

    #[test]
    fn the_first_of_several_lines_is_labeled() {
        assert_eq!(
            around("a\nb = [\n  1,\n]\n", "b = [\n  1,\n]"),
            ("a\nb = [\n  1,".to_owned(), "b = [".to_owned())
        );
        assert!(Excerpt::new(String::new(), "ä".to_owned(), 1..2).is_none());
    }
}
