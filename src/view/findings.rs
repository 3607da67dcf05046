//! What reviews found, and how each finding was answered.

use serde_json::{Value as Json, json};

use crate::page::{FAINT, Page};
use crate::project::ledger::LedgerEntry;
use crate::reviewer::finding::{self, ANSWERS};
use crate::text::shown;

/// Returns the findings, the open ones first.
pub(crate) fn page(mut entries: Vec<LedgerEntry>) -> Page {
    let order = |entry: &LedgerEntry| finding::states().position(|state| state == entry.state);
    entries.sort_by_key(|entry| order(entry).unwrap_or(usize::MAX));
    let mut page = Page::labeled(entries.iter().map(|entry| entry.id.as_str()));
    if entries.is_empty() {
        page.say("no finding is recorded");
    }
    for group in entries.chunk_by(|a, b| a.state == b.state) {
        let Some(first) = group.first() else { continue };
        // What an answer says, no reviewer has confirmed.
        let is_claim = ANSWERS.contains(&first.state.as_str());
        let head = if is_claim { "answered: " } else { "" };
        page.text(FAINT, &format!("{head}{}", shown(&first.state)));
        for entry in group {
            let finding = &entry.finding;
            let of = finding.place().map(|place| format!(", {place}")).unwrap_or_default();
            let why = entry.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            let text = format!("{}{of}: {}{why}", finding.severity, finding.title);
            page.row(&shown(&entry.id), &shown(&text));
        }
    }
    page
}

/// Returns the findings as JSON.
pub(crate) fn json(entries: &[LedgerEntry]) -> Json {
    let entries = entries.iter().map(|entry| {
        let finding = &entry.finding;
        json!({
            "id": entry.id, "state": entry.state, "why": entry.why, "severity": finding.severity,
            "file": finding.file, "line": finding.line, "title": finding.title,
        })
    });
    json!({ "findings": entries.collect::<Vec<_>>() })
}
