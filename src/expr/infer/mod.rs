//! Infers the type of an expression or a text, and finds what is wrong with it: unknown names and filters, operands
//! that are not conditions, comparisons that can never be true.
//!
//! minijinja's strict mode accepts `nope and 1` and `'a' > 1`, so a chart is checked before it runs. Nothing is
//! evaluated here.

mod filters;
mod operators;
mod statements;

use std::ops::Range;

use minijinja::machinery::Span;
use minijinja::machinery::ast::{self, BinOpKind, CallArg, Expr, UnaryOpKind};
use minijinja::value::{Value, ValueKind};

use super::syntax::{MAX_LENGTH, dotted, instead, parse_expr, value_of_arg};
use super::types::Type;
use super::vocabulary::{TESTS, names};
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::{hint, suggest};

/// The names that an expression sees.
pub trait Scope {
    /// Returns the type of a root name; `None` if it is unknown.
    fn name(&self, name: &str) -> Option<Type>;

    /// Returns all root names, for suggestions.
    fn names(&self) -> Vec<String>;

    /// Returns the text of a template.
    fn template(&self, name: &str) -> Option<String>;

    /// Records a name that is used: `phase`, `files.md`, or a template as `template:review.md`.
    fn used(&self, path: &str);

    /// Returns the templates that a name built from this literal start and end can mean.
    fn templates_like(&self, start: &str, end: &str) -> Vec<String>;
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub code: Code,
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// The template that it is in; `None`: the text itself.
    pub template: Option<String>,
    pub message: String,
    pub help: Option<String>,
}

impl Problem {
    /// Returns what is wrong with all of an expression.
    pub fn of_all(source: &str, code: Code, message: String, help: Option<String>) -> Self {
        Self { code, span: 0..source.len(), template: None, message, help }
    }
}

/// Returns the type of a bare expression, and what is wrong with it.
pub fn expression(source: &str, scope: &dyn Scope) -> (Type, Vec<Problem>) {
    let mut infer = Infer::new(scope);
    if source.len() > MAX_LENGTH {
        infer.too_long(0..source.len());
        return (Type::Any, infer.problems);
    }
    infer.sources.push(source.to_owned());
    let kind = match parse_expr(source) {
        Ok(expr) => infer.expr(&expr),
        Err(_) if has_braces(source) => {
            let inside = source.trim().trim_matches(['{', '}']).trim();
            let help = format!("write it without them: `{inside}`");
            let message = "an expression has no `{{ }}` around it: only a text does".to_owned();
            infer.report(Code::ExpressionSyntax, 0..source.len(), message, Some(help));
            Type::Any
        }
        Err(error) => {
            infer.syntax(source, &error);
            Type::Any
        }
    };
    (kind, infer.problems)
}

/// Returns whether an expression is written like one in a text.
fn has_braces(source: &str) -> bool {
    let source = source.trim();
    source.starts_with("{{") && source.ends_with("}}")
}

/// Returns what is wrong with a condition, its type included.
pub fn condition(source: &str, scope: &dyn Scope) -> Vec<Problem> {
    let (kind, mut problems) = expression(source, scope);
    if !kind.is_condition() {
        let (message, help) = no_condition(&kind);
        problems.push(Problem::of_all(source, Code::NotACondition, message, help));
    }
    problems
}

/// Returns what is wrong with a text and the templates that it includes.
pub fn text(source: &str, scope: &dyn Scope) -> Vec<Problem> {
    let mut infer = Infer::new(scope);
    infer.template(source);
    infer.problems
}

/// Returns what is wrong with something of this type as a condition, and what to do.
fn no_condition(kind: &Type) -> (String, Option<String>) {
    let help = match kind {
        Type::Optional(_) => Some("x is not none"),
        Type::Integer => Some("x > 0"),
        Type::Text | Type::Word(_) => Some("x != ''"),
        _ => None,
    };
    (
        format!("a condition must be a boolean or a list, but this is {kind}"),
        help.map(|comparison| format!("write a comparison: `{comparison}`")),
    )
}

