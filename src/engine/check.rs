//! Checks every expression and text of a chart: names, types, templates. Findings point at
//! the token.
//!
//! A user's chart must pass this before anything runs on it; the charts that are compiled in pass it in a test.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::names::rows::sources;
use super::names::types::{ChartNames, Uses, invoked};
use super::references::References;
use crate::chart::choice::Choice;
use crate::chart::known::KNOWN;
use crate::chart::model::{Action, Assign, Deed, Field, FieldType, Rule};
use crate::chart::{Chart, Cycle, load};
use crate::diagnostic::code::{Code, Stage};
use crate::diagnostic::flaw::{ChartError, Flaw, SourceFile, in_order};
use crate::diagnostic::suggest::hint;
use crate::diagnostic::toml::{Document, Segment, at, below, token};
use crate::expr::infer::{self, Problem};
use crate::expr::prompt;
use crate::expr::single_expression;
use crate::expr::source::{Expr, Literal, Text};
use crate::expr::types::Type;

/// The result of checking every expression and text of a chart.
#[derive(Debug)]
pub struct Inspection {
    /// Everything that is wrong, in the order of the file.
    pub flaws: Vec<Flaw>,
    /// The names that are used somewhere, including lets used by other lets.
    pub uses: BTreeSet<String>,
}

/// Checks every expression and text of `chart`, whose TOML is `document`.
pub fn inspect(chart: &Chart, document: &Document<'_>) -> Inspection {
    let mut checker = Checker { chart, document, flaws: Vec::new(), uses: Uses::default() };
    checker.chart();
    Inspection { flaws: in_order(checker.flaws), uses: checker.uses.take() }
}

/// Returns the flaws with which the chart cannot be used.
pub fn serious(chart: &Chart, document: &Document<'_>) -> Vec<Flaw> {
    let mut flaws = inspect(chart, document).flaws;
    flaws.retain(|flaw| flaw.code.stage() == Stage::Load);
    flaws
}

impl Choice<'_> {
    /// Loads the chart, resolves its names, and checks it if it is a user's.
    pub fn load(&self) -> Result<Arc<Chart>, ChartError> {
        let path = match self {
            Self::Embedded(chart) => return chart.load(),
            Self::File(path) => path,
        };
        if !path.exists() {
            return Err(Self::unknown(path));
        }
        load::from_path(path, serious).map(Arc::new)
    }
}

struct Checker<'c> {
    chart: &'c Chart,
    document: &'c Document<'c>,
    flaws: Vec<Flaw>,
    uses: Uses,
}

