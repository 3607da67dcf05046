//! What a review found, as data: each finding has a severity and a title, and often a place.
//!
//! A reviewer writes them as JSON. It may write anything: what cannot be read is counted, and taken for the worst.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::host::vendors::SEVERITIES;
use crate::text::{cut_bytes, plain_line};

/// What the answer to a review can say of a finding: that it is gone, that it stays, and that it is left for later.
pub const ANSWERS: [&str; 3] = [FIXED, DECLINED, PUT_OFF];

/// What a finding is that an answer says is gone.
pub const FIXED: &str = "fixed";

/// What a finding is that an answer leaves as it is.
pub const DECLINED: &str = "declined";

/// What a finding is that an answer leaves for later.
pub const PUT_OFF: &str = "deferred";

/// What the user can rule about a finding: the word for `taskie findings`, and what the finding is then.
pub const RULINGS: [(&str, &str); 2] = [("accept", "accepted"), ("reject", "rejected")];

/// What a finding is of which nobody has said anything, until the change that it is about is over.
pub const OPEN: &str = "open";

/// What it is then.
pub const OVER: &str = "over";

/// Returns what a finding can be, first what is still to be done.
pub fn states() -> impl Iterator<Item = &'static str> {
    let ruled = RULINGS.into_iter().map(|(_, state)| state);
    std::iter::once(OPEN).chain(ANSWERS).chain([OVER]).chain(ruled)
}

/// The most findings of one review that are kept.
const MOST: usize = 100;

/// The most characters of a title or a file name.
const LENGTH: usize = 200;

/// The most bytes of it: all findings of a review fit into an argument of a program.
const BYTES: usize = 300;

/// Something that a reviewer found wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Finding {
    pub severity: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub title: String,
}

/// What one review found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Found {
    /// It was given as a list. Only known of a review that has just run.
    #[serde(skip)]
    pub is_listed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// How many of its findings could not be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it like that")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Found {
    /// Reads the findings that a reviewer has written: a list of records with `severity` and `title`, and often `file`
    /// and `line`.
    pub fn read(json: Json) -> Self {
        let (is_listed, items) = match json {
            Json::Array(items) => (true, items),
            Json::Null => (false, Vec::new()),
            // Something that is not a list of findings is one that cannot be read.
            _ => (false, vec![Json::Null]),
        };
        let all = items.len();
        let findings = items.into_iter().take(MOST);
        let findings: Vec<Finding> = findings.filter_map(|item| Finding::read(&item)).collect();
        Self { is_listed, unreadable: all - findings.len(), findings }
    }

    /// Returns the worst severity of its findings. A finding that cannot be read may be as bad as any.
    pub fn worst(&self) -> Option<&'static str> {
        match self.unreadable {
            0 => self.counts().next().map(|(severity, _)| severity),
            _ => SEVERITIES.first().copied(),
        }
    }

    /// Returns whether the review says, with an empty list, that it has found nothing.
    pub fn is_nothing(&self) -> bool {
        self.is_listed && self.findings.is_empty() && self.unreadable == 0
    }

    /// Returns how many findings of each severity there are: `2 major, 1 minor`; empty if there is none.
    pub fn in_words(&self) -> String {
        let unreadable = Some(("unreadable", self.unreadable)).filter(|(_, count)| *count > 0);
        let counts = self.counts().chain(unreadable);
        let counts: Vec<String> = counts.map(|(of, count)| format!("{count} {of}")).collect();
        counts.join(", ")
    }

    /// Returns the severities of its findings, each with their number.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let count = |severity: &'static str| {
            let of_it = |finding: &&Finding| finding.severity == severity;
            (severity, self.findings.iter().filter(of_it).count())
        };
        SEVERITIES.into_iter().map(count).filter(|(_, count)| *count > 0)
    }

    /// Returns the findings with their ids; `file` is the review's file.
    pub fn named<'f>(&'f self, file: &str) -> impl Iterator<Item = (String, &'f Finding)> {
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let findings = self.findings.iter().enumerate();
        findings.map(move |(at, finding)| (format!("{stem}.{}", at + 1), finding))
    }
}

impl Finding {
    fn read(item: &Json) -> Option<Self> {
        let text = |key: &str| {
            let text = plain_line(item.get(key)?.as_str()?, LENGTH);
            let text = cut_bytes(text, BYTES);
            (!text.is_empty()).then_some(text)
        };
        let severity = text("severity")?.to_lowercase();
        Some(Self {
            title: text("title")?,
            severity: SEVERITIES.contains(&severity.as_str()).then_some(severity)?,
            file: text("file"),
            // Lines begin with 1.
            line: (item.get("line").and_then(Json::as_u64)).filter(|line| *line > 0),
        })
    }

    /// Returns it as a line, after its id.
    pub fn in_words(&self, id: &str) -> String {
        let Self { severity, title, .. } = self;
        match self.place() {
            Some(place) => format!("{id} ({severity}, {place}): {title}"),
            None => format!("{id} ({severity}): {title}"),
        }
    }

    /// Returns where it is: `src/a.rs:12`.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_all_shapes() {
        let found = |json| {
            let found = Found::read(serde_json::from_str(json).unwrap());
            let worst = found.worst().unwrap_or("none").to_owned();
            let named: Vec<String> = found
                .named("plan-review-2.md")
                .map(|(id, finding)| {
                    let place = finding.place().unwrap_or_default();
                    format!("{id} {place} {}", finding.title)
                })
                .collect();
            (worst, found.in_words(), named.join(" | "))
        };
        let cases = [
            ("[]", "none", "", ""),
            ("null", "none", "", ""),
            (r#""nothing""#, "critical", "1 unreadable", ""),
            (
                r#"[{"severity":"minor","title":"a","file":"b.rs","line":3},{"severity":"Major","title":"c\u001b[1m\n d"}]"#,
                "major",
                "1 major, 1 minor",
                "plan-review-2.1 b.rs:3 a | plan-review-2.2  c d",
            ),
            (
                r#"[{"severity":"bad","title":"a"},{"title":"b"},{"severity":"minor","title":" "},3,{"severity":"minor","title":"x","line":-1,"file":7}]"#,
                "critical",
                "1 minor, 4 unreadable",
                "plan-review-2.1  x",
            ),
        ];
        for (json, worst, words, named) in cases {
            let expected = (worst.to_owned(), words.to_owned(), named.to_owned());
            assert_eq!(found(json), expected, "{json}");
        }
    }
}
