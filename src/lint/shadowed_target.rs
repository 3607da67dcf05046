//! `shadowed-target`: an advance target after one that is always open, or after one with the same guard.

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::at;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (id, cycle) in &subject.chart.cycles {
        for (index, advance) in cycle.advance.iter().enumerate() {
            let shadow = cycle.advance[..index]
                .iter()
                .position(|earlier| earlier.guard.is_none() || earlier.guard == advance.guard);
            if let Some(shadow) = shadow {
                let path = at!["cycles", id, "advance", index, "target"];
                let message = format!(
                    "`{}` is never taken: `{}`, target {} of `{id}`, is open whenever this one is",
                    advance.target,
                    cycle.advance[shadow].target,
                    shadow + 1
                );
                let help = "the first open target wins: put this one before it";
                flaws.push(subject.flaw(Code::ShadowedTarget, path, message, help));
            }
        }
    }
    flaws
}
