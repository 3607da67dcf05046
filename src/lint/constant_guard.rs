//! `constant-guard`: a guard that is always true or never true.

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::{Segment, at, below};
use crate::expr::source::Expr;
use crate::expr::syntax::constant;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let chart = subject.chart;
    let mut guards: Vec<(Vec<Segment>, Option<&Expr>)> = Vec::new();
    let rules = subject.rules();
    let on = rules.map(|(event, index, rule)| (at!["on", event, index].to_vec(), rule));
    let commands = chart.commands.iter();
    let commands = commands.map(|(name, command)| (at!["commands", name].to_vec(), &command.rule));
    for (path, rule) in on.chain(commands) {
        guards.push((path.clone(), rule.guard.as_ref()));
        for (index, action) in rule.actions.iter().enumerate() {
            let path = [path.as_slice(), at!["actions", index]].concat();
            guards.push((path, action.guard.as_ref()));
        }
    }
    for entry in chart.phases.values() {
        let path = at!["phases", &entry.key].to_vec();
        guards.push((path, entry.phase.guard.as_ref()));
    }
    for (id, cycle) in &chart.cycles {
        for (index, advance) in cycle.advance.iter().enumerate() {
            let path = at!["cycles", id, "advance", index].to_vec();
            guards.push((path, advance.guard.as_ref()));
        }
    }
    for (name, checks) in &chart.checks {
        for (index, check) in checks.iter().enumerate() {
            guards.push((at!["checks", name, index].to_vec(), check.guard.as_ref()));
        }
    }
    guards
        .into_iter()
        .filter_map(|(path, guard)| {
            let guard = guard?;
            let path = below(&path, "guard");
            let (holds, help) = match constant(&guard.0)? {
                true => ("is always true", "remove the guard"),
                false => ("is never true", "remove the rule, or fix its guard"),
            };
            let message = format!("`{}` {holds}", guard.0);
            Some(subject.flaw(Code::ConstantGuard, &path, message, help))
        })
        .collect()
}