struct Infer<'s> {
    scope: &'s dyn Scope,
    problems: Vec<Problem>,
    /// Variables of loops and `set`, innermost last.
    locals: Vec<(String, Type)>,
    /// The template files being walked, outermost first.
    files: Vec<String>,
    /// How many were walked so far.
    included: usize,
    /// The texts being walked, outermost first: messages quote them.
    sources: Vec<String>,
    /// The dotted names that are not none where the walk is, because a condition has asked.
    not_none: Vec<String>,
}

impl<'s> Infer<'s> {
    fn new(scope: &'s dyn Scope) -> Self {
        Self {
            scope,
            problems: Vec::new(),
            locals: Vec::new(),
            files: Vec::new(),
            included: 0,
            sources: Vec::new(),
            not_none: Vec::new(),
        }
    }

    /// Returns an expression as it is written.
    fn quoted(&self, expr: &Expr<'_>) -> String {
        let span = expr.span();
        let source = self.sources.last().map_or("", String::as_str);
        source
            .get(span.start_offset as usize..span.end_offset as usize)
            .unwrap_or("this")
            .trim()
            .to_owned()
    }

    fn report(&mut self, code: Code, span: Range<usize>, message: String, help: Option<String>) {
        self.problems.push(Problem {
            code,
            span,
            template: self.files.last().cloned(),
            message,
            help,
        });
    }

    fn problem(&mut self, code: Code, span: Span, message: String, help: Option<String>) {
        let span = span.start_offset as usize..span.end_offset as usize;
        self.report(code, span, message, help);
    }

    /// Reports an operand of the wrong type. The type of its result is unknown.
    fn wrong(&mut self, span: Span, message: String) -> Type {
        self.problem(Code::WrongOperand, span, message, None);
        Type::Any
    }

    /// Reports a name that does not exist.
    fn unknown(&mut self, span: Span, name: &str, help: Option<String>) -> Type {
        let message = format!("unknown name `{name}`");
        self.problem(Code::UnknownName, span, message, help);
        Type::Any
    }

    fn syntax(&mut self, source: &str, error: &minijinja::Error) {
        let span = error.range().unwrap_or(0..source.len());
        if let Some((span, instead)) = instead(source, span.start) {
            let message = format!("there is no operator `{}`", &source[span.clone()]);
            let help = Some(format!("write `{instead}`"));
            return self.report(Code::ExpressionSyntax, span, message, help);
        }
        // The lexer marks one byte, whatever the character.
        let start = (0..=span.start).rfind(|at| source.is_char_boundary(*at));
        let end = (span.end..source.len()).find(|at| source.is_char_boundary(*at));
        let span = start.unwrap_or(0)..end.unwrap_or(source.len());
        let detail = error.detail();
        let message = detail.map_or_else(|| error.to_string(), str::to_owned);
        self.report(Code::ExpressionSyntax, span, message, None);
    }

    fn syntax_problem(&mut self, span: Span, message: &str, help: &str) {
        let help = Some(help.to_owned());
        self.problem(Code::ExpressionSyntax, span, message.to_owned(), help);
    }

    fn too_long(&mut self, span: Range<usize>) {
        let length = span.len();
        let message = format!("this expression has {length} bytes, and the limit is {MAX_LENGTH}");
        let help = Some("name parts of it in [let]".to_owned());
        self.report(Code::ExpressionSyntax, span, message, help);
    }

    fn quietly(&mut self, expr: &Expr<'_>) -> Type {
        let mark = self.problems.len();
        let kind = self.expr(expr);
        self.problems.truncate(mark);
        kind
    }

    fn is_condition(&mut self, expr: &Expr<'_>) -> Type {
        let kind = self.expr(expr);
        if !kind.is_condition() {
            let (message, help) = no_condition(&kind);
            self.problem(Code::NotACondition, expr.span(), message, help);
        }
        kind
    }

