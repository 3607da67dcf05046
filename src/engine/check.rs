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
use crate::chart::fragments::{Fragment, It, Role};
use crate::chart::known::KNOWN;
use crate::chart::model::{Field, FieldType, Rule};
use crate::chart::{Chart, load};
use crate::diagnostic::code::{Code, Stage};
use crate::diagnostic::flaw::{ChartError, Flaw, SourceFile, in_order};
use crate::diagnostic::suggest::hint;
use crate::diagnostic::toml::{Document, Segment, at, below, token};
use crate::expr::infer::{self, Problem};
use crate::expr::prompt;
use crate::expr::single_expression;
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
        let known = KNOWN.iter().map(|(name, _)| *name);
        let settings = chart.context.values().filter_map(Field::setting).chain(known);
        self.uses.borrow_mut().extend(settings.map(|name| format!("config.{name}")));
        for fragment in chart.fragments() {
            let it = self.it(fragment.it, &names);
            let own = it.map(|it| ChartNames::with_it(chart, &self.uses, it));
            self.fragment(&fragment, own.as_ref().unwrap_or(&names));
        }
        self.prompts(&names);
        for (event, rules) in &chart.on {
            for (index, rule) in rules.iter().enumerate() {
                let path = at!["on", event, index];
                if let Some(invoke) = &rule.invoke {
                    self.invocation(&below(path, "invoke"), invoke);
                }
                self.copied(path, rule, &names);
            }
        }
        for (name, command) in &chart.commands {
            self.copied(at!["commands", name], command, &names);
        }
    }

    /// Returns the type of `it`; `None` if there is none.
    fn it(&self, it: It<'_>, names: &ChartNames<'_>) -> Option<Type> {
        let chart = self.chart;
        match it {
            It::Nothing => None,
            It::Item(list) => Some(match infer::expression(list, names).0 {
                Type::List(item) => *item,
                _ => Type::Any,
            }),
            It::Phase(name) => {
                let cycle = chart.phases.get(name).and_then(|entry| entry.cycle.clone());
                let cycle = cycle.map_or(Type::None, |cycle| Type::word([cycle]));
                Some(Type::record([("id", Type::word([name.to_owned()])), ("cycle", cycle)]))
            }
            It::Reviewer => {
                let id = Type::word(chart.reviewers.keys().cloned());
                Some(Type::record([("id", id), ("model", Type::Text)]))
            }
        }
    }

    /// Checks an expression or a text, as what it is for.
    fn fragment(&mut self, fragment: &Fragment<'_>, names: &ChartNames<'_>) {
        let Fragment { path, text, .. } = fragment;
        let (kind, mut problems) = match (fragment.role, single_expression(text)) {
            (Role::Condition, _) => (Type::Boolean, infer::condition(text, names)),
            (Role::List | Role::Commands | Role::Printed | Role::Let, _) => {
                infer::expression(text, names)
            }
            (Role::Default | Role::Assigned(_), Some(expr)) => infer::expression(expr, names),
            _ => (Type::Text, infer::text(text, names)),
        };
        match (fragment.role, &kind) {
            (Role::List | Role::Commands, Type::List(_) | Type::Any) => {}
            (Role::List | Role::Commands, other) => {
                let message = format!("expected a list, but this is {other}");
                problems.push(Problem::of_all(text, Code::WrongOperand, message, None));
            }
            (Role::Printed, Type::List(_) | Type::Record(_)) => {
                let message = format!("expected a string, but this is {kind}");
                let help = Some("join it: `| join('\\n')`".to_owned());
                problems.push(Problem::of_all(text, Code::WrongOperand, message, help));
            }
            _ => {}
        }
        let is_value = matches!(fragment.role, Role::Default | Role::Assigned(_));
        let source = single_expression(text).filter(|_| is_value).unwrap_or(text);
        self.report(path, source, problems);
        // The loader has checked everything that needs no evaluation.
        if let (Role::Assigned(name), Some(_)) = (fragment.role, single_expression(text)) {
            self.assigned(path, name, &kind, names);
        }
    }

    /// Checks that a field may have values of a type.
    fn assigned(&mut self, path: &[Segment], name: &str, given: &Type, names: &ChartNames<'_>) {
        let Some(field) = self.chart.context.get(name) else { return };
        let wanted = infer::Scope::name(names, name).unwrap_or(Type::Any);
        // Only a run can tell whether an optional value is set when it is assigned; it is checked then.
        let fits = match given {
            Type::None => wanted.can_equal(given),
            _ => wanted.some().can_equal(given.some()),
        };
        if !fits {
            let help = match (given, field.kind) {
                (Type::None, _) => Some("add `or null` to the type of the field".to_owned()),
                (Type::List(_), FieldType::Boolean) => {
                    Some("compare its length: a list is no boolean".to_owned())
                }
                _ => None,
            };
            let message = format!("`{name}` must be {}, but this is {given}", field.describe());
            self.flaw(Code::WrongAssignment, path, message, help);
        }
    }

    /// Checks the templates that a rule copies.
    fn copied(&mut self, path: &[Segment], rule: &Rule, names: &ChartNames<'_>) {
        for (index, action) in rule.actions.iter().enumerate() {
            if let Some(template) = &action.copy {
                let path = below(&below(path, "actions"), index);
                self.template(&below(&path, "copy"), &template.0, names);
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
