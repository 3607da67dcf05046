//! What a pull request says about the instance whose work it is, as Markdown.

use super::facts::Facts;
use super::progress;
use super::reviews::ReviewFacts;
use super::screen::title;
use crate::project::ledger::LedgerEntry;
use crate::receipt::render::unpassed;
use crate::reviewer::finding::{FIXED, OVER};
use crate::run::place::Place;
use crate::text::{shown, shown_lines};

/// Returns the text: what it is about, how much is done, the reviews, the findings that were not fixed, and what it cost.
pub(crate) fn pull_request(place: &Place, facts: &Facts, ledger: &[LedgerEntry]) -> String {
    let chart = &place.chart;
    let mut parts = vec![format!("## {}", shown(&facts.name))];
    if !facts.is_usable {
        parts.extend(facts.warnings.iter().map(|warning| literal(warning)));
    }
    parts.extend(subject(place));
    parts.extend(progress::in_words(&facts.progress).iter().map(|done| format!("{done}.")));
    let groups = facts.groups();
    let reviews = groups.iter().map(|(first, group)| {
        let verdicts: Vec<String> = group.iter().map(verdict).collect();
        format!("- {}: {}", shown(&title(facts, first)), verdicts.join(", "))
    });
    section(&mut parts, "Reviews", reviews.collect());
    let left = unpassed(chart, &place.instance.dir, &place.journal().read());
    section(&mut parts, "Not passed", left.iter().map(|it| format!("- {}", shown(it))).collect());
    let is_told = |entry: &&LedgerEntry| ![OVER, FIXED].contains(&&*entry.state);
    let findings = ledger.iter().filter(is_told).map(|entry| {
        let why = entry.why.as_ref().map(|why| format!(": {}", literal(why)));
        let why = why.unwrap_or_default();
        format!("- {}: {}{why}", literal(&entry.to_string()), entry.state)
    });
    section(&mut parts, "Findings", findings.collect());
    if facts.spent.reviews > 0 {
        parts.push(format!("{}.", facts.spent.sentence()));
    }
    parts.join("\n\n")
}

/// Adds a section, unless it has no items.
fn section(parts: &mut Vec<String>, title: &str, items: Vec<String>) {
    if !items.is_empty() {
        parts.push(format!("### {title}"));
        parts.push(items.join("\n"));
    }
}

/// Returns the first paragraph of the file that the first cycle reviews.
fn subject(place: &Place) -> Option<String> {
    let file = place.chart.cycles.values().next()?.subject.first()?;
    let text = place.read(&file.0)?;
    let text = shown_lines(&String::from_utf8_lossy(&text)).into_owned();
    let mut paragraphs = text.split("\n\n").map(|paragraph| {
        let lines = paragraph.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
        lines.join("\n").trim().to_owned()
    });
    let paragraph = paragraphs.find(|paragraph| paragraph.starts_with(char::is_alphanumeric))?;
    let lines: Vec<String> = paragraph.lines().map(literal).collect();
    // On a line of its own, a rule or a list would begin.
    Some(lines.join(" "))
}

/// Returns a text as Markdown that shows it as it is: no markup, no mention and no reference to an issue.
fn literal(text: &str) -> String {
    let mut literal = String::new();
    for sign in shown(text).chars() {
        match sign {
            // In one piece, they would call somebody or close something.
            '@' | '#' => literal.extend([sign.to_string(), "<!-- -->".to_owned()]),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '!' | '|' | '~' | '&' => {
                literal.extend(['\\', sign]);
            }
            _ => literal.push(sign),
        }
    }
    literal
}

/// Returns the result of a review.
fn verdict(review: &ReviewFacts) -> String {
    let verdict = review.verdict.as_deref().unwrap_or("?");
    let by = review.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let found = match review.found.as_str() {
        "" => String::new(),
        found => format!(" ({found})"),
    };
    shown(&format!("{verdict}{found}{by}")).into_owned()
}