impl Checker<'_> {
    /// Checks that no field and no let has the name of something else that expressions see.
    fn shadows(&mut self) {
        let chart = self.chart;
        let built_in: Vec<&str> = sources().collect();
        for (table, name) in (chart.context.keys().map(|name| ("context", name)))
            .chain(chart.lets.keys().map(|name| ("let", name)))
        {
            if built_in.contains(&name.as_str()) {
                let message = format!("`{name}` shadows a built-in name");
                let help = format!("rename it; the built-in names are {}", built_in.join(", "));
                self.flaw(Code::BadName, at![table, name], message, Some(help));
            } else if table == "let" && chart.context.contains_key(name) {
                let message = format!("`{name}` is already a context field");
                let help = Some("rename one of them".to_owned());
                self.flaw(Code::BadName, at!["let", name], message, help);
            }
        }
    }

    fn chart(&mut self) {
        let chart = self.chart;
        let names = ChartNames::new(chart, &self.uses);
        if let Some((name, message)) = References::of(chart).fault() {
            let path = match (name.split_once('.'), chart.cycles.keys().next()) {
                // What all cycles share is in each.
                (Some(("cycle", key)), Some(cycle)) => at!["cycles", cycle, key].to_vec(),
                (Some((table, name)), _) => at![table, name].to_vec(),
                (None, _) => at!["let", name].to_vec(),
            };
            self.flaw(Code::SelfReference, &path, message, None);
        }
        self.shadows();
        for (name, expr) in &chart.lets {
            let (_, problems) = infer::expression(&expr.0, &names);
            self.report(at!["let", name], &expr.0, problems);
        }
        let known = KNOWN.iter().map(|(name, _)| *name);
        let settings = chart.context.values().filter_map(Field::setting).chain(known);
        self.uses.borrow_mut().extend(settings.map(|name| format!("config.{name}")));
        self.options(&names);
        self.checks(&names);
        self.phases();
        self.prompts(&names);
        for (id, cycle) in &chart.cycles {
            self.cycle(id, cycle, &names);
        }
        self.processes();
        for (event, rules) in &chart.on {
            for (index, rule) in rules.iter().enumerate() {
                let path = at!["on", event, index];
                self.rule(path, rule, &names);
                if rule.invoke.is_none() && rule.effects().is_empty() && rule.answers().is_empty() {
                    let help = "add `assign`, `say`, `allow` or the like, or remove it".to_owned();
                    let message = format!("rule {} of {event} has no effect", index + 1);
                    self.flaw(Code::IdleRule, path, message, Some(help));
                }
            }
        }
        for (name, command) in &chart.commands {
            let path = at!["commands", name];
            self.rule(path, &command.rule, &names);
            if command.rule.effects().is_empty() && command.raise.is_empty() {
                let help = "add `assign`, `say`, `target` or `advance`, or remove it".to_owned();
                let message = format!("the command `{name}` has no effect");
                self.flaw(Code::IdleRule, path, message, Some(help));
            }
            if let Some(text) = &command.otherwise {
                self.say(&below(path, "else"), text, &names);
            }
        }
        for (index, property) in chart.properties.iter().enumerate() {
            let path = at!["properties", index];
            for (key, expr) in property.claims() {
                self.condition(&below(path, key), expr, &names);
            }
        }
    }

    fn options(&mut self, names: &ChartNames<'_>) {
        let chart = self.chart;
        for (name, arg) in &chart.args {
            let path = at!["args", name];
            if let Some(one_of) = &arg.one_of {
                self.list(&below(path, "one_of"), one_of, names);
            }
            if let Some(default) = arg.default.as_ref().and_then(Literal::text) {
                self.value(&below(path, "default"), default, names);
            }
        }
    }

    fn checks(&mut self, names: &ChartNames<'_>) {
        let chart = self.chart;
        for (name, checks) in &chart.checks {
            for (index, check) in checks.iter().enumerate() {
                let path = at!["checks", name, index];
                let it =
                    check.each.as_ref().map(|each| self.list(&below(path, "each"), each, names));
                let with_it = it.map(|it| ChartNames::with_it(chart, &self.uses, it));
                let names = with_it.as_ref().unwrap_or(names);
                self.guard(path, check.guard.as_ref(), names);
                self.say(&below(path, "say"), &check.say, names);
            }
        }
    }

    fn phases(&mut self) {
        let chart = self.chart;
        for (name, entry) in &chart.phases {
            // A phase whose name has a hole is checked once for each cycle; equal findings are reported once.
            let cycle =
                entry.cycle.as_ref().map_or(Type::None, |cycle| Type::word([cycle.clone()]));
            let it = Type::record([("id", Type::word([name.clone()])), ("cycle", cycle)]);
            let names = ChartNames::with_it(chart, &self.uses, it);
            let path = at!["phases", &entry.key];
            self.guard(path, entry.phase.guard.as_ref(), &names);
            if let Some(text) = &entry.phase.otherwise {
                self.say(&below(path, "else"), text, &names);
            }
            self.assign(&below(path, "entry"), &entry.phase.entry, &names);
        }
    }

    fn processes(&mut self) {
        let chart = self.chart;
        let id = Type::word(chart.reviewers.keys().cloned());
        let it = Type::record([("id", id), ("model", Type::Text)]);
        let names = &ChartNames::with_it(chart, &self.uses, it);
        for (name, reviewer) in &chart.reviewers {
            let path = at!["reviewers", name];
            for (index, text) in reviewer.argv.iter().enumerate() {
                let path = &below(&below(path, "argv"), index);
                // A list becomes one argument for each item.
                let is_list = single_expression(&text.0)
                    .is_some_and(|expr| matches!(infer::expression(expr, names).0, Type::List(_)));
                if is_list {
                    self.value(path, text, names);
                } else {
                    self.say(path, text, names);
                }
            }
            if let Some(prompt) = &reviewer.prompt {
                self.say(&below(path, "prompt"), prompt, names);
            }
            if let Some(list) = &reviewer.commands {
                self.list(&below(path, "commands"), list, names);
            }
        }
    }

    fn cycle(&mut self, id: &str, cycle: &Cycle, names: &ChartNames<'_>) {
        let at = |key: &str| below(at!["cycles", id], key);
        self.condition(&at("exit"), &cycle.exit, names);
        if let Some(expr) = &cycle.ready {
            self.condition(&at("ready"), expr, names);
        }
        self.assign(&at("entry"), &cycle.entry, names);
        if let Some(gates) = &cycle.gates {
            self.list(&at("gates"), gates, names);
        }
        for (index, item) in cycle.subject.iter().enumerate() {
            if let Some(expr) = single_expression(&item.0) {
                self.list(&below(&at("subject"), index), &Expr(expr.to_owned()), names);
            }
        }
        for (word, item) in &cycle.text {
            let path = below(&at("text"), word);
            self.say(&path, item, names);
        }
        for (index, target) in cycle.advance.iter().enumerate() {
            self.guard(&below(&at("advance"), index), target.guard.as_ref(), names);
        }
    }

    fn rule(&mut self, path: &[Segment], rule: &Rule, names: &ChartNames<'_>) {
        self.guard(path, rule.guard.as_ref(), names);
        self.assign(&below(path, "assign"), &rule.assign, names);
        if let Some(invoke) = &rule.invoke {
            let path = below(path, "invoke");
            self.say(&path, &Text(invoke.clone()), names);
            self.invocation(&path, invoke);
        }
        for (index, action) in rule.actions.iter().enumerate() {
            self.action(&below(&below(path, "actions"), index), action, names);
        }
        let texts = [
            ("message", &rule.message),
            ("say", &rule.say),
            ("block", &rule.block),
            ("action", &rule.action),
            ("call", &rule.call),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                self.say(&below(path, key), text, names);
            }
        }
    }

    /// Checks that all names that `invoke` can mean are known.
    fn invocation(&mut self, path: &[Segment], invoke: &str) {
        let chart = self.chart;
        let known = || chart.reviewers.keys().map(String::as_str);
        let names = invoked(chart, invoke).unwrap_or_else(|| match chart.reviewer("") {
            // Any text can be a model.
            Some(_) => Vec::new(),
            None => vec![invoke.to_owned()],
        });
        let unknown = names.iter().find(|name| chart.reviewer(name).is_none());
        if let Some(name) = unknown {
            let message = format!("unknown reviewer `{name}`");
            let flaw = Flaw::new(Code::UnknownInvocation, message);
            let flaw = flaw.help(hint(name, known()));
            self.flaws.push(flaw.at(self.place(path)));
        }
    }

    fn action(&mut self, path: &[Segment], action: &Action, names: &ChartNames<'_>) {
        let it = action.each.as_ref().map(|each| self.list(&below(path, "each"), each, names));
        let with_it = it.map(|it| ChartNames::with_it(self.chart, &self.uses, it));
        let names = with_it.as_ref().unwrap_or(names);
        self.guard(path, action.guard.as_ref(), names);
        // The loader reports keys that exclude each other.
        let Ok(deed) = action.deed() else { return };
        for (key, text) in deed.texts() {
            self.say(&below(path, key), text, names);
        }
        if let Deed::Copy { template, .. } = deed {
            self.template(&below(path, "copy"), template, names);
        }
    }

    /// Returns the text of a template that is copied unchanged. If it is unknown, reports a flaw.
    fn template(&mut self, path: &[Segment], name: &str, names: &ChartNames<'_>) -> Option<String> {
        match infer::Scope::template(names, name) {
            Some(text) => {
                infer::Scope::used(names, &format!("template:{name}"));
                Some(text)
            }
            None => {
                let known = self.chart.templates.names();
                let help = hint(name, known.iter().map(String::as_str));
                let message = format!("unknown template `{name}`");
                self.flaw(Code::UnknownTemplate, path, message, help);
                None
            }
        }
    }

    /// Checks the chart's prompts: every name in them must have a value.
    fn prompts(&mut self, names: &ChartNames<'_>) {
        for (name, vars) in &self.chart.prompts {
            let path = at!["prompts", name];
            for (hole, expr) in vars {
                let (kind, mut problems) = infer::expression(&expr.0, names);
                if matches!(kind, Type::List(_) | Type::Record(_)) {
                    let message = format!("expected a string, but this is {kind}");
                    let help = Some("join it: `| join('\\n')`".to_owned());
                    problems.push(Problem::of_all(&expr.0, Code::WrongOperand, message, help));
                }
                self.report(&below(path, hole), &expr.0, problems);
            }
            let file = Chart::prompt_file(name);
            let Some(text) = self.template(path, &file, names) else {
                continue;
            };
            for hole in prompt::names(&text).filter(|hole| !vars.contains_key(*hole)) {
                let help = hint(hole, vars.keys().map(String::as_str));
                let message =
                    format!("`{file}` has {{{{{hole}}}}}, which is not in [prompts.{name}]");
                self.flaw(Code::UnknownName, path, message, help);
            }
        }
    }

    fn condition(&mut self, path: &[Segment], expr: &Expr, names: &ChartNames<'_>) {
        let problems = infer::condition(&expr.0, names);
        self.report(path, &expr.0, problems);
    }

    fn guard(&mut self, path: &[Segment], guard: Option<&Expr>, names: &ChartNames<'_>) {
        if let Some(guard) = guard {
            self.condition(&below(path, "guard"), guard, names);
        }
    }

    /// Checks a list expression and returns the type of its items.
    fn list(&mut self, path: &[Segment], expr: &Expr, names: &ChartNames<'_>) -> Type {
        let (kind, mut problems) = infer::expression(&expr.0, names);
        let item = match kind {
            Type::List(item) => *item,
            Type::Any => Type::Any,
            other => {
                let message = format!("expected a list, but this is {other}");
                problems.push(Problem::of_all(&expr.0, Code::WrongOperand, message, None));
                Type::Any
            }
        };
        self.report(path, &expr.0, problems);
        item
    }

    /// Checks a text that is shown.
    fn say(&mut self, path: &[Segment], text: &Text, names: &ChartNames<'_>) {
        let problems = infer::text(&text.0, names);
        self.report(path, &text.0, problems);
    }

    /// Checks a value and returns its type: a text that is a single `{{ … }}` keeps its type.
    fn value(&mut self, path: &[Segment], text: &Text, names: &ChartNames<'_>) -> Type {
        match single_expression(&text.0) {
            Some(expr) => {
                let (kind, problems) = infer::expression(expr, names);
                self.report(path, expr, problems);
                kind
            }
            None => {
                let problems = infer::text(&text.0, names);
                self.report(path, &text.0, problems);
                if text.0.contains('{') { Type::Text } else { Type::word([text.0.clone()]) }
            }
        }
    }

    fn assign(&mut self, path: &[Segment], assign: &Assign, names: &ChartNames<'_>) {
        for (name, literal) in assign {
            let Some(text) = literal.text() else {
                continue;
            };
            let path = below(path, name);
            let given = self.value(&path, text, names);
            let Some(field) = self.chart.context.get(name) else {
                continue;
            };
            let wanted = infer::Scope::name(names, name).unwrap_or(Type::Any);
            // The loader has checked everything that needs no evaluation.
            if single_expression(&text.0).is_none() {
                continue;
            }
            // Only a run can tell whether an optional value is set when it is assigned; it is checked then.
            let fits = match given {
                Type::None => wanted.can_equal(&given),
                _ => wanted.some().can_equal(given.some()),
            };
            if !fits {
                let help = match (&given, field.kind) {
                    (Type::None, _) => Some("add `or null` to the type of the field".to_owned()),
                    (Type::List(_), FieldType::Boolean) => {
                        Some("compare its length: a list is no boolean".to_owned())
                    }
                    _ => None,
                };
                let message = format!("`{name}` must be {}, but this is {given}", field.describe());
                self.flaw(Code::WrongAssignment, &path, message, help);
            }
        }
    }

    /// Reports what is wrong at `path`, and what to do.
    fn flaw(&mut self, code: Code, path: &[Segment], message: String, help: Option<String>) {
        let flaw = Flaw::new(code, message).help(help);
        self.flaws.push(flaw.at(self.place(path)));
    }

    fn place(&self, path: &[Segment]) -> Option<Range<usize>> {
        self.document.locate(path)
    }

    /// Turns the problems of an expression into flaws of the chart or of a template.
    fn report(&mut self, path: &[Segment], source: &str, problems: Vec<Problem>) {
        if problems.is_empty() {
            return;
        }
        let value = self.place(path);
        for problem in problems {
            let flaw = Flaw::new(problem.code, problem.message).help(problem.help);
            self.flaws.push(match problem.template {
                Some(name) => {
                    let text =
                        infer::Scope::template(&ChartNames::new(self.chart, &self.uses), &name)
                            .unwrap_or_default();
                    let name = self.chart.templates.shown(&name);
                    Flaw {
                        file: Some(Arc::new(SourceFile { name, text })),
                        ..flaw.at(Some(problem.span))
                    }
                }
                None => {
                    let token = value
                        .as_ref()
                        .and_then(|value| token(self.document.text, value, source, &problem.span));
                    flaw.at(token.or_else(|| value.clone()))
                }
            });
        }
    }
}
