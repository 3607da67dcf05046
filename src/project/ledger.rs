//! The findings of an instance's reviews, each with its result: what the agent's answer says, or what the user has ruled.
//!
//! The findings are in the journal of this machine. The rulings are a file of the instance, one line each, so that
//! they are versioned with it, and a reviewer on another machine gets them too.

use std::io;
use std::path::Path;

use crate::chart::Chart;
use crate::disk;
use crate::engine::inspect::{self, ReviewFile};
use crate::engine::spent::PastReview;
use crate::hash::IndexMap;
use crate::reviewer::finding::{ANSWERS, Finding, OPEN, OVER};
use crate::text::plain_line;

/// The file in the instance's directory that has what the user has ruled.
pub(crate) const FILE: &str = "rulings";

/// The most characters of a reason.
const LENGTH: usize = 500;

/// The most characters of the line of a ruling.
const LINE: usize = 2_000;

/// Comes before the reason in the line of a ruling.
const WHY: &str = " Why: ";

/// A finding, and its result.
#[derive(Debug)]
pub(crate) struct LedgerEntry {
    pub(crate) id: String,
    /// The number of its review.
    pub(crate) n: i64,
    pub(crate) finding: Finding,
    /// Whether the cycle of its review is not over.
    pub(crate) is_of_cycle: bool,
    /// `open`, what the answer says, or what the user has ruled.
    pub(crate) state: String,
    pub(crate) why: Option<String>,
}

impl std::fmt::Display for LedgerEntry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.finding.in_words(&self.id))
    }
}

/// Returns the findings of the reviews in `runs`, oldest first. `unfinished` is what the reviews of the cycle that is not
/// over are called, with `{n}` for the number, and how many of them count: they can still be answered.
pub(crate) fn entries(
    chart: &Chart,
    root: &Path,
    dir: &Path,
    runs: Vec<PastReview>,
    unfinished: Option<(&str, i64)>,
) -> Vec<LedgerEntry> {
    let rulings = rulings(root, dir);
    let mut last: IndexMap<String, PastReview> = IndexMap::default();
    for review in runs {
        // A review that ran again has replaced the file of the one before.
        if review.error.is_none() {
            last.shift_remove(&review.file);
            last.insert(review.file.clone(), review);
        }
    }
    let mut entries = Vec::new();
    for review in last.values() {
        let file = inspect::reviews(chart, std::iter::once(&*review.file)).pop();
        let answer = file.map(|file| answer(root, dir, &file, review)).unwrap_or_default();
        let is_of_cycle = unfinished.is_some_and(|(files, count)| {
            review.n <= count && review.file == files.replace("{n}", &review.n.to_string())
        });
        // A plan ends once, and what nobody has answered is still to be done. A change can begin again.
        let silent = if !is_of_cycle && chart.scope.is_of_changes() { OVER } else { OPEN };
        for (id, finding) in review.found.named(&review.file) {
            let ruled = rulings.iter().find_map(|line| ruled(line, &id, finding));
            let said = ruled.or_else(|| said(&answer, &id));
            let (state, why) = said.unwrap_or_else(|| (silent.to_owned(), None));
            let finding = finding.clone();
            entries.push(LedgerEntry { id, n: review.n, is_of_cycle, finding, state, why });
        }
    }
    entries
}

/// Returns the rulings, one line each.
pub(crate) fn rulings(root: &Path, dir: &Path) -> Vec<String> {
    let text = disk::read(root, &dir.join(FILE)).ok().flatten();
    let text = text.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // Anyone may have edited the file.
    let lines = text.lines().map(|line| plain_line(line, LINE));
    lines.filter(|line| !line.is_empty()).collect()
}

/// Writes down what the user rules about a finding. It replaces an earlier ruling. The caller holds the write lock.
pub(crate) fn rule(
    root: &Path,
    dir: &Path,
    entry: &LedgerEntry,
    (word, why): (&str, &str),
) -> io::Result<()> {
    let path = dir.join(FILE);
    let mut lines = rulings(root, dir);
    lines.retain(|line| ruled(line, &entry.id, &entry.finding).is_none());
    let place = entry.finding.place();
    let place = place.map(|place| format!(", {place}")).unwrap_or_default();
    let line = format!(
        "{} {word} ({}{place}): {}{WHY}{}",
        entry.id,
        entry.finding.severity,
        entry.finding.title,
        plain_line(why, LENGTH)
    );
    lines.push(plain_line(&line, LINE));
    disk::replace(&path, format!("{}\n", lines.join("\n")).as_bytes())
}

/// Returns the text of the answer to a review; empty if there is none. When a cycle starts over, the name of a review
/// comes back, and the answer to the one before it is still there.
fn answer(root: &Path, dir: &Path, review: &ReviewFile, run: &PastReview) -> String {
    let path = dir.join(&review.answer);
    let modified = |path: &Path| disk::modified(path).ok().flatten();
    let review = modified(&dir.join(&review.name));
    if !disk::is_as_new(modified(&path), review, || run.ended()) {
        return String::new();
    }
    let text = disk::read(root, &path).ok().flatten();
    String::from_utf8_lossy(&text.unwrap_or_default()).into_owned()
}

