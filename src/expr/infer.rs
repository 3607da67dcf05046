//! What type an expression or a text has, and what is wrong with it: unknown names, operands that are no
//! conditions, comparisons that can never hold, unknown filters.
//!
//! minijinja's strict mode lets `nope and 1` and `'a' > 1` through, so a chart is checked before it runs.
//! Nothing is evaluated here.

use std::ops::Range;

use minijinja::machinery::ast::{self, BinOpKind, CallArg, CompareOpKind, Expr, Stmt, UnaryOpKind};
use minijinja::machinery::{Span, parse, parse_expr};
use minijinja::value::{Value, ValueKind};

use super::syntax::{MAX_LENGTH, longest_hole};
use super::types::Type;
use super::vocabulary::{FILTERS, TESTS, names};
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::{hint, suggest};

/// The names an expression sees.
pub trait Scope {
    /// The type of a root name; `None` where there is none of that name.
    fn name(&self, name: &str) -> Option<Type>;

    /// All root names, for suggestions.
    fn names(&self) -> Vec<String>;

    /// The text of a template.
    fn template(&self, name: &str) -> Option<String>;

    /// Told of every name that is used: `phase`, `files.md`, and templates as `template:review.md`.
    fn used(&self, path: &str);

    /// The templates that a name built from this literal start and end may mean.
    fn templates_like(&self, start: &str, end: &str) -> Vec<String>;
}

/// How deep templates may include others.
const MAX_INCLUDES: usize = 10;

/// How many templates a text may include in all, each as often as it is included: ten levels of a few each are billions.
const MAX_INCLUDED: usize = 500;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub code: Code,
    /// Bytes of the text it stands in.
    pub span: Range<usize>,
    /// The template file it stands in; `None`: the text itself.
    pub template: Option<String>,
    pub message: String,
    pub help: Option<String>,
}

/// The type of a bare expression, and what is wrong with it.
pub fn expression(source: &str, scope: &dyn Scope) -> (Type, Vec<Problem>) {
    let mut infer = Infer::new(scope);
    if source.len() > MAX_LENGTH {
        infer.too_long(0..source.len());
        return (Type::Any, infer.problems);
    }
    infer.sources.push(source.to_owned());
    let kind = match parse_expr(source) {
        Ok(expr) => infer.expr(&expr),
        Err(error) => {
            infer.syntax(source, &error);
            Type::Any
        }
    };
    (kind, infer.problems)
}

/// The type of a condition, and what is wrong with it, the type itself included.
pub fn condition(source: &str, scope: &dyn Scope) -> Vec<Problem> {
    let (kind, mut problems) = expression(source, scope);
    if !kind.is_condition() {
        problems.push(Problem {
            code: Code::NotACondition,
            span: 0..source.len(),
            template: None,
            message: format!("a condition must be a boolean or a list, but this is {kind}"),
            help: condition_help(&kind),
        });
    }
    problems
}

/// What is wrong with a text and the templates that it includes.
pub fn text(source: &str, scope: &dyn Scope) -> Vec<Problem> {
    let mut infer = Infer::new(scope);
    infer.template(source);
    infer.problems
}

