//! `advance-runs-out`: the last advance target of a cycle has a guard, so there may be no open target.

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::{Segment, at};

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let cycles = subject.chart.cycles.iter();
    cycles
        .filter(|(_, cycle)| cycle.advance.iter().all(|advance| advance.guard.is_some()))
        .map(|(id, cycle)| {
            let last = cycle.advance.len().checked_sub(1).map(Segment::from);
            let path = [at!["cycles", id, "advance"], last.as_slice()].concat();
            let message = format!("when no guard is true, nothing comes after `{id}`");
            let help = "remove the guard of the last target";
            subject.flaw(Code::AdvanceRunsOut, &path, message, help)
        })
        .collect()
}
