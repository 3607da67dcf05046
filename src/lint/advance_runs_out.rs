//! `advance-runs-out`: the last way out of a cycle has a guard, so that there may be none.

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::Step;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let cycles = subject.chart.cycles.iter();
    cycles
        .filter(|(_, cycle)| cycle.advance.iter().all(|advance| advance.guard.is_some()))
        .map(|(id, cycle)| {
            let mut path = vec![Step::from("cycles"), Step::from(id), Step::from("advance")];
            path.extend(cycle.advance.len().checked_sub(1).map(Step::from));
            let message = format!("when no guard is true, `{id}` is over and nothing comes next");
            subject.flaw(
                Code::AdvanceRunsOut,
                &path,
                message,
                "give the last target no guard",
            )
        })
        .collect()
}
