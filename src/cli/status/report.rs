//! `taskie report`: one page about an instance, for a browser. It has no script and loads nothing.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anstream::adapter::strip_str;
use clap::ArgMatches;

use super::facts::{Facts, Review};
use super::{markdown, screen};
use crate::chart::Chart;
use crate::cli::error::CliError;
use crate::cli::history::{log, stats};
use crate::cli::output::say;
use crate::cli::{diagram, place};
use crate::diagram::{Format, escaped};
use crate::page::{dollars, span};
use crate::shell::file;
use crate::shell::journal::{self, Line};
use crate::shell::place::Place;
use crate::text::{shown, shown_lines};

const STYLE: &str = "\
:root { color-scheme: light dark; --text: #1f2328; --muted: #59636e; --ground: #ffffff; --line: #d1d9e0; \
--code: #f6f8fa; --link: #0969da; --good: #1a7f37; --bad: #cf222e }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --muted: #9198a1; --ground: #0d1117; --line: #3d444d; \
--code: #161b22; --link: #4493f8; --good: #3fb950; --bad: #f85149 } }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; color: var(--text); background: var(--ground); \
font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
a { color: var(--link) }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; list-style: none }
section { border-top: 1px solid var(--line); margin-top: 2rem }
.wide { overflow-x: auto }
.wide svg { max-width: 100%; min-width: 22rem; height: auto }
table { border-collapse: collapse; margin: 1rem 0; overflow-wrap: normal }
caption { text-align: left; font-weight: 600 }
th, td { white-space: nowrap; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; padding: .4rem .8rem }
summary { cursor: pointer }
details > div { border-top: 1px solid var(--line); margin-top: .4rem }
pre { overflow-x: auto; padding: .6rem; background: var(--code); font-size: .875rem }
code { background: var(--code) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem } dt { color: var(--muted) } dd { margin: 0 }
ol.time { list-style: none; padding: 0 } ol.time li { display: grid; grid-template-columns: 5.5rem 1fr }
time, .muted { color: var(--muted) } .good { color: var(--good) } .bad { color: var(--bad) } .deep { margin-left: 1.5rem }
";

/// Writes the page.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let session = place::session(matches)?;
    let place = place::resolve(chart, matches, session.as_deref(), place::Absent::Refuse)?;
    let facts = Facts::gather(&place, session.as_deref())?;
    let Some(path) = matches.get_one::<PathBuf>("html") else {
        return Err(CliError::new("no file is named"));
    };
    std::fs::write(path, page(&place, &facts))
        .map_err(|error| CliError::new(format!("{} cannot be written: {error}", path.display())))?;
    say(&format!("wrote {}", shown(&path.to_string_lossy())));
    Ok(ExitCode::SUCCESS)
}

fn page(place: &Place, facts: &Facts) -> String {
    let noun = &place.chart.scope.noun;
    let title = escaped(&shown(&format!("{}: {noun} report", facts.name)));
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let now = now.replace('T', " ").replace('Z', " UTC");
    let lines = journal::read(place);
    let picture = Format::Svg.write(&diagram::of_instance(place));
    let sections = [
        ("costs", "Costs", costs(place, &lines)),
        ("reviews", "Reviews", reviews(place, facts)),
        ("timeline", "Timeline", timeline(&place.chart, &lines)),
        (
            "diagram",
            "Diagram",
            format!(
                "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Diagram\">\n{picture}</div>\n"
            ),
        ),
    ];
    let contents = sections
        .iter()
        .map(|(id, title, _)| format!("<li><a href=\"#{id}\">{title}</a></li>\n"));
    let contents: String = contents.collect();
    let sections = sections.iter().map(|(id, title, text)| {
        format!(
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n{text}</section>\n"
        )
    });
    let sections: String = sections.collect();
    let rows = std::iter::once(("waits for".to_owned(), screen::waits_for(facts)))
        .chain(screen::rows(facts))
        .map(|(label, text)| {
            let (label, text) = (plain(&label), plain(&text));
            format!("<dt>{label}</dt><dd>{text}</dd>\n")
        });
    let rows: String = rows.collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n\
         <p class=\"muted\">As of {now}; times are UTC. Costs, verdicts and the timeline are from the journal of this \
         machine.</p>\n<nav aria-label=\"Contents\">\n<ul>\n{contents}</ul>\n</nav>\n</header>\n<main>\n\
         <dl>\n{rows}</dl>\n{sections}</main>\n</body>\n</html>\n"
    )
}

/// Returns a text for a terminal as HTML.
fn plain(text: &str) -> String {
    escaped(&shown_lines(&strip_str(text).to_string()))
}