fn condition_help(kind: &Type) -> Option<String> {
    match kind {
        Type::Optional(_) => Some("write a comparison: `x is not none`".to_owned()),
        Type::Integer => Some("write a comparison: `x > 0`".to_owned()),
        Type::Text | Type::Word(_) => Some("write a comparison: `x != ''`".to_owned()),
        _ => None,
    }
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
        }
    }

    /// An expression as it is written.
    fn quoted(&self, expr: &Expr<'_>) -> String {
        let span = expr.span();
        let source = self.sources.last().map_or("", String::as_str);
        source
            .get(span.start_offset as usize..span.end_offset as usize)
            .unwrap_or("this")
            .trim()
            .to_owned()
    }

    fn problem(&mut self, code: Code, span: Span, message: String, help: Option<String>) {
        self.problems.push(Problem {
            code,
            span: span.start_offset as usize..span.end_offset as usize,
            template: self.files.last().cloned(),
            message,
            help,
        });
    }

    fn syntax(&mut self, source: &str, error: &minijinja::Error) {
        let span = error.range().unwrap_or(0..source.len());
        let message = error
            .detail()
            .map_or_else(|| error.to_string(), str::to_owned);
        self.problems.push(Problem {
            code: Code::ExpressionSyntax,
            span,
            template: self.files.last().cloned(),
            message,
            help: None,
        });
    }

    fn too_long(&mut self, span: Range<usize>) {
        let message = format!(
            "this expression has {} bytes, and the limit is {MAX_LENGTH}",
            span.len()
        );
        let help = Some("name parts of it in [let]".to_owned());
        self.problems.push(Problem {
            code: Code::ExpressionSyntax,
            span,
            template: self.files.last().cloned(),
            message,
            help,
        });
    }

    fn template(&mut self, source: &str) {
        if let Some(span) = longest_hole(source).filter(|span| span.len() > MAX_LENGTH) {
            return self.too_long(span);
        }
        let name = self.files.last().cloned().unwrap_or_default();
        match parse(source, &name, minijinja::syntax::SyntaxConfig::default()) {
            Ok(template) => {
                self.sources.push(source.to_owned());
                self.stmt(&template);
                self.sources.pop();
            }
            Err(error) => self.syntax(source, &error),
        }
    }

    fn body(&mut self, body: &[Stmt<'_>]) {
        let mark = self.locals.len();
        for stmt in body {
            self.stmt(stmt);
        }
        self.locals.truncate(mark);
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) {
        match stmt {
            Stmt::Template(template) => self.body(&template.children),
            Stmt::EmitRaw(_) => {}
            Stmt::EmitExpr(emit) => {
                self.expr(&emit.expr);
            }
            Stmt::ForLoop(each) => {
                let items = self.expr(&each.iter);
                let item = self.item_of(&items, each.iter.span());
                let mark = self.locals.len();
                self.bind(&each.target, item);
                self.locals.push(("loop".to_owned(), Type::Any));
                if let Some(filter) = &each.filter_expr {
                    self.is_condition(filter);
                }
                self.body(&each.body);
                self.locals.truncate(mark);
                self.body(&each.else_body);
            }
            Stmt::IfCond(branch) => {
                self.is_condition(&branch.expr);
                self.body(&branch.true_body);
                self.body(&branch.false_body);
            }
            Stmt::Set(set) => {
                let kind = self.expr(&set.expr);
                self.bind(&set.target, kind);
            }
            Stmt::SetBlock(set) => {
                self.body(&set.body);
                self.bind(&set.target, Type::Text);
            }
            Stmt::WithBlock(with) => {
                let mark = self.locals.len();
                for (target, value) in &with.assignments {
                    let kind = self.expr(value);
                    self.bind(target, kind);
                }
                self.body(&with.body);
                self.locals.truncate(mark);
            }
            Stmt::Include(include) => self.include(&include.name),
            other => {
                let span = match other {
                    Stmt::AutoEscape(stmt) => stmt.span(),
                    Stmt::FilterBlock(stmt) => stmt.span(),
                    Stmt::Block(stmt) => stmt.span(),
                    Stmt::Import(stmt) => stmt.span(),
                    Stmt::FromImport(stmt) => stmt.span(),
                    Stmt::Extends(stmt) => stmt.span(),
                    Stmt::Do(stmt) => stmt.span(),
                    _ => Span::default(),
                };
                let help = "templates support if, for, set, with and include".to_owned();
                self.problem(
                    Code::ExpressionSyntax,
                    span,
                    "this kind of block is not supported".to_owned(),
                    Some(help),
                );
            }
        }
    }

    /// Walks every template that an include can mean: `'a.md'`, or `'actions/' ~ x ~ '.md'`.
    fn include(&mut self, name: &Expr<'_>) {
        if let Some(value) = name.as_const() {
            let name_text = value.to_string();
            return match self.scope.template(&name_text) {
                Some(text) => self.file(&name_text, &text),
                None => {
                    let known = self.scope.templates_like("", "");
                    let meant = suggest(&name_text, known.iter().map(String::as_str));
                    meant
                        .iter()
                        .for_each(|name| self.scope.used(&format!("template:{name}")));
                    let help = hint(&name_text, known.iter().map(String::as_str));
                    self.problem(
                        Code::UnknownTemplate,
                        name.span(),
                        format!("unknown template `{name_text}`"),
                        help,
                    );
                }
            };
        }
        self.expr(name);
        let (start, words, end) = ends(name);
        // The words that the middle can be, where they are known, else whatever is there.
        let middle = words.map(|expr| self.quietly(expr));
        let names: Vec<String> = match middle.as_ref().map(Type::some) {
            Some(Type::Word(words)) => words
                .iter()
                .map(|word| format!("{start}{word}{end}"))
                .collect(),
            _ => self.scope.templates_like(&start, &end),
        };
        let mut missing = Vec::new();
        for template in names {
            match self.scope.template(&template) {
                Some(text) => self.file(&template, &text),
                None => missing.push(format!("`{template}`")),
            }
        }
        if !missing.is_empty() {
            let message = format!("there is no template {}", missing.join(" and no "));
            self.problem(Code::UnknownTemplate, name.span(), message, None);
        }
    }

    fn file(&mut self, name: &str, text: &str) {
        if self.files.iter().any(|file| file == name) {
            return self.problem(
                Code::SelfReference,
                Span::default(),
                format!("template `{name}` includes itself"),
                None,
            );
        }
        if self.files.len() >= MAX_INCLUDES {
            let message = format!("templates include each other more than {MAX_INCLUDES} deep");
            return self.problem(Code::SelfReference, Span::default(), message, None);
        }
        self.included += 1;
        if self.included == MAX_INCLUDED + 1 {
            let message = format!("more than {MAX_INCLUDED} templates are included in all");
            self.problem(Code::SelfReference, Span::default(), message, None);
        }
        if self.included > MAX_INCLUDED {
            return;
        }
        self.scope.used(&format!("template:{name}"));
        self.files.push(name.to_owned());
        self.template(text);
        self.files.pop();
    }

    fn quietly(&mut self, expr: &Expr<'_>) -> Type {
        let mark = self.problems.len();
        let kind = self.expr(expr);
        self.problems.truncate(mark);
        kind
    }

    fn bind(&mut self, target: &Expr<'_>, kind: Type) {
        match target {
            Expr::Var(var) => self.locals.push((var.id.to_owned(), kind)),
            Expr::List(list) => list
                .items
                .iter()
                .for_each(|item| self.bind(item, Type::Any)),
            Expr::Tuple(tuple) => tuple
                .items
                .iter()
                .for_each(|item| self.bind(item, Type::Any)),
            _ => {}
        }
    }

    fn is_condition(&mut self, expr: &Expr<'_>) -> Type {
        let kind = self.expr(expr);
        if !kind.is_condition() {
            let help = condition_help(&kind);
            self.problem(
                Code::NotACondition,
                expr.span(),
                format!("a condition must be a boolean or a list, but this is {kind}"),
                help,
            );
        }
        kind
    }

    fn item_of(&mut self, list: &Type, span: Span) -> Type {
        match list {
            Type::List(item) => (**item).clone(),
            Type::Any => Type::Any,
            other => {
                self.problem(
                    Code::WrongOperand,
                    span,
                    format!("expected a list, but this is {other}"),
                    None,
                );
                Type::Any
            }
        }
    }

    fn expr(&mut self, expr: &Expr<'_>) -> Type {
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
                    self.scope.used(&format!("{}.{meant}", root.id));
                }
                self.field(&kind, get.name, get.span())
            }
            Expr::GetItem(get) => self.item(get),
            Expr::Slice(slice) => {
                for bound in [&slice.start, &slice.stop, &slice.step]
                    .into_iter()
                    .flatten()
                {
                    self.expr(bound);
                }
                self.expr(&slice.expr)
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
                self.is_condition(&choice.test_expr);
                let then = self.expr(&choice.true_expr);
                match &choice.false_expr {
                    Some(other) => then.join(&self.expr(other)),
                    None => {
                        let help = "add the `else`".to_owned();
                        let message =
                            "without `else` this is undefined when the test is false".to_owned();
                        self.problem(Code::ExpressionSyntax, choice.span(), message, Some(help));
                        then
                    }
                }
            }
            Expr::Filter(filter) => self.filter(filter),
            Expr::Test(test) => {
                self.expr(&test.expr);
                self.args(&test.args);
                if names(TESTS).all(|name| name != test.name) {
                    let help = hint(test.name, names(TESTS));
                    self.problem(
                        Code::UnknownTest,
                        test.span(),
                        format!("unknown test `{}`", test.name),
                        help,
                    );
                }
                Type::Boolean
            }
            Expr::Call(call) => {
                let help = "use names, filters and tests".to_owned();
                self.problem(
                    Code::ExpressionSyntax,
                    call.span(),
                    "functions and methods are not supported".to_owned(),
                    Some(help),
                );
                Type::Any
            }
        }
    }

    fn var(&mut self, name: &str, span: Span) -> Type {
        if let Some((_, kind)) = self.locals.iter().rev().find(|(local, _)| local == name) {
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
        let help = hint(name, names.iter().map(String::as_str));
        self.problem(
            Code::UnknownName,
            span,
            format!("unknown name `{name}`"),
            help,
        );
        Type::Any
    }

    fn field(&mut self, kind: &Type, name: &str, span: Span) -> Type {
        match kind {
            Type::Any => Type::Any,
            Type::Record(fields) => fields.get(name).cloned().unwrap_or_else(|| {
                let help = hint(name, fields.keys().map(String::as_str));
                self.problem(
                    Code::UnknownName,
                    span,
                    format!("unknown name `{name}`"),
                    help,
                );
                Type::Any
            }),
            other => {
                self.problem(
                    Code::UnknownName,
                    span,
                    format!("{other} has no `{name}`"),
                    None,
                );
                Type::Any
            }
        }
    }

    /// What a filter looks up in each item of a list: `name`, or `context.state`.
    fn attribute(&mut self, item: &Type, path: &str, span: Span) -> Type {
        // An item may hold what elsewhere has a name of its own: files, or a field.
        self.scope.used(path);
        if let Some((_, field)) = path.rsplit_once('.') {
            self.scope.used(field);
        }
        path.split('.')
            .fold(item.clone(), |kind, name| self.field(&kind, name, span))
    }

    fn item(&mut self, get: &ast::Spanned<ast::GetItem<'_>>) -> Type {
        let kind = self.expr(&get.expr);
        let key = self.expr(&get.subscript_expr);
        match (&kind, get.subscript_expr.as_const()) {
            (Type::Record(_), Some(name)) => self.field(&kind, &name.to_string(), get.span()),
            (Type::List(item), _) if matches!(key, Type::Integer | Type::Any) => (**item).clone(),
            (Type::Any, _) => Type::Any,
            _ => {
                self.problem(
                    Code::WrongOperand,
                    get.span(),
                    format!("{kind} cannot be indexed by {key}"),
                    None,
                );
                Type::Any
            }
        }
    }

    fn list(&mut self, items: &[Expr<'_>]) -> Type {
        let kinds: Vec<Type> = items.iter().map(|item| self.expr(item)).collect();
        Type::list(
            kinds
                .iter()
                .skip(1)
                .fold(kinds.first().cloned().unwrap_or(Type::Any), |all, kind| {
                    all.join(kind)
                }),
        )
    }

    fn integer(&mut self, expr: &Expr<'_>) -> Type {
        let kind = self.expr(expr);
        if !matches!(kind, Type::Integer | Type::Any) {
            self.problem(
                Code::WrongOperand,
                expr.span(),
                format!("expected an integer, but this is {kind}"),
                None,
            );
        }
        Type::Integer
    }

    fn binary(&mut self, op: &ast::Spanned<ast::BinOp<'_>>) -> Type {
        let compared = match op.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                let (left, right) = (self.is_condition(&op.left), self.is_condition(&op.right));
                // Of a list and a boolean either may come out: a condition all the same.
                return if left == right { left } else { Type::Boolean };
            }
            BinOpKind::Concat => {
                for side in [&op.left, &op.right] {
                    let kind = self.expr(side);
                    if matches!(kind.some(), Type::List(_) | Type::Record(_)) {
                        self.problem(
                            Code::WrongOperand,
                            side.span(),
                            format!("expected a text, but this is {kind}"),
                            None,
                        );
                    }
                }
                return Type::Text;
            }
            BinOpKind::Eq => CompareOpKind::Eq,
            BinOpKind::Ne => CompareOpKind::Ne,
            BinOpKind::Lt => CompareOpKind::Lt,
            BinOpKind::Lte => CompareOpKind::Lte,
            BinOpKind::Gt => CompareOpKind::Gt,
            BinOpKind::Gte => CompareOpKind::Gte,
            BinOpKind::In => CompareOpKind::In,
            BinOpKind::Add
            | BinOpKind::Sub
            | BinOpKind::Mul
            | BinOpKind::Div
            | BinOpKind::FloorDiv
            | BinOpKind::Rem
            | BinOpKind::Pow => {
                self.integer(&op.left);
                return self.integer(&op.right);
            }
        };
        let (left, right) = (self.expr(&op.left), self.expr(&op.right));
        self.compare(compared, (&op.left, &left), (&op.right, &right));
        Type::Boolean
    }

    fn compare(&mut self, op: CompareOpKind, left: (&Expr<'_>, &Type), right: (&Expr<'_>, &Type)) {
        let ((left_expr, left), (right_expr, right)) = (left, right);
        match op {
            CompareOpKind::Eq | CompareOpKind::Ne => {
                if !left.can_equal(right) {
                    self.never_equal((left_expr, left), (right_expr, right));
                }
            }
            CompareOpKind::Lt | CompareOpKind::Lte | CompareOpKind::Gt | CompareOpKind::Gte => {
                for (expr, kind) in [(left_expr, left), (right_expr, right)] {
                    if !matches!(kind, Type::Integer | Type::Any) {
                        self.problem(
                            Code::WrongOperand,
                            expr.span(),
                            format!("only integers can be ordered, but this is {kind}"),
                            None,
                        );
                    }
                }
            }
            CompareOpKind::In | CompareOpKind::NotIn => match right {
                Type::List(item) => {
                    if let (Expr::List(list), Type::Word(_) | Type::Optional(_)) =
                        (right_expr, left)
                    {
                        for item in &list.items {
                            let kind = self.quietly(item);
                            if !left.can_equal(&kind) {
                                self.never_equal((left_expr, left), (item, &kind));
                            }
                        }
                    } else if !item.can_equal(left) {
                        let (list, what) = (self.quoted(right_expr), self.quoted(left_expr));
                        let message = format!(
                            "`{what}` is never in `{list}`: an item is {item}, but this is {left}"
                        );
                        self.problem(
                            Code::UnlikeTypes,
                            left_expr.span(),
                            message,
                            unlike_help(left, item),
                        );
                    }
                }
                kind if kind.is_text() => {
                    if !left.is_text() {
                        self.problem(
                            Code::WrongOperand,
                            left_expr.span(),
                            format!("only a text can be in a text, but this is {left}"),
                            None,
                        );
                    }
                }
                other => self.problem(
                    Code::WrongOperand,
                    right_expr.span(),
                    format!("expected a list, but this is {other}"),
                    None,
                ),
            },
        }
    }

    /// Two that differ in every world: "`next_phase` is never 'complet'".
    fn never_equal(&mut self, left: (&Expr<'_>, &Type), right: (&Expr<'_>, &Type)) {
        let ((name, kind), (literal, given)) = if left.0.as_const().is_some() {
            (right, left)
        } else {
            (left, right)
        };
        let (name, value) = (self.quoted(name), self.quoted(literal));
        let message = match literal.as_const() {
            Some(_) => format!("`{name}` is never {value}"),
            None => format!("`{name}` is never `{value}`"),
        };
        let help = unlike_help(kind, given).or_else(|| match literal.as_const() {
            Some(_) => Some(format!("`{name}` is {kind}")),
            None => Some(format!("`{name}` is {kind}, and `{value}` is {given}")),
        });
        self.problem(Code::UnlikeTypes, literal.span(), message, help);
    }

    fn args(&mut self, args: &[CallArg<'_>]) {
        for arg in args {
            match arg {
                CallArg::Pos(expr)
                | CallArg::Kwarg(_, expr)
                | CallArg::PosSplat(expr)
                | CallArg::KwargSplat(expr) => {
                    self.expr(expr);
                }
            }
        }
    }

    fn filter(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) -> Type {
        self.args(&filter.args);
        let Some(input_expr) = &filter.expr else {
            return Type::Any;
        };
        let input = self.expr(input_expr);
        let span = input_expr.span();
        let first = filter.args.iter().find_map(|arg| match arg {
            CallArg::Pos(expr) => expr.as_const().map(|value| value.to_string()),
            _ => None,
        });
        match filter.name {
            "length" | "count" => {
                if !matches!(input, Type::Any | Type::List(_)) && !input.is_text() {
                    self.problem(
                        Code::WrongOperand,
                        span,
                        format!("{input} has no length"),
                        None,
                    );
                }
                Type::Integer
            }
            "join" | "brief" => {
                self.item_of(&input, span);
                Type::Text
            }
            "list" | "set" | "sort" | "reverse" | "unique" | "select" | "reject" => {
                Type::list(self.item_of(&input, span))
            }
            "selectattr" | "rejectattr" => {
                let item = self.item_of(&input, span);
                if let Some(path) = first {
                    self.attribute(&item, &path, filter.span());
                }
                Type::list(item)
            }
            "map" => {
                let item = self.item_of(&input, span);
                let attribute = filter.args.iter().find_map(|arg| match arg {
                    CallArg::Kwarg("attribute", expr) => {
                        expr.as_const().map(|value| value.to_string())
                    }
                    _ => None,
                });
                Type::list(attribute.map_or(Type::Any, |path| {
                    self.attribute(&item, &path, filter.span())
                }))
            }
            "flatten" => {
                let list = self.item_of(&input, span);
                Type::list(self.item_of(&list, span))
            }
            "first" | "last" => self.item_of(&input, span),
            "trim" | "upper" | "lower" | "title" | "capitalize" | "replace" | "indent"
            | "string" => Type::Text,
            "split" | "lines" => Type::list(Type::Text),
            "int" | "abs" => Type::Integer,
            "default" | "d" => Type::Any,
            unknown => {
                let help = hint(unknown, names(FILTERS));
                self.problem(
                    Code::UnknownFilter,
                    filter.span(),
                    format!("unknown filter `{unknown}`"),
                    help,
                );
                Type::Any
            }
        }
    }
}

/// A suggestion where a literal is compared with a known set of words.
fn unlike_help(a: &Type, b: &Type) -> Option<String> {
    let (Type::Word(a), Type::Word(b)) = (a.some(), b.some()) else {
        return None;
    };
    let (literal, words) = if b.len() == 1 { (b, a) } else { (a, b) };
    let literal = literal.iter().next()?;
    suggest(literal, words.iter().map(String::as_str)).map(|word| format!("did you mean '{word}'?"))
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

/// The literal start, the expression in the middle, and the literal end of `'a' ~ x ~ 'b'`.
fn ends<'e, 'a>(expr: &'e Expr<'a>) -> (String, Option<&'e Expr<'a>>, String) {
    let literal = |expr: &Expr<'_>| expr.as_const().map(|value| value.to_string());
    if let Expr::BinOp(op) = expr
        && matches!(op.op, BinOpKind::Concat)
    {
        if let Some(end) = literal(&op.right) {
            let (start, middle, rest) = ends(&op.left);
            return (start, middle, format!("{rest}{end}"));
        }
        if let Some(start) = literal(&op.left) {
            let (rest, middle, end) = ends(&op.right);
            return (format!("{start}{rest}"), middle, end);
        }
    }
    (String::new(), Some(expr), String::new())
}
