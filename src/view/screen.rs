//! The status of an instance: as a screen for people, as a sentence, and as JSON.

use std::time::Duration;

use anstream::adapter::strip_str;
use serde_json::Value as Json;

use super::facts::{CycleFacts, Facts};
use super::progress;
use super::reviews::ReviewFacts;
use super::turn::{Next, Waits};
use crate::host::vendors::PASS;
use crate::page::{
    ACCENT, ALERT, BAD, FAINT, GOOD, PLAIN, Page, STRONG, paint, paint_words, span, unbroken,
};
use crate::store::facts::Running;
use crate::text::{capitalized, shown, shown_lines};

/// The most rows for reviews: those of what was reviewed last.
const MOST_ROWS: usize = 6;

/// Returns the rows about the state, without the reviews.
fn rows(facts: &Facts) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |label: &str, text: String| rows.push((label.to_owned(), text));
    let is_of_change = facts.chart.scope.is_of_changes();
    match (facts.is_started, facts.phase()) {
        _ if !facts.is_usable => row("phase", "unknown: state.json cannot be used".to_owned()),
        // Of a change, whose turn it is says that.
        (true, Some(_)) if is_of_change => {}
        (true, Some(phase)) => {
            let due = match facts.due().filter(|due| *due != phase) {
                Some(due) => format!("{phase}, then {due}"),
                None if facts.is_final => format!("{phase}, nothing comes after it"),
                None => phase.to_owned(),
            };
            row("phase", due);
        }
        _ => row("phase", "not started: there is no state.json yet".to_owned()),
    }
    if facts.cycle.is_some() {
        row("review", progress(facts));
    }
    if let Some(driver) = &facts.driver {
        row("driven by", format!("session {}", shown(driver)));
    }
    let parts = progress::in_words(&facts.progress);
    if !parts.is_empty() {
        row("progress", parts.join(", "));
    }
    if facts.spent.reviews > 0 {
        row("spent", facts.spent.sentence());
    }
    rows
}

/// Returns the screen.
pub(crate) fn screen(facts: &Facts) -> Page {
    let mut rows = rows(facts);
    for (at, line) in reviews(facts).into_iter().enumerate() {
        let label = if at == 0 { "reviews" } else { "" };
        rows.push((label.to_owned(), line));
    }
    // What the user has just read need not be said again.
    let is_said = |next: &Next| next.message == facts.stop.said;
    let at_stop = match facts.next.as_ref().is_some_and(is_said) {
        true => "it is allowed, with this message".into(),
        false => shown_lines(&facts.stop.text),
    };

    let labels = rows.iter().map(|(label, _)| label.as_str()).chain(["at a stop"]);
    let mut page = Page::labeled(labels);
    let stage = facts.stage.as_deref().filter(|_| facts.is_usable);
    let stage = stage.unwrap_or_default();
    let title = paint(STRONG, unbroken(&facts.name));
    let words = paint_words(ACCENT, stage);
    page.text(PLAIN, &if stage.is_empty() { title } else { format!("{title}  {words}") });
    page.text(FAINT, &facts.dir);
    page.blank();
    // It comes first because it matters most on a screen that is too small for everything.
    let turn = turn(facts);
    page.text(PLAIN, &turn);
    page.blank();
    page.row("at a stop", &at_stop);
    let is_news = |warning: &&String| !turn.contains(&*shown(warning));
    for warning in facts.warnings.iter().filter(is_news) {
        page.row("warning", &paint_words(ALERT, &shown(warning)));
    }
    page.blank();
    for (label, text) in &rows {
        page.row(label, text);
    }
    page
}

/// Returns which review is next, of how many.
fn progress(facts: &Facts) -> String {
    let Some(cycle) = &facts.cycle else {
        return String::new();
    };
    let (done, limit) = (cycle.standing.count, cycle.standing.limit);
    let of = match &cycle.standing.base {
        Some(base) => format!("{} of {base}", cycle.id),
        None => cycle.id.clone(),
    };
    match done {
        _ if limit == 0 => format!("{of}: no reviews (the limit is 0)"),
        _ if done >= limit => {
            format!("{of}: {done} of {limit}, {}", paint_words(ALERT, "the limit is reached"))
        }
        // Who does the running one is said where it is named.
        _ => match by(cycle.by.as_deref().filter(|_| facts.running.is_none())) {
            by if by.is_empty() => format!("{of}: {}", reviews_so_far(cycle)),
            by => format!("{of}: {}, the next one{by}", reviews_so_far(cycle)),
        },
    }
}

/// Returns how many reviews a cycle has had, and how near it is to its end.
fn reviews_so_far(cycle: &CycleFacts) -> String {
    let (done, limit) = (cycle.standing.count, cycle.standing.limit);
    let streak = match cycle.streak.is_empty() {
        true => String::new(),
        false => format!(", {}", shown(&cycle.streak)),
    };
    let so_far = unbroken(&format!("{done} of {limit}"));
    format!("reviews in this cycle {so_far}{streak}")
}