fn costs(place: &Place, lines: &[Line]) -> String {
    let chart = &place.chart;
    let reviews: Vec<journal::Review> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Review(review) => Some(review.clone()),
            _ => None,
        })
        .collect();
    if reviews.is_empty() {
        return "<p>No review is recorded on this machine.</p>\n".to_owned();
    }
    let mut html = String::new();
    let by = |review: &journal::Review| review.by.clone().unwrap_or_else(|| "unknown".to_owned());
    let cycles = stats::groups(chart, &reviews, |review| review.cycle.clone());
    let reviewers = stats::groups(chart, &reviews, by);
    for (title, name, groups) in [
        ("By cycle", "Cycle", cycles),
        ("By reviewer", "Reviewer", reviewers),
    ] {
        html.push_str(&table(title, &stats::rows(chart, name, &groups)));
    }
    html
}

/// Returns a table whose first row has the names of the columns, and whose first column has names.
fn table(title: &str, rows: &[Vec<String>]) -> String {
    let mut html = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\n<table>\n<caption>{title}</caption>\n"
    );
    for (at, row) in rows.iter().enumerate() {
        html.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let cell = plain(cell);
            html.push_str(&match (at, column) {
                (0, 0) => format!("<th scope=\"col\">{cell}</th>"),
                (0, _) => format!("<th scope=\"col\" class=\"number\">{cell}</th>"),
                (_, 0) => format!("<th scope=\"row\">{cell}</th>"),
                _ => format!("<td class=\"number\">{cell}</td>"),
            });
        }
        html.push_str("</tr>\n");
    }
    html + "</table>\n</div>\n"
}

/// Returns the reviews on disk with their answers, folded.
fn reviews(place: &Place, facts: &Facts) -> String {
    if facts.reviews.is_empty() {
        return "<p>There is no review yet.</p>\n".to_owned();
    }
    let mut html = String::new();
    let is_same = |a: &Review, b: &Review| (&a.cycle, &a.base) == (&b.cycle, &b.base);
    for group in facts.reviews.chunk_by(is_same) {
        let Some(first) = group.first() else { continue };
        let title = plain(&screen::title(facts, first));
        html.push_str(&format!("<h3>{title}</h3>\n"));
        for review in group {
            html.push_str(&folded(place, review));
        }
    }
    html
}

fn folded(place: &Place, review: &Review) -> String {
    let verdict = match (&review.verdict, &review.stated) {
        (Some(verdict), _) => {
            let class = if place.chart.is_best_verdict(verdict) {
                "good"
            } else {
                "bad"
            };
            format!("<strong class=\"{class}\">{}</strong>", plain(verdict))
        }
        (None, Some(stated)) => format!(
            "{} <span class=\"muted\">(as its file says)</span>",
            plain(stated)
        ),
        (None, None) => "<span class=\"muted\">verdict unknown</span>".to_owned(),
    };
    let by = review.by.as_ref().map(|by| format!(" by {}", plain(by)));
    let took = review
        .seconds
        .map(|seconds| format!(" in {}", span(Duration::from_secs(seconds))));
    let cost = match (review.cost, &review.verdict) {
        (Some(cost), _) => format!(" ({})", escaped(&dollars(cost))),
        (None, Some(_)) => " (cost unknown)".to_owned(),
        (None, None) => String::new(),
    };
    let found = match review.found.is_empty() {
        true => String::new(),
        false => format!(": {}", plain(&review.found)),
    };
    let answered = if review.is_answered {
        ""
    } else {
        ", not answered"
    };
    let text = |path: PathBuf| {
        let text = file::read(&place.root, &path, file::LIMIT).ok().flatten();
        let text = text.unwrap_or_default();
        markdown::html(&String::from_utf8_lossy(&text))
    };
    let mut html = format!(
        "<details>\n<summary>Review {}: {verdict}{}{}{cost}{found}{answered}</summary>\n<div>\n{}</div>\n",
        review.n,
        by.unwrap_or_default(),
        took.unwrap_or_default(),
        text(place.root.join(&review.file))
    );
    if review.is_answered {
        let answer = text(place.dir().join(&review.answer));
        html.push_str(&format!(
            "<div>\n<p><strong>Answer</strong></p>\n{answer}</div>\n"
        ));
    }
    html + "</details>\n"
}

fn timeline(chart: &Chart, lines: &[Line]) -> String {
    let entries = log::entries(chart, lines);
    if entries.is_empty() {
        return "<p>Nothing is recorded on this machine.</p>\n".to_owned();
    }
    let mut html = String::new();
    for day in entries.chunk_by(|a, b| a.day == b.day) {
        let Some(first) = day.first() else { continue };
        html.push_str(&format!(
            "<h3>{}</h3>\n<ol class=\"time\">\n",
            plain(first.day)
        ));
        for entry in day {
            let (time, text) = (plain(&entry.time), plain(&entry.text));
            html.push_str(&format!(
                "<li><time>{time}</time><span>{text}</span></li>\n"
            ));
        }
        html.push_str("</ol>\n");
    }
    html
}
