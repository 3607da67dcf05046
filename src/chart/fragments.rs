//! Every expression and text of a chart, and what each is for.

use super::model::{Action, Assign, Deed, Phase, Property, Rule};
use super::{Chart, Command};
use crate::expr::source::{Expr, Literal, Text};
use crate::expr::{has_holes, single_expression};

/// What an expression or a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role<'c> {
    /// An expression: whether something is so.
    Condition,
    /// An expression: a list.
    List,
    /// A literal text: what this field is assigned.
    Assigned(&'c str),
    /// A text that people, files and other programs get to see, and no expression does.
    Shown,
    /// A text that expressions can look at, too.
    Named,
    /// A literal text: the default of an option.
    Default,
    /// An expression that a prompt shows.
    Printed,
    /// An expression that others use by its name.
    Let,
}

/// An expression or a text of a chart.
#[derive(Debug, Clone, Copy)]
pub struct Fragment<'c> {
    pub role: Role<'c>,
    pub text: &'c str,
    /// The list whose items are `it` here.
    pub each: Option<&'c str>,
}

impl Chart {
    /// Returns the assignments of all rules, commands, phases and cycles.
    pub fn assigns(&self) -> impl Iterator<Item = &Assign> {
        let rules = self.on.values().flatten().map(|rule| &rule.assign);
        let commands = self.commands.values().map(|command| &command.rule.assign);
        let phases = self.phases.values().map(|entry| &entry.phase.entry);
        let cycles = self.cycles.values().map(|cycle| &cycle.entry);
        rules.chain(commands).chain(phases).chain(cycles)
    }

    /// Returns all expressions and texts, in the order in which a decision may evaluate them.
    pub fn fragments(&self) -> Vec<Fragment<'_>> {
        let mut all = Fragments::default();
        for rule in self.on.values().flatten() {
            all.rule(rule);
            all.shown([&rule.message, &rule.say, &rule.block, &rule.action]);
            all.shown([&rule.call]);
            let invoke = rule.invoke.as_deref();
            all.add(Role::Named, invoke.filter(|text| has_holes(text)));
        }
        for command in self.commands.values() {
            all.found.extend(command.fragments());
        }
        for entry in self.phases.values() {
            all.found.extend(entry.phase.fragments());
        }
        for cycle in self.cycles.values() {
            let guards = cycle.advance.iter().filter_map(|target| target.guard.as_ref());
            let exit = std::iter::once(&cycle.exit);
            all.add(Role::Condition, exit.chain(guards).chain(&cycle.ready));
            all.assigned(&cycle.entry);
            all.add(Role::Named, cycle.text.values());
            all.add(Role::Printed, &cycle.gates);
            let subjects = cycle.subject.iter();
            all.add(Role::Condition, subjects.filter_map(|text| single_expression(&text.0)));
        }
        for invoke in self.reviewers.values() {
            all.add(Role::Shown, invoke.argv.iter().chain(&invoke.prompt));
            all.add(Role::Printed, &invoke.commands);
        }
        for check in self.checks.values().flatten() {
            all.each(check.each.as_ref());
            all.add(Role::Condition, &check.guard);
            all.add(Role::Named, [&check.say]);
            all.each = None;
        }
        let claims = self.properties.iter().flat_map(Property::claims);
        all.add(Role::Condition, claims.map(|(_, expr)| expr));
        for arg in self.args.values() {
            all.add(Role::List, &arg.one_of);
            all.add(Role::Default, arg.default.as_ref().and_then(Literal::text));
        }
        all.add(Role::Let, self.lets.values());
        for vars in self.prompts.values() {
            all.add(Role::Printed, vars.values());
        }
        all.found
    }
}

impl Command {
    /// Returns the expressions and texts of the command.
    pub fn fragments(&self) -> Vec<Fragment<'_>> {
        let mut all = Fragments::default();
        all.rule(&self.rule);
        all.shown([&self.rule.say, &self.otherwise]);
        all.found
    }
}

impl Phase {
    /// Returns the expressions and texts of the phase.
    pub fn fragments(&self) -> Vec<Fragment<'_>> {
        let mut all = Fragments::default();
        all.add(Role::Condition, &self.guard);
        all.shown([&self.otherwise]);
        all.assigned(&self.entry);
        all.found
    }
}

#[derive(Default)]
struct Fragments<'c> {
    found: Vec<Fragment<'c>>,
    each: Option<&'c str>,
}

impl<'c> Fragments<'c> {
    fn add<T>(&mut self, role: Role<'c>, texts: impl IntoIterator<Item = &'c T>)
    where
        T: AsRef<str> + ?Sized + 'c,
    {
        let each = self.each;
        let texts = texts.into_iter().map(AsRef::as_ref);
        let fragment = |text| Fragment { role, text, each };
        self.found.extend(texts.map(fragment));
    }

    fn shown<const N: usize>(&mut self, texts: [&'c Option<Text>; N]) {
        self.add(Role::Shown, texts.into_iter().flatten());
    }

    fn assigned(&mut self, assign: &'c Assign) {
        for (field, literal) in assign {
            self.add(Role::Assigned(field), literal.text());
        }
    }

    /// What follows sees the items of this list as `it`.
    fn each(&mut self, each: Option<&'c Expr>) {
        self.add(Role::List, each);
        self.each = each.map(AsRef::as_ref);
    }

    fn rule(&mut self, rule: &'c Rule) {
        self.add(Role::Condition, &rule.guard);
        self.assigned(&rule.assign);
        for action in &rule.actions {
            self.action(action);
        }
    }

    fn action(&mut self, action: &'c Action) {
        self.each(action.each.as_ref());
        self.add(Role::Condition, &action.guard);
        let texts = action.deed().map(Deed::texts).unwrap_or_default();
        self.add(Role::Shown, texts.into_iter().map(|(_, text)| text));
        self.each = None;
    }
}
