//! What happened to an instance, in plain sentences, and why a stop ended as it did.

use std::time::Duration;

use anstream::adapter::strip_str;
use serde_json::Value as Json;

use crate::chart::Chart;
use crate::engine::inspect;
use crate::host::events::is_stop;
use crate::host::vendors::PASS;
use crate::page::{
    ACCENT, ALERT, BAD, FAINT, GOOD, Page, STRONG, counted, dollars, paint, paint_words, span,
    unbroken, width,
};
use crate::run::place::Place;
use crate::store::facts::RUN;
use crate::store::journal::{DecisionLine, GateLine, Line, REVIEW, ReviewLine};
use crate::text::{cut, full_stop, in_words, shown};

/// The width of `12:00` and the space after it.
const TIME: usize = 7;

/// The most characters of a value that is shown.
const VALUE: usize = 40;

/// Returns what happened, newest first. What happened several times in a row is one row.
pub(crate) fn timeline(chart: &Chart, lines: &[Line]) -> Page {
    let mut page = Page::new(width(), TIME);
    let entries = lines.iter().rev().filter_map(|line| {
        let text = match line {
            Line::Decision(decided) => decision(chart, decided)?,
            Line::Review(run) => review(chart, run),
            Line::Gate(run) => gate(run),
        };
        let (day, time) = line.at().split_at(line.at().find('T').unwrap_or(0));
        Some((day, time.get(1..6).unwrap_or_default(), text))
    });
    let entries: Vec<(&str, &str, String)> = entries.collect();
    let mut last = "";
    for same in entries.chunk_by(|a, b| (a.0, &a.2) == (b.0, &b.2)) {
        let Some((day, time, text)) = same.first() else { continue };
        if *day != last {
            last = day;
            page.text(STRONG, &format!("{} UTC", shown(day)));
        }
        let times = match same.len() {
            1 => String::new(),
            times => format!(" {}", paint(FAINT, unbroken(&format!("({times} times)")))),
        };
        page.row(&shown(time), &format!("{text}{times}"));
    }
    page
}

