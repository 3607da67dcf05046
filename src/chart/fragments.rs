//! Every expression and text of a chart, and what each is for.

use super::Chart;
use super::model::{Action, Assign, Rule};
use crate::expr::single_expression;
use crate::expr::source::{Expr, Literal, Text};

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

    /// Returns all expressions and texts, in the order in which a decision may come to them.
    pub fn fragments(&self) -> Vec<Fragment<'_>> {
        let mut all = Fragments::default();
        for rule in self.on.values().flatten() {
            all.rule(rule);
            all.shown([&rule.message, &rule.say, &rule.block, &rule.action]);
            let invoke = rule.invoke.as_deref();
            all.add(
                Role::Named,
                invoke.filter(|text| crate::expr::has_holes(text)),
            );
        }
        for command in self.commands.values() {
            all.rule(&command.rule);
            all.shown([&command.rule.say, &command.otherwise]);
        }
        for entry in self.phases.values() {
            all.conditions(&entry.phase.guard);
            all.shown([&entry.phase.otherwise]);
            all.assigned(&entry.phase.entry);
        }
        for cycle in self.cycles.values() {
            let guards = cycle
                .advance
                .iter()
                .filter_map(|target| target.guard.as_ref());
            all.conditions(
                std::iter::once(&cycle.exit)
                    .chain(guards)
                    .chain(&cycle.ready),
            );
            all.assigned(&cycle.entry);
            all.add(Role::Named, cycle.text.values().map(|text| text.0.as_str()));
            let subjects = cycle.subject.iter();
            all.add(
                Role::Condition,
                subjects.filter_map(|text| single_expression(&text.0)),
            );
        }
        all.add(
            Role::Printed,
            self.gates.iter().map(|gates| gates.commands.0.as_str()),
        );
        for invoke in self.invoke.values() {
            all.add(
                Role::Shown,
                invoke
                    .argv
                    .iter()
                    .chain(&invoke.by)
                    .map(|text| text.0.as_str()),
            );
        }
        for check in self.checks.values().flatten() {
            all.each(check.each.as_ref());
            all.conditions(&check.guard);
            all.add(Role::Named, [check.say.0.as_str()]);
            all.each = None;
        }
        all.conditions(
            self.properties
                .iter()
                .flat_map(|property| property.claims())
                .map(|(_, expr)| expr),
        );
        for arg in self.args.values() {
            all.add(Role::List, arg.one_of.iter().map(|expr| expr.0.as_str()));
            all.add(Role::Default, arg.default.as_ref().and_then(text_of));
        }
        all.add(Role::Let, self.lets.values().map(|expr| expr.0.as_str()));
        all.add(
            Role::Printed,
            self.prompts.vars.values().map(|expr| expr.0.as_str()),
        );
        all.found
    }
}

/// The text of an assignment or a default.
fn text_of(literal: &Literal) -> Option<&str> {
    match literal {
        Literal::Text(text) => Some(&text.0),
        _ => None,
    }
}

#[derive(Default)]
struct Fragments<'c> {
    found: Vec<Fragment<'c>>,
    each: Option<&'c str>,
}

impl<'c> Fragments<'c> {
    fn add(&mut self, role: Role<'c>, texts: impl IntoIterator<Item = &'c str>) {
        let each = self.each;
        let fragment = |text| Fragment { role, text, each };
        self.found.extend(texts.into_iter().map(fragment));
    }

    fn conditions(&mut self, exprs: impl IntoIterator<Item = &'c Expr>) {
        self.add(
            Role::Condition,
            exprs.into_iter().map(|expr| expr.0.as_str()),
        );
    }

    fn shown<const N: usize>(&mut self, texts: [&'c Option<Text>; N]) {
        let texts = texts.into_iter().flatten();
        self.add(Role::Shown, texts.map(|text| text.0.as_str()));
    }

    fn assigned(&mut self, assign: &'c Assign) {
        for (field, literal) in assign {
            self.add(Role::Assigned(field), text_of(literal));
        }
    }

    /// What follows sees the items of this list as `it`.
    fn each(&mut self, each: Option<&'c Expr>) {
        let each = each.map(|each| each.0.as_str());
        self.add(Role::List, each);
        self.each = each;
    }

    fn rule(&mut self, rule: &'c Rule) {
        self.conditions(&rule.guard);
        self.assigned(&rule.assign);
        for action in &rule.actions {
            self.action(action);
        }
    }

    fn action(&mut self, action: &'c Action) {
        self.each(action.each.as_ref());
        self.conditions(&action.guard);
        let texts = action.deed().map(|deed| deed.texts()).unwrap_or_default();
        self.add(
            Role::Shown,
            texts.into_iter().map(|(_, text)| text.0.as_str()),
        );
        self.each = None;
    }
}