/// Returns the ruling in a line, if it is about this finding, and its reason. An id can come back with another finding.
fn ruled(line: &str, id: &str, finding: &Finding) -> Option<(String, Option<String>)> {
    let rest = line.strip_prefix(id)?.strip_prefix(' ')?;
    let (word, rest) = rest.split_once(" (")?;
    let rest = rest.strip_prefix(&finding.severity)?;
    let (place, why) = rest.split_once(&format!("): {}", finding.title))?;
    let is_it = place.is_empty() || place.starts_with(", ");
    let is_whole = why.is_empty() || why.starts_with(WHY);
    let why = why.strip_prefix(WHY).map(str::to_owned);
    (is_it && is_whole).then(|| (word.to_owned(), why))
}

/// Returns what an answer says of a finding, and why: the last line whose first word is its id and whose next word is one of
/// [`ANSWERS`], with the finding's severity in parentheses between them or not. The rest of the line is the reason.
fn said(answer: &str, id: &str) -> Option<(String, Option<String>)> {
    let is_mark = |char: char| !char.is_alphanumeric();
    answer.lines().rev().find_map(|line| {
        let line = plain_line(line, LENGTH);
        let (before, rest) = line.split_once(id)?;
        if before.contains(char::is_alphabetic) || rest.starts_with(char::is_alphanumeric) {
            return None;
        }
        let rest = rest.trim_start_matches(|char| is_mark(char) && char != '(');
        let rest = match rest.strip_prefix('(') {
            Some(aside) => aside.split_once(')')?.1,
            None => rest,
        };
        let rest = rest.trim_start_matches(is_mark);
        let (said, why) = rest.split_at(rest.find(is_mark).unwrap_or(rest.len()));
        let word = ANSWERS.iter().find(|word| word.eq_ignore_ascii_case(said))?;
        let why = why.trim_matches([' ', ':', ';', ',', '.', '-', '–', '—', '*', '_', '|']);
        Some(((*word).to_owned(), (!why.is_empty()).then(|| why.to_owned())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rulings_of_all_shapes() {
        let finding = |severity: &str, title: &str| Finding {
            severity: severity.to_owned(),
            file: None,
            line: None,
            title: title.to_owned(),
        };
        let leak = finding("minor", "Leak");
        let cases = [
            ("a-1.2 rejected (minor): Leak Why: no", Some(Some("no"))),
            ("a-1.2 rejected (minor, a.rs:3): Leak Why: no Why: x", Some(Some("no Why: x"))),
            ("a-1.2 rejected (minor): Leak", Some(None)),
            ("a-1.21 rejected (minor): Leak Why: no", None),
            ("a-1.2 rejected (major): Leak Why: no", None),
            ("a-1.2 rejected (minority): Leak Why: no", None),
            ("a-1.2 rejected (minor): Leaks Why: no", None),
            ("a-1.2 rejected (minor): A Leak Why: no", None),
            ("a-1.2 rejected", None),
        ];
        for (line, expected) in cases {
            let expected = expected.map(|why| ("rejected".to_owned(), why.map(str::to_owned)));
            assert_eq!(ruled(line, "a-1.2", &leak), expected, "{line}");
        }
    }

    #[test]
    fn answers_of_all_shapes() {
        let cases = [
            ("a-1.2: fixed", Some(("fixed", None))),
            ("- **a-1.2**: Declined: not ours.", Some(("declined", Some("not ours")))),
            ("* `a-1.2` — deferred", Some(("deferred", None))),
            ("12. a-1.2: fixed", Some(("fixed", None))),
            ("1) **a-1.2**: fixed", Some(("fixed", None))),
            ("a-1.2: fixed\na-1.2: declined: no", Some(("declined", Some("no")))),
            ("a-1.2 (major): fixed", Some(("fixed", None))),
            (
                "- **a-1.2 (major, src/a.rs:3)**: Declined: not ours (yet)",
                Some(("declined", Some("not ours (yet)"))),
            ),
            ("a-1.2: declined: it is *meant*.", Some(("declined", Some("it is *meant")))),
            (
                "**a-1.2: declined** - `x` is meant (see b)",
                Some(("declined", Some("`x` is meant (see b)"))),
            ),
            ("- **a-1.2: declined: no.**", Some(("declined", Some("no")))),
            ("a-1.2: declined: **", Some(("declined", None))),
            ("1. `a-1.2` (minor) — **fixed**", Some(("fixed", None))),
            ("a-1.2: fixed (major)", Some(("fixed", Some("(major)")))),
            ("a-1.2 (major fixed", None),
            ("a-1.21 (major): fixed", None),
            ("| a-1.2 | deferred |", Some(("deferred", None))),
            ("a-1.21: fixed", None),
            ("a-1.2: perhaps", None),
            ("see a-1.2: fixed", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let expected = expected
                .map(|(word, why): (&str, Option<&str>)| (word.to_owned(), why.map(str::to_owned)));
            assert_eq!(said(text, "a-1.2"), expected, "{text}");
        }
    }
}
