//! `idle-rule`: a rule or command that, where it fires, does nothing.

use super::subject::Subject;
use crate::chart::model::Rule;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::Step;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (event, index, rule) in subject.rules() {
        if rule.invoke.is_none() && rule.effects().is_empty() {
            let path = [Step::from("on"), Step::from(event), Step::from(index)];
            let help = "add `assign`, `say`, `allow` or the like, or remove it";
            let message = format!("rule {} of {event} has no effect", index + 1);
            flaws.push(subject.flaw(Code::IdleRule, &path, message, help));
        }
    }
    for (name, command) in &subject.chart.commands {
        if command.rule.effects().is_empty() && command.raise.is_empty() {
            let path = [Step::from("commands"), Step::from(name)];
            let help = "add `assign`, `say`, `target` or `advance`, or remove it";
            flaws.push(subject.flaw(
                Code::IdleRule,
                &path,
                format!("`taskie run {name}` has no effect"),
                help,
            ));
        }
    }
    flaws
}

impl Rule {
    /// The keys of the rule that do something, `invoke` aside.
    pub(super) fn effects(&self) -> Vec<&'static str> {
        let effects = [
            ("target", self.target.is_some()),
            ("assign", !self.assign.is_empty()),
            ("advance", self.advance),
            ("actions", !self.actions.is_empty()),
            ("message", self.message.is_some()),
            ("say", self.say.is_some()),
            ("allow", self.allow),
            ("block", self.block.is_some()),
            ("action", self.action.is_some()),
        ];
        effects
            .into_iter()
            .filter(|(_, is_given)| *is_given)
            .map(|(key, _)| key)
            .collect()
    }
}