/// Returns what was decided. What the row of a review says is not repeated.
fn decision(chart: &Chart, decided: &DecisionLine) -> Option<String> {
    let about = decided.fired().filter_map(|rule| rule.about.as_deref()).last();
    let why = decided.stuck.as_deref().or(about);
    let because = why.map_or_else(String::new, |why| format!(": {}", shown(why)));
    let event = decided.event.as_str();
    let is_at_stop = is_stop(event);
    let head = match decided.answer.as_str() {
        "none" => format!("{} {}{because}", shown(event), paint_words(BAD, "is undecided")),
        "refuse" => format!("{} {}{because}", shown(event), paint_words(BAD, "was refused")),
        _ if decided.review.as_ref().is_some_and(|review| !review.superseded) => String::new(),
        _ if event == REVIEW => format!("Nothing was reviewed{because}"),
        "block" if is_at_stop => format!("{}{because}", paint_words(ALERT, "Stop blocked")),
        _ if is_at_stop => format!("{}{because}", paint_words(GOOD, "Stop allowed")),
        // A question changes nothing.
        "action" => return None,
        _ => match (event.strip_prefix("enter "), event.strip_prefix(RUN)) {
            (Some(_), _) if chart.scope.is_of_changes() => "The change begins".to_owned(),
            (Some(phase), _) => format!("Entered {}", paint_words(STRONG, &shown(phase))),
            (None, Some(command)) => {
                format!("Ran {}{}", paint_words(STRONG, &shown(command)), changes(decided))
            }
            (None, None) => shown(event).into_owned(),
        },
    };
    let named = decided.named.iter().map(|named| paint_words(ALERT, &shown(named)));
    let parts = std::iter::once(head).filter(|head| !head.is_empty()).chain(named);
    let sentences = parts.map(|part| {
        let end = full_stop(&strip_str(&part).to_string());
        format!("{part}{end}")
    });
    let sentences: Vec<String> = sentences.collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Returns the fields that a command has changed, with their new values.
fn changes(decided: &DecisionLine) -> String {
    let changed = decided.changed.iter().map(|(name, [_, new])| {
        let new = match new.is_null() {
            true => "none".to_owned(),
            false => cut(in_words(new), VALUE),
        };
        unbroken(&format!("{} {}", shown(name), shown(&new)))
    });
    let changed: Vec<String> = changed.collect();
    // More of them are what the command is for.
    match &changed[..] {
        [changed] => format!(" ({changed})"),
        _ => String::new(),
    }
}

fn review(chart: &Chart, review: &ReviewLine) -> String {
    let run = &review.run;
    let of = subject(chart, review).map(|of| format!(" of {of}")).unwrap_or_default();
    let name = paint_words(STRONG, &shown(&format!("{} {}{of}", run.cycle, run.n)));
    let by = review.by.as_deref().map(|by| format!(" by {}", shown(by)));
    let mut took = unbroken(&span(Duration::from_secs(run.seconds)));
    took.extend(run.cost.map(|cost| format!(" ({})", dollars(cost))));
    let (outcome, more) = match (&run.error, &run.verdict) {
        (Some(why), _) => (paint(BAD, "failed"), why.clone()),
        (None, verdict) => {
            let verdict = shown(verdict.as_deref().unwrap_or("no verdict"));
            let style = if run.verdict.as_deref() == Some(PASS) { GOOD } else { BAD };
            (paint_words(style, &verdict), run.found.in_words())
        }
    };
    let more = if more.is_empty() { more } else { format!(": {}", shown(&more)) };
    format!("{name}: {outcome}{} in {took}{more}", by.unwrap_or_default())
}

fn gate(gate: &GateLine) -> String {
    let name = format!("gate {}", paint_words(STRONG, &shown(&gate.command)));
    let took = unbroken(&span(Duration::from_secs(gate.seconds)));
    match &gate.error {
        Some(why) => format!("{name}: {} after {took}: {}", paint(BAD, "failed"), shown(why)),
        None => format!("{name}: {} in {took}", paint(GOOD, "passed")),
    }
}

/// Returns what was reviewed, if that differs from review to review of the cycle.
fn subject(chart: &Chart, review: &ReviewLine) -> Option<String> {
    chart.cycles.get(&review.run.cycle)?.base.holes().next()?;
    let file = std::iter::once(review.run.file.as_str());
    Some(inspect::reviews(chart, file).pop()?.base)
}

/// Explains the `n`th stop from the end: each rule in order, and what made its guard false. The error is a sentence about a
/// stop that is not there, or at which nothing was decided.
pub(crate) fn explained(place: &Place, n: usize) -> Result<Page, String> {
    let lines = place.journal().read().into_iter();
    let decisions = lines.filter_map(Line::into_decision);
    let stops: Vec<DecisionLine> =
        decisions.filter(|decided| is_stop(&decided.event) || decided.event == REVIEW).collect();
    let (noun, name) = (place.chart.scope.noun(), &place.instance.name);
    let Some(stop) = stops.len().checked_sub(n).and_then(|at| stops.get(at)) else {
        return Err(match stops.len() {
            0 => format!("no stop of {noun} `{name}` is recorded"),
            known => format!("{known} stops of {noun} `{name}` are recorded, and not {n}"),
        });
    };
    let mut page = Page::labeled(stop.rules.iter().map(|rule| rule.rule.as_str()));
    let at = shown(stop.at.get(..19).unwrap_or(&stop.at)).replace('T', " ");
    let head = match (stop.answer.as_str(), stop.event == REVIEW) {
        ("none", _) => {
            let why = stop.stuck.as_deref().unwrap_or_default();
            return Err(format!("nothing could be decided: {}", shown(why)));
        }
        (_, true) => format!("The review of {at} UTC"),
        ("block", false) => format!("The stop of {at} UTC: blocked"),
        // If no rule answers, the stop is allowed too.
        _ => format!("The stop of {at} UTC: allowed"),
    };
    page.text(STRONG, &head);
    page.blank();
    for rule in &stop.rules {
        let about = rule.about.as_deref().or_else(|| place.chart.about(&rule.rule));
        let about = shown(about.unwrap_or_default());
        if rule.fired {
            let text = format!("{} {about}", paint_words(ACCENT, "fired:"));
            page.styled_row(ACCENT, &shown(&rule.rule), text.trim_end());
            continue;
        }
        page.row(&shown(&rule.rule), &about);
        // Evaluation ends with the part that is false, which has looked up the last name.
        if let Some((name, value)) = rule.saw.last() {
            let because = format!("{name} is {}", read_aloud(value));
            page.row("", &format!("{} {}", paint(FAINT, "not:"), shown(&because)));
        }
    }
    Ok(page)
}

/// Returns a value for a person.
fn read_aloud(value: &Json) -> String {
    match value {
        Json::Null => "none".to_owned(),
        Json::Object(list) if list.contains_key("items") => {
            counted(list["items"].as_u64().unwrap_or_default(), "item")
        }
        other => other.to_string(),
    }
}
