//! The targets of rules, phases, cycles and commands, and keys that exclude each other.

use super::resolver::Resolver;
use crate::chart::field::Phases;
use crate::chart::model::{Action, Rule, Source};
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::hint;
use crate::diagnostic::toml::{Segment, at, below};
use crate::host::events::{EVENTS, UNCLAIMED};

impl Resolver<'_> {
    /// Checks the phases and cycles that others name as targets.
    pub(super) fn targets(&mut self, source: &Source, phases: &Phases) {
        self.targets_of_cycles(source, phases);
        for (name, phase) in &source.phases {
            if let Some(next) = &phase.next {
                let path = at!["phases", name, "next"];
                let cycles = source.cycles.keys().map(String::as_str);
                self.known(path, Code::UnknownCycle, next, cycles);
            }
        }
        self.targets_of_rules(source, phases);
        self.targets_of_commands(source, phases);
    }

    fn targets_of_cycles(&mut self, source: &Source, phases: &Phases) {
        for (id, cycle) in &source.cycles {
            let needed =
                [(id, "{cycle}", "a review of"), (&cycle.post, "post-{cycle}", "the answers of")];
            for (phase, key, of) in needed {
                if !phases.contains_key(phase) {
                    let message = format!("there is no phase `{phase}` for {of} the cycle `{id}`");
                    let help =
                        format!("add `[phases.\"{key}\"]`, which makes one phase for each cycle");
                    self.flaw(Code::UnknownPhase, at!["cycles", id], message, help);
                }
            }
            if let Some(resume) = &cycle.resume {
                self.phase(at!["cycles", id, "resume"], resume, phases);
            }
            for (index, advance) in cycle.advance.iter().enumerate() {
                let path = at!["cycles", id, "advance", index, "target"];
                self.phase(path, &advance.target, phases);
            }
        }
    }

    fn targets_of_rules(&mut self, source: &Source, phases: &Phases) {
        for (event, rules) in &source.on {
            let events =
                || EVENTS.iter().map(|(_, name)| *name).chain(["enter", "next", "run", UNCLAIMED]);
            if !events().any(|name| name == event) {
                let message = format!("unknown event `{event}`");
                let help = hint(event, events()).unwrap_or_default();
                self.flaw(Code::UnknownEvent, at!["on", event], message, help);
            }
            for (index, rule) in rules.iter().enumerate() {
                self.rule_keys(at!["on", event, index], rule);
                if event == UNCLAIMED {
                    self.says_only(at!["on", event, index], rule);
                }
                self.actions(at!["on", event, index, "actions"], &rule.actions);
                if let Some(target) = &rule.target {
                    self.phase(at!["on", event, index, "target"], target, phases);
                }
            }
        }
    }

    fn targets_of_commands(&mut self, source: &Source, phases: &Phases) {
        for (name, command) in &source.commands {
            self.actions(at!["commands", name, "actions"], &command.actions);
            if let Some(target) = &command.target {
                self.phase(at!["commands", name, "target"], target, phases);
            }
            for (index, raised) in command.raise.iter().enumerate() {
                let path = at!["commands", name, "raise", index];
                let commands = source.commands.keys().map(String::as_str);
                self.known(path, Code::UnknownCommand, raised, commands);
                if leads_to(source, raised, name, &mut Vec::new()) {
                    let message = format!("`{name}` raises itself and would never end");
                    self.flaw(Code::SelfReference, path, message, "");
                }
            }
        }
    }

    /// Checks for keys of actions that exclude each other.
    fn actions(&mut self, path: &[Segment], actions: &[Action]) {
        for (index, action) in actions.iter().enumerate() {
            if let Err(message) = action.deed() {
                let path = below(path, index);
                self.flaw(Code::ConflictingKeys, &path, message, "");
            }
        }
    }

    /// Checks that a rule does nothing but say something: a session that has claimed nothing starts nothing either.
    fn says_only(&mut self, path: &[Segment], rule: &Rule) {
        let effects = rule.effects().into_iter().chain(rule.answers());
        let invoke = rule.invoke.as_ref().map(|_| "invoke");
        let others = effects.filter(|key| !matches!(*key, "message" | "allow"));
        for key in others.chain(invoke) {
            let message = format!("`{key}` has no effect in a rule for `{UNCLAIMED}`");
            let help = "such a rule has a `message` to the user, and changes nothing";
            self.flaw(Code::ConflictingKeys, &below(path, key), message, help);
        }
    }

    /// Checks for keys of a rule that would be silently ignored.
    fn rule_keys(&mut self, path: &[Segment], rule: &Rule) {
        let answers = rule.answers();
        if rule.invoke.is_some() {
            for key in rule.effects().into_iter().chain(answers) {
                let help = "move it to its own rule, guarded by the outcome: `review.ok`";
                let message = format!("`{key}` next to `invoke` has no effect");
                let path = below(path, key);
                self.flaw(Code::ConflictingKeys, &path, message, help);
            }
            return;
        }
        for key in answers.iter().skip(1) {
            let message =
                format!("a rule gives one answer, but this one has `{}` and `{key}`", answers[0]);
            let path = below(path, *key);
            self.flaw(Code::ConflictingKeys, &path, message, "remove one of them");
        }
    }

    /// Checks that each property makes one claim.
    pub(super) fn properties(&mut self, source: &Source) {
        for (index, property) in source.properties.iter().enumerate() {
            let mut given = property.claims().map(|(key, _)| key);
            let Some(first) = given.next() else {
                let message = format!("property \"{}\" has nothing to prove", property.about);
                let help = "add `never` or `reachable`";
                self.flaw(Code::MissingKey, at!["properties", index], message, help);
                continue;
            };
            for key in given {
                let message =
                    format!("a property makes one claim, but this one has `{first}` and `{key}`");
                let help = "split it into two properties";
                let path = at!["properties", index, key];
                self.flaw(Code::ConflictingKeys, path, message, help);
            }
        }
    }
}

/// Returns whether running `from` runs `to` as well.
fn leads_to(source: &Source, from: &str, to: &str, way: &mut Vec<String>) -> bool {
    if from == to {
        return true;
    }
    if way.iter().any(|name| name == from) {
        return false;
    }
    way.push(from.to_owned());
    let raised = source.commands.get(from).map_or(&[][..], |command| &command.raise);
    raised.iter().any(|name| leads_to(source, name, to, way))
}
