//! `constant-guard`: a guard that is always true or never true.

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::Step;
use crate::expr::syntax::constant;
use crate::expr::source::Expr;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let chart = subject.chart;
    let steps = |key: &str, name: &str| vec![Step::from(key), Step::from(name)];
    let numbered =
        |key: &str, name: &str, index: usize| [steps(key, name), vec![Step::from(index)]].concat();
    let mut guards: Vec<(Vec<Step>, Option<&Expr>)> = Vec::new();
    for (event, index, rule) in subject.rules() {
        guards.push((numbered("on", event, index), rule.guard.as_ref()));
    }
    for (name, entry) in &chart.phases {
        guards.push((steps("phases", name), entry.phase.guard.as_ref()));
    }
    for (name, command) in &chart.commands {
        guards.push((steps("commands", name), command.rule.guard.as_ref()));
    }
    let on = subject
        .rules()
        .map(|(event, index, rule)| (numbered("on", event, index), rule));
    let commands = chart
        .commands
        .iter()
        .map(|(name, command)| (steps("commands", name), &command.rule));
    for (path, rule) in on.chain(commands) {
        for (index, action) in rule.actions.iter().enumerate() {
            let path = [path.as_slice(), &[Step::from("actions"), Step::from(index)]].concat();
            guards.push((path, action.guard.as_ref()));
        }
    }
    for (id, cycle) in &chart.cycles {
        let path = |index: usize| {
            [
                steps("cycles", id),
                vec![Step::from("advance"), Step::from(index)],
            ]
            .concat()
        };
        guards.extend(
            cycle
                .advance
                .iter()
                .enumerate()
                .map(|(index, advance)| (path(index), advance.guard.as_ref())),
        );
    }
    for (name, checks) in &chart.checks {
        guards.extend(
            checks
                .iter()
                .enumerate()
                .map(|(index, check)| (numbered("checks", name, index), check.guard.as_ref())),
        );
    }
    guards
        .into_iter()
        .filter_map(|(path, guard)| {
            let guard = guard?;
            let path = [path, vec![Step::from("guard")]].concat();
            let (holds, help) = match constant(&guard.0)? {
                true => ("is always true", "remove the guard"),
                false => (
                    "is never true",
                    "remove the rule, or fix its guard",
                ),
            };
            Some(subject.flaw(
                Code::ConstantGuard,
                &path,
                format!("`{}` {holds}", guard.0),
                help,
            ))
        })
        .collect()
}