fn by(by: Option<&str>) -> String {
    by.map(|by| format!(" by {}", shown(by))).unwrap_or_default()
}

/// Returns a row for each thing that was reviewed: its reviews with their verdicts.
fn reviews(facts: &Facts) -> Vec<String> {
    let groups = facts.groups();
    let names = groups.iter().map(|(first, _)| title(facts, first));
    let widest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    let hidden = groups.len().saturating_sub(MOST_ROWS);
    let mut rows = Vec::new();
    if hidden > 0 {
        rows.push(paint_words(FAINT, &format!("{hidden} more before these")));
    }
    for (first, group) in &groups[hidden..] {
        let mut marks: Vec<String> = group.iter().map(mark).collect();
        let changed = group.last().map_or(&[][..], |review| &review.changed);
        if !changed.is_empty() {
            let text = format!("({} changed since)", shown(&changed.join(", ")));
            marks.push(paint_words(ALERT, &text));
        }
        let name = title(facts, first);
        rows.push(format!("{}  {}", unbroken(&format!("{name:<widest$}")), marks.join("  ")));
    }
    rows
}

/// Returns a review's cycle, and what was reviewed if that differs from review to review.
pub(crate) fn title(facts: &Facts, review: &ReviewFacts) -> String {
    let cycle = facts.chart.cycles.get(&review.cycle);
    cycle.map_or_else(|| review.cycle.clone(), |cycle| cycle.title(&review.base))
}

fn mark(review: &ReviewFacts) -> String {
    let style = |verdict: &String| if verdict == PASS { GOOD } else { BAD };
    let verdict = match &review.verdict {
        Some(verdict) => paint(style(verdict), shown(verdict)),
        // Nobody here has seen that reviewer.
        None => paint(FAINT, "?"),
    };
    format!("{}\u{a0}{verdict}", review.n)
}

fn who(waits: Waits) -> &'static str {
    match waits {
        Waits::Review => "a review is running",
        Waits::Session => "another session's turn",
        Waits::Agent | Waits::Stop => "the agent's turn",
        Waits::User => "your turn",
        Waits::Nothing => "nothing is left to do",
    }
}

/// Returns what is running: a review, or a gate before it.
fn what_runs(running: &Running) -> String {
    let review = format!("{} {}", running.cycle, running.n);
    match &running.gate {
        Some(gate) => format!("the gate `{}` before {review}", shown(gate)),
        None => format!("{review}{}", by(running.by.as_deref())),
    }
}

/// Says whose turn it is, and what is to be done.
pub(crate) fn turn(facts: &Facts) -> String {
    let who = capitalized(who(facts.waits));
    let what = what_to_do(facts);
    match (facts.waits, what.is_empty()) {
        (Waits::Nothing, false) => what,
        (_, true) => paint_words(STRONG, &format!("{who}.")),
        (_, false) => {
            let who = format!("{who}{}", before(&what));
            format!("{} {what}", paint_words(STRONG, &who))
        }
    }
}

/// Returns the facts as JSON, with the sentence that says whose turn it is; without the version.
pub(crate) fn json(facts: &Facts) -> Json {
    let mut json = facts.to_json();
    if let Some(fields) = json.as_object_mut() {
        fields.insert("sentence".to_owned(), Json::from(turn_in_words(facts)));
    }
    json
}

/// Returns whose turn it is and what is to be done, as a line of text.
pub(crate) fn turn_in_words(facts: &Facts) -> String {
    let text = strip_str(&turn(facts)).to_string();
    shown(&text.replace('\u{a0}', " ")).into_owned()
}

/// Returns what stands between whose turn it is and what there is to do, which is the rest of the sentence or sentences of
/// its own.
fn before(what: &str) -> &'static str {
    match what.starts_with(char::is_uppercase) {
        true => ".",
        false => ":",
    }
}

fn what_to_do(facts: &Facts) -> String {
    let next = facts.next.as_ref();
    let left = next.map(|next| shown_lines(&next.message).into_owned());
    match (facts.waits, &facts.running, &facts.driver) {
        (Waits::Review, Some(running), _) => {
            format!(
                "{}, for {} of at most {}",
                what_runs(running),
                unbroken(&span(running.elapsed())),
                unbroken(&span(Duration::from_secs(running.timeout)))
            )
        }
        (Waits::Session, _, Some(driver)) => format!(
            "session {} drives this {}: the stops of this session are not about it",
            shown(driver),
            facts.chart.scope.noun()
        ),
        _ if !facts.is_usable => "state.json has to be fixed".to_owned(),
        (Waits::User, ..) if facts.obstacle.is_some() => {
            shown(facts.obstacle.as_deref().unwrap_or_default()).into_owned()
        }
        (Waits::Nothing, ..) if facts.finished.is_some() => {
            shown(facts.finished.as_deref().unwrap_or_default()).into_owned()
        }
        _ => match (left, &facts.unknown) {
            (Some(left), _) => left,
            (None, why) => shown(why.as_deref().unwrap_or_default()).into_owned(),
        },
    }
}
