//! Every expression and text of a chart, what each is for, and where it is.

use super::Chart;
use super::model::{Action, Assign, Cycle, Deed, Phase, Rule};
use crate::diagnostic::toml::{Segment, at, below};
use crate::expr::single_expression;
use crate::expr::source::{Expr, Literal};

/// What an expression or a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role<'c> {
    /// An expression: whether something is so.
    Condition,
    /// An expression: a list.
    List,
    /// A literal text: what this field is assigned.
    Assigned(&'c str),
    /// A text.
    Text,
    /// A literal text: the default of an option.
    Default,
    /// An expression that a prompt shows.
    Printed,
    /// An expression: a list of commands.
    Commands,
    /// An expression that others use by its name.
    Let,
}

/// What `it` is for an expression or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum It<'c> {
    Nothing,
    /// An item of this list.
    Item(&'c str),
    /// The phase that is entered, by its name.
    Phase(&'c str),
    Reviewer,
}

/// An expression or a text of a chart.
#[derive(Debug, Clone)]
pub struct Fragment<'c> {
    /// Where it is in the chart's TOML.
    pub path: Vec<Segment>,
    pub role: Role<'c>,
    pub text: &'c str,
    pub it: It<'c>,
}

impl Chart {
    /// Returns the assignments of all rules, commands, phases and cycles.
    pub fn assigns(&self) -> impl Iterator<Item = &Assign> {
        let rules = self.on.values().flatten().map(|rule| &rule.assign);
        let commands = self.commands.values().map(|command| &command.assign);
        let phases = self.phases.values().map(|entry| &entry.phase.entry);
        let cycles = self.cycles.values().map(|cycle| &cycle.entry);
        rules.chain(commands).chain(phases).chain(cycles)
    }

    /// Returns all expressions and texts, in the order in which a decision may evaluate them.
    pub fn fragments(&self) -> Vec<Fragment<'_>> {
        let mut all = Fragments::default();
        for (event, rules) in &self.on {
            for (index, rule) in rules.iter().enumerate() {
                all.rule(at!["on", event, index], rule);
            }
        }
        for (name, command) in &self.commands {
            all.rule(at!["commands", name], command);
        }
        for (name, entry) in &self.phases {
            // A phase whose name has a hole is here once for each cycle.
            all.it = It::Phase(name);
            all.phase(at!["phases", &entry.key], &entry.phase);
            all.it = It::Nothing;
        }
        for (id, cycle) in &self.cycles {
            all.cycle(at!["cycles", id], cycle);
        }
        all.it = It::Reviewer;
        for (name, invoke) in &self.reviewers {
            let path = at!["reviewers", name];
            for (index, text) in invoke.argv.iter().enumerate() {
                all.add(&below(path, "argv"), index, Role::Text, [text]);
            }
            all.add(path, "prompt", Role::Text, &invoke.prompt);
            all.add(path, "commands", Role::Commands, &invoke.commands);
        }
        all.it = It::Nothing;
        for (name, checks) in &self.checks {
            for (index, check) in checks.iter().enumerate() {
                let path = at!["checks", name, index];
                all.each(path, check.each.as_ref());
                all.add(path, "guard", Role::Condition, &check.guard);
                all.add(path, "say", Role::Text, [&check.say]);
                all.it = It::Nothing;
            }
        }
        for (index, property) in self.properties.iter().enumerate() {
            for (key, expr) in property.claims() {
                all.add(at!["properties", index], key, Role::Condition, [expr]);
            }
        }
        for (name, arg) in &self.args {
            let path = at!["args", name];
            all.add(path, "one_of", Role::List, &arg.one_of);
            all.add(path, "default", Role::Default, arg.default.as_ref().and_then(Literal::text));
        }
        for (name, expr) in &self.lets {
            all.add(at!["let"], name, Role::Let, [expr]);
        }
        for (prompt, vars) in &self.prompts {
            for (name, expr) in vars {
                all.add(at!["prompts", prompt], name, Role::Printed, [expr]);
            }
        }
        all.found
    }
}

