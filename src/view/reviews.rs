//! The reviews of an instance: those on disk, and how the last ones went.

use serde::Serialize;

use crate::disk;
use crate::engine::inspect;
use crate::engine::spent::failed;
use crate::hash;
use crate::host::vendors::PASS;
use crate::project::seen;
use crate::run::place::Place;
use crate::store::journal;
use crate::text::full_stop;

/// A review on disk.
#[derive(Debug, Serialize)]
pub(crate) struct ReviewFacts {
    pub(crate) cycle: String,
    /// What was reviewed: the stem of the file's name.
    #[serde(rename = "of")]
    pub(crate) base: String,
    pub(crate) n: u64,
    pub(crate) file: String,
    /// The verdict, if it is known for this version of the file.
    pub(crate) verdict: Option<String>,
    pub(crate) by: Option<String>,
    /// What it found, in words.
    pub(crate) found: String,
    #[serde(rename = "answered")]
    pub(crate) is_answered: bool,
    /// The files that it was about and that have changed since, if it is the last one about them and had no finding that counts.
    pub(crate) changed: Vec<String>,
}

impl ReviewFacts {
    pub(super) fn is_about_the_same(&self, other: &Self) -> bool {
        self.cycle == other.cycle && self.base == other.base
    }
}

/// Says how many reviews of a cycle have failed since the last one that ended, if any, and why the last of them did. Those before the
/// user `retried` do not count.
pub(super) fn failures(
    journal: &[journal::ReviewLine],
    cycle: &str,
    retried: Option<&str>,
) -> Option<String> {
    let last = &journal.last().filter(|last| last.run.cycle == cycle)?.run;
    let why = last.failure()?;
    let runs = journal.iter().rev().map(|ended| &ended.run);
    let failed = match failed(runs, |run| run.cycle == last.cycle, retried).len() {
        0 | 1 => "The last review failed".to_owned(),
        many => format!("The last {many} reviews failed"),
    };
    Some(format!("{failed}: {why}{}", full_stop(why)))
}

/// Returns the reviews on disk, with everything that this machine knows about them; `names` are sorted.
pub(super) fn on_disk(
    place: &Place,
    names: &[String],
    journal: &[journal::ReviewLine],
) -> Vec<ReviewFacts> {
    let files = inspect::reviews(&place.chart, names.iter().map(String::as_str));
    let dir = place.dir();
    let with_ending = |file: inspect::ReviewFile| {
        let text = disk::read_regular(&dir.join(&file.name)).ok().flatten();
        let sha256 = text.map(|text| hash::of(&text));
        // The last run that wrote a file of this name, unless the file has changed since.
        let ended = journal
            .iter()
            .rfind(|ended| ended.run.file == file.name && ended.run.error.is_none())
            .filter(|ended| ended.sha256 == sha256);
        let verdict = ended.and_then(|ended| ended.run.verdict.clone());
        let review = ReviewFacts {
            verdict,
            by: ended.and_then(|ended| ended.by.clone()),
            found: ended.map(|ended| ended.run.found.in_words()).unwrap_or_default(),
            is_answered: names.binary_search(&file.answer).is_ok(),
            file: format!("{}/{}", place.instance.dir.display(), file.name),
            cycle: file.cycle,
            base: file.base,
            n: file.n,
            changed: Vec::new(),
        };
        (review, ended)
    };
    let mut reviews: Vec<_> = files.into_iter().map(with_ending).collect();
    for group in reviews.chunk_by_mut(|(a, _), (b, _)| a.is_about_the_same(b)) {
        if let Some((last, Some(ended))) = group.last_mut()
            && last.verdict.as_deref() == Some(PASS)
        {
            last.changed = seen::changed(&place.chart, &place.root, &dir, &ended.subject);
        }
    }
    reviews.into_iter().map(|(review, _)| review).collect()
}
