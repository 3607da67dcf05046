//! `no-final`: the chart has review cycles, but no final phase.

use super::subject::Subject;
use crate::chart::model::PhaseType;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::Segment;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let chart = subject.chart;
    let mut phases = chart.phases.values();
    if chart.cycles.is_empty() || phases.any(|entry| entry.phase.kind == Some(PhaseType::Final)) {
        return Vec::new();
    }
    let help = "mark the last phase: type = \"final\"";
    let message = "the chart has review cycles, but no final phase".to_owned();
    vec![subject.flaw(Code::NoFinal, &[Segment::from("phases")], message, help)]
}