    fn item_of(&mut self, list: &Type, span: Span) -> Type {
        match list {
            Type::List(item) => (**item).clone(),
            Type::Any => Type::Any,
            other => self.wrong(span, format!("expected a list, but this is {other}")),
        }
    }

    /// Returns the result of `walk` where a condition holds, or where it does not.
    fn given<T>(&mut self, test: &Expr<'_>, holds: bool, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.not_none.clone();
        not_none(test, holds, &mut self.not_none);
        let result = walk(self);
        self.not_none = before;
        result
    }

    fn expr(&mut self, expr: &Expr<'_>) -> Type {
        match (self.declared(expr), dotted(expr)) {
            (Type::Optional(kind), Some(path)) if self.not_none.contains(&path) => *kind,
            (kind, _) => kind,
        }
    }

    /// Returns the type of an expression, whatever conditions say.
    fn declared(&mut self, expr: &Expr<'_>) -> Type {
        match expr {
            Expr::Var(var) => self.var(var.id, var.span()),
            Expr::Const(constant) => of_value(&constant.value),
            Expr::List(list) => self.list(&list.items),
            Expr::Tuple(tuple) => self.list(&tuple.items),
            Expr::Map(map) => {
                for item in map.keys.iter().chain(&map.values) {
                    self.expr(item);
                }
                Type::Any
            }
            Expr::GetAttr(get) => {
                let kind = self.expr(&get.expr);
                if let Expr::Var(root) = &get.expr {
                    let meant = match &kind {
                        Type::Record(fields) if !fields.contains_key(get.name) => {
                            suggest(get.name, fields.keys().map(String::as_str)).unwrap_or(get.name)
                        }
                        _ => get.name,
                    };
                    // A misspelled root still uses what was meant.
                    let names = match self.scope.name(root.id) {
                        Some(_) => Vec::new(),
                        None => self.scope.names(),
                    };
                    let root =
                        suggest(root.id, names.iter().map(String::as_str)).unwrap_or(root.id);
                    self.scope.used(&format!("{root}.{meant}"));
                }
                self.field(&kind, get.name, get.span())
            }
            Expr::GetItem(get) => self.item(get),
            Expr::Slice(slice) => {
                let bounds = [&slice.start, &slice.stop].into_iter().flatten();
                for bound in bounds.chain(&slice.step) {
                    self.expr(bound);
                }
                match self.expr(&slice.expr) {
                    // A part of a known word can be any text.
                    Type::Text | Type::Word(_) => Type::Text,
                    kind => kind,
                }
            }
            Expr::UnaryOp(op) => match op.op {
                UnaryOpKind::Not => {
                    self.is_condition(&op.expr);
                    Type::Boolean
                }
                UnaryOpKind::Neg => self.integer(&op.expr),
            },
            Expr::BinOp(op) => self.binary(op),
            Expr::Compare(compare) => {
                let mut left = &compare.expr;
                let mut left_kind = self.expr(left);
                for op in &compare.ops {
                    let right = self.expr(&op.expr);
                    self.compare(op.op, (left, &left_kind), (&op.expr, &right));
                    (left, left_kind) = (&op.expr, right);
                }
                Type::Boolean
            }
            Expr::IfExpr(choice) => {
                let test = &choice.test_expr;
                self.is_condition(test);
                let then = self.given(test, true, |infer| infer.expr(&choice.true_expr));
                match &choice.false_expr {
                    Some(other) => then.join(&self.given(test, false, |infer| infer.expr(other))),
                    None => {
                        let message = "without `else` this is undefined when the test is false";
                        self.syntax_problem(choice.span(), message, "add the `else`");
                        then
                    }
                }
            }
            Expr::Filter(filter) => self.filter(filter),
            Expr::Test(test) => {
                self.expr(&test.expr);
                self.args(&test.args);
                if names(TESTS).all(|name| name != test.name) {
                    let message = format!("unknown test `{}`", test.name);
                    let help = hint(test.name, names(TESTS));
                    self.problem(Code::UnknownTest, test.span(), message, help);
                }
                Type::Boolean
            }
            Expr::Call(call) => {
                let message = "functions and methods are not supported";
                self.syntax_problem(call.span(), message, "use names, filters and tests");
                Type::Any
            }
        }
    }

