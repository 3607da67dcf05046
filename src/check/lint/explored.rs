//! What is wrong with the states of a chart, as findings.
//!
//! [`crate::check::conditions`] does the work; this module says what to do about a finding.

use crate::check::conditions::report::Report;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::Document;

/// One finding for each element with something wrong, and its counterexample as the note. `document` is the chart's TOML.
pub(super) fn flaws(report: &Report, document: &Document<'_>) -> Vec<Flaw> {
    let mut flaws: Vec<Flaw> = Vec::new();
    for finding in &report.findings {
        let place = document.locate(&finding.path);
        // What several cycles share is reported once.
        if flaws.iter().any(|known| known.code == finding.code && known.span == place) {
            continue;
        }
        let flaw = Flaw::new(finding.code, finding.message.as_str())
            .help(help(finding.code).map(str::to_owned))
            .at(place);
        flaws.push(Flaw { note: finding.way.clone(), ..flaw });
    }
    flaws
}

/// What to do about it.
fn help(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::NoDecision => "add a guard, so that this is evaluated only when it has a value",
        Code::AssignmentMisfit => "limit the value, or allow it in the field",
        Code::PhaseUnreachable => "let it be entered, make it a target, or remove it",
        Code::RuleNeverFires | Code::TargetNeverTaken => {
            "loosen its guard, move it before the one that comes first, or remove it"
        }
        Code::PhaseNeverEntered | Code::CommandNeverApplies => "loosen its guard, or remove it",
        Code::NoFinal => "mark the last phase: type = \"final\"",
        Code::DeadEnd | Code::FinalOutOfReach => {
            "add a rule, a phase or a command that is possible there"
        }
        Code::CycleFallsShort => {
            "run reviews up to the limit, and count from 0 where the cycle starts over"
        }
        Code::CycleUnbounded => "count each review, and run none beyond the limit",
        Code::BlocksInARow => {
            "block only while `event.stop_hook_active` is false, or count the blocks and stop at a limit"
        }
        Code::PropertyRefuted => "change the rules that the counterexample shows, or the property",
        _ => return None,
    })
}
