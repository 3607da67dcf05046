//! What happened to an instance, in words.

use std::time::Duration;

use crate::chart::Chart;
use crate::engine::inspect;
use crate::host::vendors::PASS;
use crate::page::{
    ACCENT, ALERT, BAD, FAINT, GOOD, STRONG, dollars, paint, paint_words, span, unbroken,
};
use crate::store::journal::{DecisionLine, GateLine, Line, REVIEW, ReviewLine};
use crate::text::{cut, in_words, shown};

/// The most characters of a value that is shown.
const VALUE: usize = 40;

/// What happened at one time, or several times in a row.
pub(crate) struct TimelineEntry<'l> {
    pub(crate) day: &'l str,
    pub(crate) time: String,
    /// For a terminal.
    pub(crate) text: String,
}

/// Returns what happened, oldest first. Identical consecutive stops, which are common, share one entry.
pub(crate) fn entries<'l>(chart: &Chart, lines: &'l [Line]) -> Vec<TimelineEntry<'l>> {
    let entry = |same: &'l [Line]| {
        let line = same.last()?;
        let (day, time) = line.at().split_at(line.at().find('T').unwrap_or(0));
        let mut text = match line {
            Line::Decision(decided) => decision(decided),
            Line::Review(run) => review(chart, run),
            Line::Gate(run) => gate(run),
        };
        if same.len() > 1 {
            text.push(' ');
            text.push_str(&paint(FAINT, unbroken(&format!("({} times)", same.len()))));
        }
        let time = time.chars().skip(1).take(8).collect();
        Some(TimelineEntry { day, time, text })
    };
    lines.chunk_by(is_again).filter_map(entry).collect()
}

fn decision(decided: &DecisionLine) -> String {
    let mut text = paint_words(STRONG, &shown(&decided.event));
    let (word, style) = match decided.answer.as_str() {
        "block" | "allow" if decided.event == REVIEW => ("", GOOD),
        "block" => ("blocked", ALERT),
        "allow" => ("allowed", GOOD),
        "refuse" => ("refused", BAD),
        "none" => ("undecided", BAD),
        "action" => (decided.action.as_deref().unwrap_or_default(), ACCENT),
        _ => ("", GOOD),
    };
    if !word.is_empty() {
        text.push(' ');
        text.push_str(&paint_words(style, &shown(word)));
    }
    let fired = decided.fired().filter_map(|rule| rule.about.as_deref());
    let fired: Vec<&str> = fired.collect();
    // Of the rules that fired, the last one answers. Where a stop is allowed, those before it say why; the first one has
    // only started the review, if there was one.
    let first = match (decided.answer.as_str(), &decided.review) {
        ("allow", None) if decided.changed.is_empty() => 0,
        ("allow", Some(_)) if decided.changed.is_empty() => fired.len().min(1),
        _ => fired.len().saturating_sub(1),
    };
    let about = Some(fired[first..].join("; ")).filter(|about| !about.is_empty());
    if let Some(why) = decided.stuck.as_deref().or(about.as_deref()) {
        text.push_str(": ");
        text.push_str(&shown(why));
    }
    for (name, [_, new]) in &decided.changed {
        text.push_str(&paint(FAINT, "\u{a0}· "));
        let new = match new.is_null() {
            true => "none".to_owned(),
            false => cut(in_words(new), VALUE),
        };
        text.push_str(&unbroken(&format!("{name} {new}")));
    }
    for file in &decided.files {
        text.push_str(&paint(FAINT, "\u{a0}· "));
        text.push_str(&shown(file));
    }
    for named in &decided.named {
        text.push_str(&paint(FAINT, "\u{a0}· "));
        text.push_str(&paint_words(ALERT, &shown(named)));
    }
    if let Some(call) = &decided.call {
        text.push_str(&paint(FAINT, "\u{a0}· "));
        text.push_str(&paint_words(ALERT, &format!("your turn: {}", shown(call))));
    }
    text
}

fn review(chart: &Chart, review: &ReviewLine) -> String {
    let run = &review.run;
    let name = match subject(chart, review) {
        Some(of) => format!("{} {} {}", shown(&run.cycle), shown(&of), run.n),
        None => format!("{} {}", shown(&run.cycle), run.n),
    };
    let by = review.by.as_deref().map(|by| format!(" by {}", shown(by)));
    let by = by.unwrap_or_default();
    let mut took = unbroken(&span(Duration::from_secs(run.seconds)));
    if let Some(cost) = run.cost {
        took.push_str(&format!(" ({})", dollars(cost)));
    }
    let found = run.found.in_words(&chart.findings.severities);
    if !found.is_empty() {
        took.push_str(&format!(": {}", shown(&found)));
    }
    let name = paint_words(STRONG, &name);
    match (&run.error, &run.verdict) {
        (Some(why), _) => {
            let failed = paint(BAD, "failed");
            let after = match run.seconds {
                0 => String::new(),
                _ => format!(" after {took}"),
            };
            format!("{name} {failed}{by}{after}: {}", shown(why))
        }
        (None, Some(verdict)) => {
            let verdict = paint(if verdict == PASS { GOOD } else { BAD }, shown(verdict));
            format!("{name} {verdict}{by} in {took}")
        }
        (None, None) => format!("{name} {}{by} in {took}", paint_words(BAD, "no verdict")),
    }
}

fn gate(gate: &GateLine) -> String {
    let name = format!("{} {}", paint_words(STRONG, "gate"), shown(&gate.command));
    let took = unbroken(&span(Duration::from_secs(gate.seconds)));
    match &gate.error {
        Some(why) => format!("{name} {} after {took}: {}", paint(BAD, "failed"), shown(why)),
        None => format!("{name} {} in {took}", paint(GOOD, "passed")),
    }
}

/// Returns what was reviewed, if that differs from review to review of the cycle.
fn subject(chart: &Chart, review: &ReviewLine) -> Option<String> {
    chart.cycles.get(&review.run.cycle)?.base.holes().next()?;
    let file = std::iter::once(review.run.file.as_str());
    Some(inspect::reviews(chart, file).pop()?.base)
}

/// Returns whether `b` is a decision that looks exactly like `a`.
fn is_again(a: &Line, b: &Line) -> bool {
    let (Line::Decision(a), Line::Decision(b)) = (a, b) else {
        return false;
    };
    let is_quiet = |line: &DecisionLine| {
        line.changed.is_empty()
            && line.files.is_empty()
            && line.review.is_none()
            && line.named.is_empty()
    };
    let rules = |line: &DecisionLine| -> Vec<String> {
        line.fired().map(|rule| rule.rule.clone()).collect()
    };
    (is_quiet(a) && is_quiet(b))
        && (&a.event, &a.answer, &a.action, &a.stuck) == (&b.event, &b.answer, &b.action, &b.stuck)
        && a.at.get(..10) == b.at.get(..10)
        && rules(a) == rules(b)
}