    fn var(&mut self, name: &str, span: Span) -> Type {
        let local = self.locals.iter().rev().find(|(local, _)| local == name);
        if let Some((_, kind)) = local {
            return kind.clone();
        }
        if let Some(kind) = self.scope.name(name) {
            self.scope.used(name);
            return kind;
        }
        let names = self.scope.names();
        let meant = suggest(name, names.iter().map(String::as_str));
        // What was meant is clear, and so it is not unused.
        meant.iter().for_each(|name| self.scope.used(name));
        let help = match name {
            "null" => Some("write `none`".to_owned()),
            _ => hint(name, names.iter().map(String::as_str)),
        };
        self.unknown(span, name, help)
    }

    fn field(&mut self, kind: &Type, name: &str, span: Span) -> Type {
        match kind {
            Type::Any => Type::Any,
            Type::Record(fields) => fields.get(name).cloned().unwrap_or_else(|| {
                let help = hint(name, fields.keys().map(String::as_str));
                self.unknown(span, name, help)
            }),
            other => {
                let message = format!("{other} has no `{name}`");
                self.problem(Code::UnknownName, span, message, None);
                Type::Any
            }
        }
    }

    fn item(&mut self, get: &ast::Spanned<ast::GetItem<'_>>) -> Type {
        let kind = self.expr(&get.expr);
        let key = self.expr(&get.subscript_expr);
        match (&kind, get.subscript_expr.as_const()) {
            (Type::Record(_), Some(name)) => self.field(&kind, &name.to_string(), get.span()),
            (Type::List(item), _) if matches!(key, Type::Integer | Type::Any) => (**item).clone(),
            (Type::Any, _) => Type::Any,
            _ => self.wrong(get.span(), format!("{kind} cannot be indexed by {key}")),
        }
    }

    fn list(&mut self, items: &[Expr<'_>]) -> Type {
        let kinds: Vec<Type> = items.iter().map(|item| self.expr(item)).collect();
        let joined = kinds.into_iter().reduce(|all, kind| all.join(&kind));
        Type::list(joined.unwrap_or(Type::Any))
    }

    fn integer(&mut self, expr: &Expr<'_>) -> Type {
        let kind = self.expr(expr);
        if !matches!(kind, Type::Integer | Type::Any) {
            self.wrong(expr.span(), format!("expected an integer, but this is {kind}"));
        }
        Type::Integer
    }

    fn args(&mut self, args: &[CallArg<'_>]) {
        for arg in args {
            self.expr(value_of_arg(arg));
        }
    }
}

/// Adds the dotted names that are not none where a condition holds, or where it does not: those that it asks for.
fn not_none(test: &Expr<'_>, holds: bool, names: &mut Vec<String>) {
    match test {
        Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Not) => not_none(&op.expr, !holds, names),
        Expr::BinOp(op)
            if holds && matches!(op.op, BinOpKind::ScAnd)
                || !holds && matches!(op.op, BinOpKind::ScOr) =>
        {
            not_none(&op.left, holds, names);
            not_none(&op.right, holds, names);
        }
        Expr::Test(test) if test.name == "none" && !holds => names.extend(dotted(&test.expr)),
        _ => {}
    }
}

fn of_value(value: &Value) -> Type {
    match value.kind() {
        ValueKind::None => Type::None,
        ValueKind::Bool => Type::Boolean,
        ValueKind::Number => Type::Integer,
        ValueKind::String => Type::word([value.to_string()]),
        _ => Type::Any,
    }
}
