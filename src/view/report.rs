//! One page about an instance, for a browser. It has no script and loads nothing.

use std::path::PathBuf;
use std::time::Duration;

use anstream::adapter::strip_str;
use serde_json::{Value as Json, json};

use super::facts::Facts;
use super::reviews::ReviewFacts;
use super::{figures, markdown, path, screen, timeline};
use crate::chart::Chart;
use crate::clock;
use crate::diagram::Format;
use crate::disk;
use crate::expr::markup::fill;
use crate::page::{dollars, span};
use crate::run::place::Place;
use crate::store::journal::Line;
use crate::text::{markup, shown_lines};

/// Returns the page.
pub(crate) fn page(place: &Place, facts: &Facts) -> String {
    let chart = &place.chart;
    let lines = place.journal().read();
    let sentence = screen::sentence(facts).replace('\u{a0}', " ");
    let values = json!({
        "title": format!("{}: {} report", facts.name, chart.scope.noun),
        "now": clock::in_utc(clock::now()),
        "sentence": sentence,
        "warnings": facts.warnings,
        "rows": screen::rows(facts),
        "tables": tables(facts),
        "reviews": reviews(place, facts),
        "days": days(chart, &lines),
        "picture": Format::Svg.write(&path::of_instance(place)),
    });
    fill(include_str!("report.html"), values, plain)
}

/// Returns a text for a terminal as HTML.
fn plain(text: &str) -> String {
    markup(&shown_lines(&strip_str(text).to_string()))
}

/// Returns the tables about costs.
fn tables(facts: &Facts) -> Vec<Json> {
    let totals = &facts.totals;
    let tables =
        [("By cycle", "Cycle", &totals.cycles), ("By reviewer", "Reviewer", &totals.reviewers)];
    let tables = tables.into_iter().filter(|(_, _, groups)| !groups.is_empty());
    let rows = |(title, name, groups)| json!({ "title": title, "rows": figures::rows(&facts.chart, name, groups) });
    tables.map(rows).collect()
}

/// Returns the reviews on disk with their answers, grouped by what was reviewed.
fn reviews(place: &Place, facts: &Facts) -> Vec<Json> {
    let group = |(first, group): (&ReviewFacts, &[ReviewFacts])| {
        let reviews: Vec<Json> = group.iter().map(|review| values(place, review)).collect();
        json!({ "title": screen::title(facts, first), "reviews": reviews })
    };
    facts.groups().into_iter().map(group).collect()
}

fn values(place: &Place, review: &ReviewFacts) -> Json {
    let text = |path: PathBuf| {
        let text = disk::read(&place.root, &path).ok().flatten();
        markdown::html(&String::from_utf8_lossy(&text.unwrap_or_default()))
    };
    let verdict = review.verdict.as_ref();
    json!({
        "n": review.n, "verdict": review.verdict, "stated": review.stated, "by": review.by, "found": review.found,
        "is_best": verdict.is_some_and(|verdict| place.chart.is_best_verdict(verdict)),
        "took": review.seconds.map(|seconds| span(Duration::from_secs(seconds))),
        "cost": review.cost.map(dollars),
        "text": text(place.root.join(&review.file)),
        "answer": review.is_answered.then(|| text(place.dir().join(&review.answer))),
    })
}

/// Returns the timeline, day by day.
fn days(chart: &Chart, lines: &[Line]) -> Vec<Json> {
    let entries = timeline::entries(chart, lines);
    let days = entries.chunk_by(|a, b| a.day == b.day);
    let day = |day: &[timeline::TimelineEntry<'_>]| {
        let entries = day.iter().map(|entry| (&entry.time, &entry.text));
        json!({ "day": day.first().map(|entry| entry.day), "entries": entries.collect::<Vec<_>>() })
    };
    days.map(day).collect()
}
