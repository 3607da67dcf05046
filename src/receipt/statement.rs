//! A receipt: what it says, and the statement that is its line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::hash;
use crate::page;
use crate::project::change::Changed;
use crate::store::journal::{Code, ReviewLine};

/// How many changed files a receipt names. Of more, it has one hash.
const FILES: usize = 500;

/// What the one hash begins with.
pub(super) const OVER_ALL: &str = "sha256 ";

/// How a cycle has ended whose last review passed.
pub(super) const PASSED: &str = "passed";

/// A cycle that has ended: the predicate of an in-toto statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// When the cycle ended, in RFC 3339.
    pub(crate) at: String,
    /// The directory of the instance, from the top of the work tree on.
    pub(crate) instance: PathBuf,
    /// The cycle, and what it was about.
    pub(crate) cycle: String,
    /// How it ended: `passed`, `not passed`, `outside taskie`, or the command that ended it.
    pub(crate) ended: String,
    /// The session that ended it, if it was one.
    pub(super) session: Option<String>,
    /// The chart, and a hash of its file if it is none of this program's; and the version of this program.
    pub(super) chart: String,
    pub(super) chart_sha256: Option<String>,
    pub(super) version: String,
    pub(crate) reviews: Vec<Reviewed>,
    /// Each command line that ran before a review, and its exit code.
    pub(super) gates: Vec<(String, Option<i32>)>,
    /// The code that the last reviewer saw; `None` if it was about a document.
    pub(crate) code: Option<Code>,
    /// The hash of the line before.
    pub(super) before: Option<String>,
}

/// A review of a cycle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reviewed {
    pub(crate) n: i64,
    /// `None` if it failed, or did not count.
    pub(crate) verdict: Option<String>,
    pub(crate) by: Option<String>,
    pub(super) cost_usd: Option<f64>,
    pub(crate) findings: usize,
    pub(super) file: String,
    pub(super) sha256: Option<String>,
}

impl Receipt {
    /// Returns whether the cycle has ended because its reviews were clean.
    pub(crate) fn has_passed(&self) -> bool {
        self.ended == PASSED
    }

    /// Returns whether this is about the same cycle of the same instance.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.at, &self.instance, &self.cycle) == (&other.at, &other.instance, &other.cycle)
    }

    /// Returns how many files have changed, in words, if it is about code.
    pub(crate) fn changed(&self) -> Option<String> {
        Some(match &*self.code.as_ref()?.files {
            [all] if all.starts_with(OVER_ALL) => format!("more than {FILES} changed files"),
            files => page::counted(files.len(), "changed file"),
        })
    }

    /// Returns its line: an in-toto statement about the tree that was reviewed, or about the last review if it was about a
    /// document.
    pub(super) fn line(&self) -> String {
        let last = self.reviews.last();
        let digest = match &self.code {
            Some(code) => json!({ "gitTree": code.tree }),
            None => json!({ "sha256": last.and_then(|review| review.sha256.as_ref()) }),
        };
        let statement = json!({
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{ "name": self.instance, "digest": digest }],
            "predicateType": "urn:taskie:receipt:1",
            "predicate": self,
        });
        statement.to_string()
    }

    /// Returns the receipt that a line is.
    pub(super) fn of(line: &str) -> Option<Self> {
        let mut statement: Json = serde_json::from_str(line).ok()?;
        serde_json::from_value(statement.get_mut("predicate")?.take()).ok()
    }
}

/// Returns what a receipt says of a changed file: its mode and object before and after, and its name; `None` if no reviewer could
/// read it, or no other file may have the same entry.
pub(super) fn entry(file: &Changed) -> Option<String> {
    let [before, now] = file.objects.as_ref().filter(|_| file.is_readable())?;
    let is_named = !file.path.contains(char::REPLACEMENT_CHARACTER);
    is_named.then(|| format!("{before} {now} {}", file.path))
}

/// Returns the entries of these files, or one hash over all of them if there are many.
pub(crate) fn entries(files: &[Changed]) -> Vec<String> {
    let mut entries: Vec<String> = files.iter().filter_map(entry).collect();
    if entries.len() > FILES {
        entries.sort();
        return vec![format!("{OVER_ALL}{}", hash::of(entries.join("\n").as_bytes()))];
    }
    entries
}

impl Reviewed {
    pub(super) fn of(review: &ReviewLine) -> Self {
        let run = &review.run;
        Self {
            n: run.n,
            verdict: run.verdict.clone().filter(|_| run.failure().is_none()),
            by: review.by.clone(),
            cost_usd: run.cost.and_then(|cost| page::usd(cost).as_f64()),
            findings: run.found.findings.len(),
            file: run.file.clone(),
            sha256: review.sha256.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_have_one_hash_in_any_order() {
        let file = |n: usize| Changed {
            path: format!("{n}"),
            objects: Some(["100644 a".to_owned(), "100644 b".to_owned()]),
            ..Changed::default()
        };
        let mut files: Vec<Changed> = (0..=FILES).map(file).collect();
        assert_eq!(entries(&files[1..]).len(), FILES);
        let all = entries(&files);
        files.reverse();
        assert_eq!(all, entries(&files));
        assert!(matches!(&all[..], [one] if one.starts_with(OVER_ALL)));
    }
}
