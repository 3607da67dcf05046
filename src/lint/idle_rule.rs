//! `idle-rule`: a rule or command that has no effect.

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::at;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (event, index, rule) in subject.rules() {
        if rule.invoke.is_none() && rule.effects().is_empty() && rule.answers().is_empty() {
            let help = "add `assign`, `say`, `allow` or the like, or remove it";
            let message = format!("rule {} of {event} has no effect", index + 1);
            let path = at!["on", event, index];
            flaws.push(subject.flaw(Code::IdleRule, path, message, help));
        }
    }
    for (name, command) in &subject.chart.commands {
        if command.rule.effects().is_empty() && command.raise.is_empty() {
            let help = "add `assign`, `say`, `target` or `advance`, or remove it";
            let message = format!("the command `{name}` has no effect");
            let path = at!["commands", name];
            flaws.push(subject.flaw(Code::IdleRule, path, message, help));
        }
    }
    flaws
}
