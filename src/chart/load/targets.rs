//! The targets of rules, phases, cycles and commands, and keys that exclude each other.

use super::resolver::Resolver;
use crate::chart::field::Phases;
use crate::chart::model::{Rule, Source};
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::hint;
use crate::diagnostic::toml::{Segment, at, below};
use crate::host::events::{EVENTS, UNCLAIMED};

impl Resolver<'_> {
    /// Checks the phases and cycles that others name as targets, and the reviewers that rules can start.
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
        for (name, reviewer) in &source.reviewers {
            if reviewer.program().is_empty() {
                let message = "`argv` is missing: there is no program to run";
                self.flaw(Code::MissingKey, at!["reviewers", name, "argv"], message, "");
            }
        }
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
                let path = at!["on", event, index];
                if event == UNCLAIMED {
                    // A session that has claimed nothing starts nothing either.
                    let others = rule.effects().filter(|key| !["message", "allow"].contains(key));
                    self.useless(path, others, "in a rule for `unclaimed`");
                } else if rule.invoke.is_some() {
                    // What depends on the outcome, `review.ok`, is a rule of its own.
                    let others = rule.effects().filter(|key| *key != "invoke");
                    self.useless(path, others, "next to `invoke`");
                } else {
                    let others = rule.effects().filter(|key| ["else", "raise"].contains(key));
                    self.useless(path, others, "in a rule: only commands have it");
                }
                self.rule(path, rule, phases);
            }
        }
    }

    fn targets_of_commands(&mut self, source: &Source, phases: &Phases) {
        for (name, command) in &source.commands {
            let path = at!["commands", name];
            if command.about.is_none() {
                let message = format!("the command `{name}` has no `about`, the line for `--help`");
                self.flaw(Code::MissingKey, path, message, "");
            }
            let of_rules = ["invoke", "message", "allow", "block", "action"];
            let others = command.effects().filter(|key| of_rules.contains(key));
            self.useless(path, others, "in a command: it has `say`");
            self.rule(path, command, phases);
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

    /// Checks what a rule or a command leads to, and for keys that exclude each other.
    fn rule(&mut self, path: &[Segment], rule: &Rule, phases: &Phases) {
        if let Some(target) = &rule.target {
            self.phase(&below(path, "target"), target, phases);
        }
        for (index, action) in rule.actions.iter().enumerate() {
            if let Err(message) = action.deed() {
                let path = below(&below(path, "actions"), index);
                self.flaw(Code::ConflictingKeys, &path, message, "");
            }
        }
        let mut answers = rule.effects().filter(|key| ["allow", "block", "action"].contains(key));
        let first = answers.next().unwrap_or_default();
        for key in answers {
            let message =
                format!("a rule gives one answer, but this one has `{first}` and `{key}`");
            self.flaw(Code::ConflictingKeys, &below(path, key), message, "remove one of them");
        }
    }

    /// Reports keys that would be silently ignored.
    fn useless(&mut self, path: &[Segment], keys: impl Iterator<Item = &'static str>, place: &str) {
        for key in keys {
            let message = format!("`{key}` has no effect {place}");
            self.flaw(Code::ConflictingKeys, &below(path, key), message, "remove it");
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
