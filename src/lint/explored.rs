//! What exploring every state refutes, as findings.
//!
//! [`crate::explore`] does the work; this module says what to do about a finding.

use crate::chart::Chart;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::{Document, Segment};
use crate::explore::report::{PropertyResult, Report, Verdict};

/// One finding for each element that refutes a property, with its counterexample as the note. `text` is the chart's TOML.
pub(super) fn flaws(report: &Report, chart: &Chart, text: &str) -> Vec<Flaw> {
    let document = Document::parse(text);
    let name = |place: &str| match chart.about(place) {
        Some(about) => format!("{place} ({about})"),
        None => place.to_owned(),
    };
    let flaw = |result: &PropertyResult| {
        let Verdict::Refuted { trace, path } = &result.verdict else {
            return None;
        };
        let message = match result.code {
            Code::PropertyRefuted => format!("refuted: {}: {}", result.name, trace.claim),
            _ => trace.claim.clone(),
        };
        let flaw = Flaw::new(result.code, message)
            .help(help(result.code).map(str::to_owned))
            .at(document.locate(path));
        Some(Flaw { note: trace.in_words(&name), ..flaw })
    };
    // A finding that several cycles share is reported once.
    let mut reported: Vec<(Code, &[Segment])> = Vec::new();
    let mut flaws = Vec::new();
    for result in &report.results {
        if let Verdict::Refuted { path, .. } = &result.verdict
            && !reported.contains(&(result.code, path.as_slice()))
        {
            reported.push((result.code, path.as_slice()));
            flaws.extend(flaw(result));
        }
    }
    flaws
}

/// What to do about a property that is refuted.
fn help(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::NoDecision => "add a guard, so that this is evaluated only when it has a value",
        Code::AssignmentMisfit => "limit the value, or allow it in the field",
        Code::PhaseUnreachable => {
            "make it the target of a rule or of a cycle's `advance`, let it be entered, or remove it"
        }
        Code::PhaseNeverEntered => "loosen its guard: as it is, the phase can never be entered",
        Code::RuleNeverFires => {
            "loosen its guard, move it before the rule that answers first, or remove it"
        }
        Code::CommandNeverApplies => "loosen its guard, or remove it",
        Code::TargetNeverTaken => {
            "loosen its guard, move it before the target that is always open, or remove it"
        }
        Code::CheckNeverFinds => "loosen its guard, or remove it",
        Code::DeadEnd | Code::FinalOutOfReach => {
            "add a rule, a phase or a command that is possible there"
        }
        Code::CycleFallsShort => "run a review as long as its number is within the limit",
        Code::CycleUnbounded => "count each review, and run none beyond the limit",
        Code::BlocksInARow => {
            "block only while `event.stop_hook_active` is false, or count the blocks and stop at a limit"
        }
        Code::BlockLoop => "change the state with each block, or let the agent stop after one",
        Code::PropertyRefuted => "change the rules that the counterexample shows, or the property",
        _ => return None,
    })
}
