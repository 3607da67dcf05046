//! `taskie log`: prints what happened to an instance, oldest first.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;

use crate::chart::Chart;
use crate::cli::error::CliError;
use crate::cli::place;
use crate::engine::inspect;
use crate::os::bell::{Bell, PAUSE, Rang};
use crate::page::{
    ACCENT, ALERT, BAD, FAINT, GOOD, Page, STRONG, dollars, paint, paint_words, print, span,
    unbroken, width,
};
use crate::shell::review::record_killed;
use crate::store::journal::{Decided, Gate, Line, Review};
use crate::text::{cut, in_words, shown, shown_json};

/// The width of `12:00:00` and the space after it.
const TIME: usize = 10;

/// The most characters of a value that is shown.
const VALUE: usize = 40;

/// Prints the journal of the instance; with `--follow`, also new lines.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let place = place::chosen(chart, matches)?;
    record_killed(&place);
    let since = matches.get_one::<String>("since");
    let is_json = matches.get_flag("json");
    let mut bell = match matches.get_flag("follow") {
        true => Some(Bell::new().map_err(CliError::because("signals cannot be handled"))?),
        false => None,
    };
    let mut log = Log {
        chart,
        day: String::new(),
    };
    let mut last: Option<Line> = None;
    loop {
        let mut lines = place.journal().read();
        // Continue after the last printed line; if that is gone, start from the beginning.
        let printed = last
            .as_ref()
            .and_then(|last| lines.iter().rposition(|line| line == last));
        lines.drain(..printed.map_or(0, |at| at + 1));
        lines.retain(|line| since.is_none_or(|since| line.at() >= since.as_str()));
        let is_written = match is_json {
            true => {
                let texts = lines.iter();
                let texts = texts.filter_map(|line| serde_json::to_string(line).ok());
                print(texts.map(|text| shown_json(&text).into_owned()))
            }
            false => print(log.lines(&lines, width())),
        };
        last = lines.pop().or(last);
        if let Some(bell) = &mut bell {
            if !is_written || bell.wait(PAUSE) == Rang::End {
                return Ok(ExitCode::SUCCESS);
            }
            continue;
        }
        if last.is_none() && !is_json {
            let noun = &chart.scope.noun;
            let since = since
                .map(|since| format!(" since {since}"))
                .unwrap_or_default();
            let name = &place.instance.name;
            let none = format!("nothing is recorded about {noun} `{name}`{since}");
            print([none]);
        }
        return Ok(ExitCode::SUCCESS);
    }
}

/// The timeline.
struct Log<'c> {
    chart: &'c Chart,
    /// The day that was printed last.
    day: String,
}

/// What happened at one time, or several times in a row.
pub(crate) struct Entry<'l> {
    pub(crate) day: &'l str,
    pub(crate) time: String,
    /// For a terminal.
    pub(crate) text: String,
}

impl Log<'_> {
    /// Returns the next lines of the screen.
    fn lines(&mut self, lines: &[Line], width: usize) -> Vec<String> {
        let mut page = Page::new(width, TIME);
        for entry in entries(self.chart, lines) {
            if entry.day != self.day {
                page.text(STRONG, &format!("{} UTC", shown(entry.day)));
                entry.day.clone_into(&mut self.day);
            }
            page.row(&shown(&entry.time), &entry.text);
        }
        page.into_lines()
    }
}

/// Returns what happened, oldest first. Identical consecutive stops, which are common, share one entry.
pub(crate) fn entries<'l>(chart: &Chart, lines: &'l [Line]) -> Vec<Entry<'l>> {
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
        Some(Entry { day, time, text })
    };
    lines.chunk_by(is_again).filter_map(entry).collect()
}

fn decision(decided: &Decided) -> String {
    let mut text = paint_words(STRONG, &shown(&decided.event));
    let (word, style) = match decided.answer.as_str() {
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
        text.push_str(&unbroken(&format!("{name} {}", cut(in_words(new), VALUE))));
    }
    for file in &decided.files {
        text.push_str(&paint(FAINT, "\u{a0}· "));
        text.push_str(&shown(file));
    }
    text
}

fn review(chart: &Chart, review: &Review) -> String {
    let name = match subject(chart, review) {
        Some(of) => format!("{} {} {}", shown(&review.cycle), shown(&of), review.n),
        None => format!("{} {}", shown(&review.cycle), review.n),
    };
    let by = review.by.as_deref().map(|by| format!(" by {}", shown(by)));
    let by = by.unwrap_or_default();
    let mut took = unbroken(&span(Duration::from_secs(review.seconds)));
    if let Some(cost) = review.cost {
        took.push_str(&format!(" ({})", dollars(cost)));
    }
    let found = review.found.in_words(&chart.findings.severities);
    if !found.is_empty() {
        took.push_str(&format!(": {}", shown(&found)));
    }
    let name = paint_words(STRONG, &name);
    match (&review.error, &review.verdict) {
        (Some(why), _) => {
            let failed = paint(BAD, "failed");
            let after = match review.seconds {
                0 => String::new(),
                _ => format!(" after {took}"),
            };
            format!("{name} {failed}{by}{after}: {}", shown(why))
        }
        (None, Some(verdict)) => {
            let best = chart.is_best_verdict(verdict);
            let verdict = paint(if best { GOOD } else { BAD }, shown(verdict));
            format!("{name} {verdict}{by} in {took}")
        }
        (None, None) => format!("{name} {}{by} in {took}", paint_words(BAD, "no verdict")),
    }
}

fn gate(gate: &Gate) -> String {
    let name = format!("{} {}", paint_words(STRONG, "gate"), shown(&gate.command));
    let took = unbroken(&span(Duration::from_secs(gate.seconds)));
    match &gate.error {
        Some(why) => format!(
            "{name} {} after {took}: {}",
            paint(BAD, "failed"),
            shown(why)
        ),
        None => format!("{name} {} in {took}", paint(GOOD, "passed")),
    }
}

/// Returns what was reviewed, if that differs from review to review of the cycle.
fn subject(chart: &Chart, review: &Review) -> Option<String> {
    chart.cycles.get(&review.cycle)?.base.holes().next()?;
    let file = std::iter::once(review.file.as_str());
    Some(inspect::reviews(chart, file).pop()?.base)
}

/// Returns whether `b` is a decision that looks exactly like `a`.
fn is_again(a: &Line, b: &Line) -> bool {
    let (Line::Decision(a), Line::Decision(b)) = (a, b) else {
        return false;
    };
    let is_quiet =
        |line: &Decided| line.changed.is_empty() && line.files.is_empty() && line.review.is_none();
    let rules =
        |line: &Decided| -> Vec<String> { line.fired().map(|rule| rule.rule.clone()).collect() };
    (is_quiet(a) && is_quiet(b))
        && (&a.event, &a.answer, &a.action, &a.stuck) == (&b.event, &b.answer, &b.action, &b.stuck)
        && a.at.get(..10) == b.at.get(..10)
        && rules(a) == rules(b)
}