impl Rule {
    /// Returns the expressions and texts of the rule.
    pub fn fragments(&self) -> Vec<Fragment<'_>> {
        let mut all = Fragments::default();
        all.rule(&[], self);
        all.found
    }
}

impl Phase {
    /// Returns the expressions and texts of the phase.
    pub fn fragments(&self) -> Vec<Fragment<'_>> {
        let mut all = Fragments::default();
        all.phase(&[], self);
        all.found
    }
}

struct Fragments<'c> {
    found: Vec<Fragment<'c>>,
    it: It<'c>,
}

impl Default for Fragments<'_> {
    fn default() -> Self {
        Self { found: Vec::new(), it: It::Nothing }
    }
}

impl<'c> Fragments<'c> {
    fn add<T>(
        &mut self,
        path: &[Segment],
        key: impl Into<Segment>,
        role: Role<'c>,
        text: impl IntoIterator<Item = &'c T>,
    ) where
        T: AsRef<str> + ?Sized + 'c,
    {
        if let Some(text) = text.into_iter().next() {
            let fragment =
                Fragment { path: below(path, key), role, text: text.as_ref(), it: self.it };
            self.found.push(fragment);
        }
    }

    fn assigned(&mut self, path: &[Segment], assign: &'c Assign) {
        for (field, literal) in assign {
            self.add(path, field, Role::Assigned(field), literal.text());
        }
    }

    /// What follows sees the items of this list as `it`.
    fn each(&mut self, path: &[Segment], each: Option<&'c Expr>) {
        self.add(path, "each", Role::List, each);
        self.it = each.map_or(It::Nothing, |each| It::Item(each.as_ref()));
    }

    fn rule(&mut self, path: &[Segment], rule: &'c Rule) {
        self.add(path, "guard", Role::Condition, &rule.guard);
        self.assigned(&below(path, "assign"), &rule.assign);
        for (index, action) in rule.actions.iter().enumerate() {
            self.action(&below(&below(path, "actions"), index), action);
        }
        let texts = [
            ("message", &rule.message),
            ("say", &rule.say),
            ("block", &rule.block),
            ("action", &rule.action),
            ("else", &rule.otherwise),
        ];
        for (key, text) in texts {
            self.add(path, key, Role::Text, text);
        }
        self.add(path, "invoke", Role::Text, rule.invoke.as_deref());
    }

    fn action(&mut self, path: &[Segment], action: &'c Action) {
        self.each(path, action.each.as_ref());
        self.add(path, "guard", Role::Condition, &action.guard);
        for (key, text) in action.deed().into_iter().flat_map(Deed::texts) {
            self.add(path, key, Role::Text, [text]);
        }
        self.it = It::Nothing;
    }

    fn phase(&mut self, path: &[Segment], phase: &'c Phase) {
        self.add(path, "guard", Role::Condition, &phase.guard);
        self.add(path, "else", Role::Text, &phase.otherwise);
        self.assigned(&below(path, "entry"), &phase.entry);
    }

    fn cycle(&mut self, path: &[Segment], cycle: &'c Cycle) {
        self.add(path, "exit", Role::Condition, [&cycle.exit]);
        for (index, target) in cycle.advance.iter().enumerate() {
            let path = below(&below(path, "advance"), index);
            self.add(&path, "guard", Role::Condition, &target.guard);
        }
        self.add(path, "ready", Role::Condition, &cycle.ready);
        self.assigned(&below(path, "entry"), &cycle.entry);
        for (name, text) in &cycle.text {
            self.add(&below(path, "text"), name, Role::Text, [text]);
        }
        self.add(path, "gates", Role::Commands, &cycle.gates);
        for (index, text) in cycle.subject.iter().enumerate() {
            let expr = single_expression(&text.0);
            self.add(&below(path, "subject"), index, Role::List, expr);
        }
    }
}
