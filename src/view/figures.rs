//! Figures about reviews: verdicts, time and cost.

use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::json;

use crate::engine::spent::PastReview;
use crate::hash::IndexMap;
use crate::host::vendors::VERDICTS;
use crate::page::{self, PLAIN, Page, STRONG, counted, span, usd};
use crate::store::journal::ReviewLine;
use crate::text::shown;

/// The totals of all reviews, of each cycle and of each reviewer.
#[derive(Debug, Serialize)]
pub(crate) struct Totals {
    pub(crate) all: Figures,
    pub(crate) cycles: IndexMap<String, Figures>,
    pub(crate) reviewers: IndexMap<String, Figures>,
}

impl Totals {
    pub(crate) fn of(reviews: &[ReviewLine]) -> Self {
        let by = |review: &ReviewLine| review.by.clone().unwrap_or_else(|| "unknown".to_owned());
        Self {
            all: Figures::of(reviews.iter().map(|review| &review.run)),
            cycles: groups(reviews, |review| review.run.cycle.clone()),
            reviewers: groups(reviews, by),
        }
    }

    /// Returns the page about them.
    pub(crate) fn page(&self) -> Page {
        let mut page = Page::default();
        if self.all.reviews == 0 {
            page.text(PLAIN, "no review is recorded");
            return page;
        }
        page.text(STRONG, &self.all.sentence());
        for (title, groups) in [("cycle", &self.cycles), ("reviewer", &self.reviewers)] {
            page.blank();
            page.table(&rows(title, groups), 1);
        }
        page
    }
}

/// The totals of a number of reviews.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) reviews: usize,
    verdicts: IndexMap<String, usize>,
    failed: usize,
    seconds: u64,
    /// In millionths of a dollar.
    cost: u64,
    /// Those without a known cost.
    unpriced: usize,
}

impl Figures {
    pub(crate) fn of<'r>(runs: impl Iterator<Item = &'r PastReview>) -> Self {
        let mut figures = Self::default();
        for run in runs.filter(|run| counts(run)) {
            figures.add(run);
        }
        figures
    }

    fn add(&mut self, run: &PastReview) {
        self.reviews += 1;
        self.failed += usize::from(run.error.is_some());
        if let Some(verdict) = &run.verdict {
            *self.verdicts.entry(verdict.clone()).or_default() += 1;
        }
        self.seconds = self.seconds.saturating_add(run.seconds);
        match run.cost {
            Some(cost) => self.cost = self.cost.saturating_add(cost),
            None => self.unpriced += 1,
        }
    }

    fn time(&self) -> String {
        span(Duration::from_secs(self.seconds))
    }

    pub(crate) fn price(&self) -> String {
        page::price(self.cost, self.unpriced, self.reviews)
    }

    pub(crate) fn sentence(&self) -> String {
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        format!(
            "{} in {}, cost {}{failed}",
            counted(self.reviews, "review"),
            self.time(),
            self.price()
        )
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cost = (self.unpriced < self.reviews).then_some(self.cost);
        let figures = json!({
            "reviews": self.reviews, "verdicts": self.verdicts, "failed": self.failed,
            "seconds": self.seconds, "cost_usd": cost.map(usd), "unpriced": self.unpriced,
        });
        figures.serialize(serializer)
    }
}

/// Returns whether a reviewer was started for the run, which could have taken money or time.
fn counts(run: &PastReview) -> bool {
    !run.not_started
}

/// Returns the totals for each group of reviews, in the order of their first review.
fn groups(
    reviews: &[ReviewLine],
    key: impl Fn(&ReviewLine) -> String,
) -> IndexMap<String, Figures> {
    let mut groups: IndexMap<String, Figures> = IndexMap::default();
    for review in reviews.iter().filter(|review| counts(&review.run)) {
        let group = groups.entry(key(review)).or_default();
        group.add(&review.run);
    }
    groups
}

/// Returns the rows of a table with a row for each group; the first one has the names of the columns.
fn rows(title: &str, groups: &IndexMap<String, Figures>) -> Vec<Vec<String>> {
    let mut head = vec![title.to_owned(), "reviews".to_owned()];
    head.extend(VERDICTS.map(str::to_owned));
    head.extend(["failed", "time", "cost"].map(str::to_owned));
    let mut rows = vec![head];
    for (name, figures) in groups {
        let counts = VERDICTS.map(|verdict| figures.verdicts.get(verdict).copied().unwrap_or(0));
        let counts = std::iter::once(figures.reviews).chain(counts).chain([figures.failed]);
        let mut row = vec![shown(name).into_owned()];
        row.extend(counts.map(|count| count.to_string()));
        row.extend([figures.time(), figures.price()]);
        rows.push(row);
    }
    rows
}
